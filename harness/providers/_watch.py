"""Ends a blocking network call when its time is up or nobody wants it any more."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

from harness.ports import Clock
from harness.watching import POLL_S, WATCHER, Watched

__all__ = ["POLL_S", "Watch"]


class Watch:
    """A context in which ``interrupt`` is called at the deadline or on cancellation, until the context is left.

    It is called again and again, since what it interrupts may begin at any moment. ``reason`` tells afterwards which
    of both it was, None for neither. ``cancelled`` must not raise.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        deadline_s: float,
        cancelled: Callable[[], bool],
        interrupt: Callable[[], None],
    ) -> None:
        self._clock, self._cancelled, self._interrupt = clock, cancelled, interrupt
        self._end = clock.monotonic() + deadline_s
        self._deadline_s = deadline_s
        self._watched: Watched | None = None
        self.reason: Literal["deadline", "cancelled"] | None = None

    def __enter__(self) -> Self:
        self._watched = WATCHER.watch(self._look, within_s=self._deadline_s)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watched is not None:
            self._watched.end()

    def _look(self) -> float:
        left = self._end - self._clock.monotonic()
        if self.reason is None and self._cancelled():
            self.reason = "cancelled"
        elif self.reason is None and left <= 0:
            self.reason = "deadline"
        if self.reason is not None:
            self._interrupt()
            return POLL_S
        return left
