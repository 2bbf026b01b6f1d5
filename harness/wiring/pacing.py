"""How fast each provider is asked in this process: one pace a provider, for all episodes and threads."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from harness import catalog
from harness.config import CONCURRENCY_MAX
from harness.errors import ProviderError
from harness.meter import Pace, Visitor
from harness.ports import Clock
from harness.schema.actor import ActorIdentity
from harness.schema.counting import counted
from harness.suite import answerer

__all__ = ["Heard", "Paces"]

#: The refusals that ask for fewer calls; a quota that is used up is not over in a while.
_SLOWER: Final = frozenset({"rate_limited", "overloaded"})


class Paces:
    """Safe to use from any thread. Other processes have paces of their own."""

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
        """A call ended; what is neither an answer nor a refusal for a limit says nothing of the pace."""
        if failure is None:
            left: int | None = catalog.shared("providers", "retry_after").calls_left(headers)
            self._pace.answer(left)
        elif failure.category in _SLOWER:
            self._pace.refuse(begun, str(failure.http_status or failure.category), failure.retry_after_s)
