"""Time at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.ports import Clock

__all__ = ["Stopwatch"]


class Stopwatch:
    """Time at work since the last look, on the monotonic clock; what lies inside ``idle`` is none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.monotonic()

    def lap_ms(self) -> int:
        """Whole milliseconds since the last look; what is less than one counts with the next."""
        passed = int((self._clock.monotonic() - self._since) * 1000)
        self._since += passed / 1000
        return passed

    def restart(self) -> None:
        """What passed so far is told elsewhere."""
        self._since = self._clock.monotonic()

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Nobody is at work: a queue, a person's answer."""
        began = self._clock.monotonic()
        try:
            yield
        finally:
            self._since += self._clock.monotonic() - began
