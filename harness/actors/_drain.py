"""A stream that nobody wants any more is read on for a while: its counts come last, and it is paid for in any case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["DRAIN_BYTES", "DRAIN_S", "Drain"]

#: Longest time that a cancelled stream is read on, in seconds.
DRAIN_S: Final = 20.0
#: Most bytes of it that are read then.
DRAIN_BYTES: Final = 4 * 1024 * 1024


class Drain:
    """One stream. Its ``cancelled`` says later than the caller's that nobody wants it: when it was read on enough.

    ``monotonic`` gives seconds. What ``is_over`` says of the pieces is said all the same.
    """

    def __init__(
        self,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool],
        monotonic: Callable[[], float],
        *,
        seconds: float = DRAIN_S,
        most: int = DRAIN_BYTES,
    ) -> None:
        self._cancelled, self._is_over, self._monotonic = cancelled, is_over, monotonic
        self._seconds, self._left = seconds, most
        self._since: float | None = None
        self._has_begun = False

    def cancelled(self) -> bool:
        """Whether the stream is to be closed now.

        One of which nothing has come is closed at once: it may not even be sent yet.
        """
        if self._since is None and self._cancelled():
            self._since = self._monotonic()
        if self._since is None:
            return False
        return not self._has_begun or self._left < 0 or self._monotonic() - self._since >= self._seconds

    def is_over(self, piece: bytes) -> bool:
        """Whether the stream's last event has come."""
        self._has_begun = True
        if self._since is not None:
            self._left -= len(piece)
        return self._is_over(piece)
