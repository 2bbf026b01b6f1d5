"""Cancellation that is never taken back, and the time that is left."""

from __future__ import annotations

from collections.abc import Callable

from harness.ports import Clock
from harness.schema.outcome import Outcome

__all__ = ["Bounds"]


class Bounds:
    """One episode's latch and deadline.

    The latch is monotonic: once a probe said yes it stays yes, whatever the shared flag does later. A probe that
    raises counts as "not cancelled" (runner specification T1). The deadline is ``deadline_s`` after construction.
    While ``asleep`` says yes neither is looked at: what is decided then was decided before.
    """

    def __init__(
        self, probe: Callable[[], bool], clock: Clock, deadline_s: float, asleep: Callable[[], bool] = lambda: False
    ) -> None:
        self._probe = probe
        self._asleep = asleep
        self._clock = clock
        self._ends = clock.monotonic() + deadline_s
        self._latched = False

    def cancelled(self) -> bool:
        """Whether cancellation was ever seen."""
        if not self._latched and not self._asleep():
            try:
                self._latched = bool(self._probe())
            except Exception:  # noqa: BLE001  (a failing probe is no cancellation: runner specification T1)
                return False
        return self._latched

    @property
    def latched(self) -> bool:
        """Whether cancellation was seen by anybody so far; asks nobody."""
        return self._latched

    def left(self) -> float:
        """Seconds until the deadline, negative once it has passed."""
        return self._ends - self._clock.monotonic()

    def cancellation(self) -> Outcome | None:
        """The ending that a cancellation means, if there is one."""
        if self.cancelled():
            return Outcome(status="cancelled", reason="cancellation_requested")
        return None

    def passed(self, *, after: bool = False) -> Outcome | None:
        """The ending that a passed deadline means; ``after`` an operation its last moment is still in time."""
        left = self.left()
        if (left < 0 if after else left <= 0) and not self._asleep():
            return Outcome(status="limit_exceeded", reason="duration", detail="deadline")
        return None
