"""Cancellation that is never taken back, and the time that is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from harness.ports import Clock
from harness.schema.outcome import Outcome

__all__ = ["Bounds"]

_Why = Literal["cancellation_requested", "shutdown"]


def _never() -> bool:
    return False


class Bounds:
    """One episode's latch and deadline.

    The latch is monotonic: once a probe said yes it stays yes, whatever the shared flag does later. ``probe`` tells of
    a wish to cancel, ``shutdown`` of an end of the process; the first that is seen names the ending. A probe that
    raises, one whose source was closed included, counts as "not cancelled" (runner specification T1); ``trouble``
    tells of the first time. The deadline is ``deadline_s`` after construction. While ``asleep`` says yes none of it is
    looked at: what is decided then was decided before.
    """

    def __init__(
        self,
        probe: Callable[[], bool],
        clock: Clock,
        deadline_s: float,
        asleep: Callable[[], bool] = _never,
        shutdown: Callable[[], bool] = _never,
    ) -> None:
        self._probes: tuple[tuple[_Why, Callable[[], bool]], ...] = (
            ("shutdown", shutdown),
            ("cancellation_requested", probe),
        )
        self._asleep = asleep
        self._clock = clock
        self._ends = clock.monotonic() + deadline_s
        self._latched: _Why | None = None
        self.trouble: str | None = None

    def cancelled(self) -> bool:
        """Whether cancellation was ever seen."""
        if self._latched is None and not self._asleep():
            for why, probe in self._probes:
                try:
                    if probe():
                        self._latched = why
                        break
                except Exception as error:  # noqa: BLE001  (runner specification T1)
                    self._note(error)
        return self._latched is not None

    def _note(self, error: Exception) -> None:
        """A failing probe is no cancellation."""
        named = type(error).__name__
        self.trouble = self.trouble or f"whether to stop could not be asked ({named}); that is no cancellation"

    @property
    def latched(self) -> bool:
        """Whether cancellation was seen by anybody so far; asks nobody."""
        return self._latched is not None

    def left(self) -> float:
        """Seconds until the deadline, negative once it has passed."""
        return self._ends - self._clock.monotonic()

    def cancellation(self) -> Outcome | None:
        """The ending that a cancellation means, if there is one."""
        if not self.cancelled() or self._latched is None:
            return None
        return Outcome(status="cancelled", reason=self._latched)

    def passed(self, *, after: bool = False) -> Outcome | None:
        """The ending that a passed deadline means; ``after`` an operation its last moment is still in time."""
        if self.has_passed(after=after):
            return Outcome(status="limit_exceeded", reason="duration", detail="deadline")
        return None

    def has_passed(self, *, after: bool = False) -> bool:
        """Whether the deadline has passed; ``after`` an operation its last moment is still in time."""
        left = self._ends - self._clock.monotonic()
        return (left < 0 if after else left <= 0) and not self._asleep()
