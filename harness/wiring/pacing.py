"""How fast each provider is asked: one pace a provider, for all episodes, whatever thread or process plays them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from harness import catalog
from harness.config import CONCURRENCY_MAX
from harness.errors import ProviderError
from harness.meter import Pace, Visitor
from harness.ports import Clock, Hearing
from harness.ports import Pace as Turns
from harness.schema.actor import ActorIdentity
from harness.schema.counting import counted
from harness.suite import answerer

__all__ = ["CallEnd", "Heard", "Pacer", "Paces", "end_of"]

#: The refusals that ask for fewer calls; a quota that is used up is not over in a while.
_SLOWER: Final = frozenset({"rate_limited", "overloaded"})


class Pacer(Protocol):
    """How fast providers are asked by all episodes of a run: in this process, or where another one holds it."""

    def visitor(self, identity: ActorIdentity) -> Turns | None:
        """For one episode; None for scripts and recordings."""

    def hearing(self, identity: ActorIdentity) -> Hearing | None:
        """For the live actor of one episode; None for scripts and recordings."""


class CallEnd(NamedTuple):
    """What the end of a call means for a pace.

    An answer, with how many more calls the provider takes for now where it tells; or a refusal for a limit, in a
    ``word``, with the seconds for which it wants to be left alone.
    """

    begun: int
    left: int | None = None
    word: str | None = None
    retry_after_s: float | None = None

    def tell(self, pace: Pace) -> None:
        """It counts for that pace from now on."""
        if self.word is None:
            pace.answer(self.left)
        else:
            pace.refuse(self.begun, self.word, self.retry_after_s)


def end_of(begun: int, headers: Mapping[str, str], failure: ProviderError | None) -> CallEnd | None:
    """None for what is neither an answer nor a refusal for a limit: it says nothing of the pace."""
    if failure is None:
        return CallEnd(begun, left=catalog.shared("providers", "retry_after").calls_left(headers))
    if failure.category not in _SLOWER:
        return None
    return CallEnd(begun, word=str(failure.http_status or failure.category), retry_after_s=failure.retry_after_s)


class Paces:
    """Safe to use from any thread."""

    def __init__(
        self, clock: Clock, concurrency: Mapping[str, int] | None = None, *, at_once: int = CONCURRENCY_MAX
    ) -> None:
        """``concurrency``: how many episodes of a provider run at once, by its name; ``at_once`` bounds all of them."""
        self._clock, self._concurrency, self._at_once = clock, concurrency or {}, at_once
        self._lock = threading.Lock()
        self._paces: dict[str, Pace] = {}

    def of(self, provider: str) -> Pace:
        """The one of a provider."""
        with self._lock:
            if provider not in self._paces:
                ceiling = min(self._concurrency.get(provider, self._at_once), self._at_once)
                self._paces[provider] = Pace(ceiling, self._clock.monotonic, _jitter)
            return self._paces[provider]

    def visitor(self, identity: ActorIdentity) -> Visitor | None:
        """For one episode; None for scripts and recordings."""
        name = answerer(identity)
        return None if name is None else Visitor(self.of(name))

    def hearing(self, identity: ActorIdentity) -> Heard | None:
        """For the live actor of one episode; None for scripts and recordings."""
        name = answerer(identity)
        return None if name is None else Heard(self.of(name))

    def at_most(self, provider: str) -> int:
        """How many episodes of it may run at once, from 1."""
        return self.of(provider).at_once

    def closed_s(self, provider: str) -> float:
        """For how many seconds it wants to be left alone, from now; 0: it may be asked."""
        return self.of(provider).closed_s

    @property
    def told(self) -> str:
        """Who is asked more slowly now than it might be, and why; nothing where nobody is."""
        slowed = [(name, pace) for name, pace in self._known() if pace.at_once < pace.ceiling]
        return "; ".join(
            f"provider {name}: {pace.at_once} of {pace.ceiling} at once"
            + (f" after {pace.word}" if pace.word is not None else "")
            for name, pace in slowed
        )

    @property
    def ended(self) -> tuple[str, ...]:
        """A line for each provider that refused calls for its limits."""
        return tuple(
            f"provider {name} refused {counted(pace.refused, 'call')} for its limits, so as few as {pace.least} of "
            f"{pace.ceiling} ran at once; concurrency in [providers.{name}] of harness.toml bounds it from the start"
            for name, pace in self._known()
            if pace.refused
        )

    def _known(self) -> list[tuple[str, Pace]]:
        with self._lock:
            return sorted(self._paces.items())


def _jitter() -> float:
    from harness.episode.retrying import jitter  # noqa: PLC0415  (no help page has to wait for what plays episodes)

    return jitter()


class Heard:
    """Tells a pace what the answers of its provider mean for it."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    def begun(self) -> int:
        """A call begins."""
        return self._pace.begun()

    def ended(self, begun: int, headers: Mapping[str, str], failure: ProviderError | None) -> None:
        """A call ended."""
        end = end_of(begun, headers, failure)
        if end is not None:
            end.tell(self._pace)
