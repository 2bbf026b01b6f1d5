"""Ends a blocking network call when its time is up or nobody wants it any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

from harness.ports import Clock

__all__ = ["POLL_S", "Watch"]

#: How long a cancellation may go unnoticed, in seconds.
POLL_S = 0.05


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
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="harness-network-watch", daemon=True)
        self.reason: Literal["deadline", "cancelled"] | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(max(0.0, min(POLL_S, self._end - self._clock.monotonic()))):
            if self.reason is None and self._cancelled():
                self.reason = "cancelled"
            elif self.reason is None and self._clock.monotonic() >= self._end:
                self.reason = "deadline"
            if self.reason is not None:
                self._interrupt()
                self._done.wait(POLL_S)
