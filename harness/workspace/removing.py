"""Workspaces that nobody needs any more are removed beside the next episode: a disc lets one wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["Removals"]

#: Removals at a time, and how many may be under way or wait; one more is done by its owner.
THREADS, WAITING = 4, 8


class Removals:
    """Calls what it is given on threads of its own; safe to use from any thread."""

    def __init__(self, *, waiting: int = WAITING) -> None:
        self._room = threading.Semaphore(waiting)
        self._pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="removal")

    def hand_over(self, remove: Callable[[], None]) -> None:
        """Have ``remove``, which raises nothing, called soon; here and now where too many wait or it is closed."""
        if not self._room.acquire(blocking=False):
            remove()
            return
        first = threading.Lock()

        def once() -> None:
            if first.acquire(blocking=False):
                try:
                    remove()
                finally:
                    self._room.release()

        try:
            self._pool.submit(once)
        except RuntimeError:  # closed; or no thread can be had, and then it may have been taken all the same
            once()

    def close(self) -> None:
        """Wait until everything is removed; idempotent."""
        self._pool.shutdown()
