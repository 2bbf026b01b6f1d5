"""Replies to calls that nobody waits for any more: their usage is accounted for, and nothing else comes of them."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable
from queue import Queue
from threading import Event, Lock, Thread

from harness.episode.detached import DETACHED
from harness.schema.message import Usage
from harness.schema.record import LateUsage

__all__ = ["LATE", "LateBook", "LateReplies", "settle"]

#: Hand-overs that wait at most; one more is refused.
WAITING_MAX = 1024
#: How long the end of the process waits for what was handed over, in seconds.
EXIT_S = 2.0

_log = logging.getLogger(__name__)


class LateReplies:
    """Accounts for late replies one after the other, in the order in which they came, on one daemon thread.

    Whatever the accounting raises is logged (by its kind only) and harms no other. The end of the process waits for it
    a bounded time.
    """

    def __init__(self, *, waiting: int = WAITING_MAX) -> None:
        self._queue: Queue[Callable[[], None]] = Queue(waiting)
        self._lock = Lock()
        self._worker: Thread | None = None

    def hand_over(self, account: Callable[[], None]) -> None:
        """Have ``account`` called soon. Raises queue.Full where too many wait."""
        with self._lock:
            if self._worker is None:
                self._worker = Thread(target=self._work, name="late-replies", daemon=True)
                self._worker.start()
                atexit.register(self.drain, EXIT_S)
        self._queue.put_nowait(account)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything that was handed over so far is accounted for; False where ``timeout_s`` was over."""
        if self._worker is None:
            return True
        done = Event()
        self._queue.put(done.set)
        return done.wait(timeout_s)

    def _work(self) -> None:
        while True:
            account = self._queue.get()
            try:
                account()
            except BaseException as error:  # noqa: BLE001  (whatever a sink raises, the next reply is accounted for)
                _log.warning("a late reply could not be accounted for: %s", type(error).__name__)


#: The one of this process, for episodes that are not given another.
LATE = LateReplies()


def settle(timeout_s: float = EXIT_S) -> None:
    """Before connections are closed: give calls that were given up a bounded time to bring what they were billed."""
    DETACHED.settle(timeout_s)
    LATE.drain(timeout_s)


class LateBook:
    """Where late usage of one episode goes; its methods may be called from any thread.

    While its driver has the episode the rows wait for ``take``; once it ``left``, they go to ``after``.
    """

    def __init__(self, after: Callable[[LateUsage], None] = lambda _: None) -> None:
        self._after = after
        self._lock = Lock()
        self._waiting: list[LateUsage] = []
        self._has_left = self._is_over = False

    def add(self, row: str, usage: Usage) -> None:
        """Account for one row."""
        late = LateUsage(row=row, usage=usage)
        with self._lock:
            if not self._has_left:
                self._waiting.append(late)
                return
        self._after(late)

    def take(self) -> tuple[LateUsage, ...]:
        """What waits for the journal, in order; it waits no longer."""
        with self._lock:
            taken, self._waiting = self._waiting, []
            return tuple(taken)

    def leave(self) -> None:
        """The driver is gone: what still waits, and what comes, is kept elsewhere."""
        with self._lock:
            self._has_left = True
            rest, self._waiting = self._waiting, []
        for late in rest:
            self._after(late)

    def keep_text(self, write: Callable[[], None]) -> None:
        """Have a reply's text written, unless the episode is over: then no text of it is kept any more."""
        with self._lock:
            if not self._is_over:
                write()

    def forget_texts(self) -> None:
        """The episode is over."""
        with self._lock:
            self._is_over = True
