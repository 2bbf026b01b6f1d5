"""Time for the loop, the system's and one that tests move by hand; and names made of time."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime, timedelta

__all__ = ["FakeClock", "SystemClock", "new_run_id", "new_token"]


class SystemClock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Seconds on the monotonic clock."""
        return time.monotonic()

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)


class FakeClock:
    """A clock that stands still until ``advance`` is called."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0

    def monotonic(self) -> float:
        """Seconds since it was made."""
        return self._elapsed

    def now(self) -> datetime:
        """Its start plus what was advanced."""
        return self._start + timedelta(seconds=self._elapsed)

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._elapsed += seconds


def new_run_id(moment: datetime) -> str:
    """UTC time and four hexadecimal digits: sorts by time, and two runs of one second differ."""
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


def new_token() -> str:
    """32 hexadecimal digits that nobody else has."""
    return secrets.token_hex(16)
