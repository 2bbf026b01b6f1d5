"""One thread that looks after everything that waits: calls in flight, and those who wait for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

__all__ = ["POLL_S", "WATCHER", "Look", "Watched", "Watcher"]

#: The longest time between two looks, in seconds: what is seen later than it happened is so by less than this.
POLL_S: Final = 0.05
#: How long the thread stays without anything to look after, in seconds.
LINGER_S: Final = 5.0

#: Looks once; returns the seconds in which it wants to look again at the latest. It neither blocks nor raises.
Look = Callable[[], float]

_log = logging.getLogger(__name__)


class Watched:
    """Something that is looked after until ``end``."""

    def __init__(self, look: Look) -> None:
        self._look: Look | None = look
        self._lock = threading.Lock()

    def look(self) -> float:
        """Look, unless it ended; the seconds until the next look."""
        with self._lock:
            if self._look is None:
                return POLL_S
            try:
                return min(POLL_S, self._look())
            except Exception as error:  # noqa: BLE001  (one look's bug does not end the others)
                _log.warning("what was looked after is not any more: it raised %s", type(error).__name__)
                self._look = None
                return POLL_S

    def end(self) -> None:
        """It is not looked at any more once this returns; idempotent. Not to be called by its own look."""
        with self._lock:
            self._look = None

    @property
    def has_ended(self) -> bool:
        """Whether it is not looked at any more."""
        return self._look is None


class Watcher:
    """Has a thread while there is something to look after. Safe to use from any thread.

    A thread for each call would wake twenty times a second for each, and wait for the interpreter each time.
    """

    def __init__(self, linger_s: float = LINGER_S) -> None:
        self._linger_s = linger_s
        self._lock = threading.Lock()
        self._new: list[Watched] = []
        self._runs = False
        self._sleeps_s = 0.0
        self._wake = threading.Event()

    def watch(self, look: Look, *, within_s: float = POLL_S) -> Watched:
        """Look again and again, for the first time within so many seconds, and within ``POLL_S``.

        Raises RuntimeError: no thread is free.
        """
        watched = Watched(look)
        with self._lock:
            self._new.append(watched)
            if not self._runs:
                self._runs = True
                try:
                    threading.Thread(target=self._run, name="watcher", daemon=True).start()
                except RuntimeError:
                    self._runs = False
                    self._new.remove(watched)
                    raise
            elif min(within_s, POLL_S) < self._sleeps_s:
                self._wake.set()
        return watched

    def _run(self) -> None:
        watched: list[Watched] = []
        pause_s = 0.0
        while True:
            is_woken = self._wake.wait(pause_s)
            with self._lock:
                self._wake.clear()
                watched = [one for one in (*watched, *self._new) if not one.has_ended]
                self._new.clear()
                if not watched and not is_woken and pause_s >= self._linger_s:
                    self._runs = False
                    return
            pause_s = max(0.0, min((one.look() for one in watched), default=self._linger_s))
            with self._lock:
                # what came meanwhile is looked at first, and whoever comes later knows how long this sleeps
                pause_s = 0.0 if self._new else pause_s
                self._sleeps_s = pause_s


#: That of this process.
WATCHER: Final = Watcher()
