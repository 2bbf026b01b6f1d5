"""Threads on which model calls are made: one that has made its call makes the next one, of whichever episode."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

__all__ = ["CALLERS", "Callers"]

#: How long a thread stays without a call, in seconds.
LINGER_S: Final = 1.0


class Callers:
    """As many threads as there are calls at once. Safe to use from any thread."""

    def __init__(self, linger_s: float = LINGER_S) -> None:
        self._linger_s = linger_s
        self._lock = threading.Lock()
        self._idle: list[_Caller] = []

    def call(self, call: Callable[[], None]) -> None:
        """Have the call made at once, on a thread that makes no other; it raises nothing.

        Raises RuntimeError: no thread can be had.
        """
        with self._lock:
            caller = self._idle.pop() if self._idle else None
        if caller is None:
            caller = _Caller(self)
            caller.start()
        caller.calls.put(call)

    def is_idle(self, caller: _Caller) -> None:
        """It has made its call."""
        with self._lock:
            self._idle.append(caller)

    def may_end(self, caller: _Caller) -> bool:
        """Whether nobody has a call for it; nobody will have one, then."""
        with self._lock:
            if caller not in self._idle:
                return False
            self._idle.remove(caller)
            return True

    @property
    def linger_s(self) -> float:
        """How long a thread stays without a call, in seconds."""
        return self._linger_s


class _Caller(threading.Thread):
    def __init__(self, callers: Callers) -> None:
        super().__init__(name="model-call", daemon=True)
        self.calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._callers = callers

    def run(self) -> None:
        while True:
            try:
                call = self.calls.get(timeout=self._callers.linger_s)
            except Empty:
                if self._callers.may_end(self):
                    return
                continue
            call()
            del call  # what it holds is not kept until the next one
            self._callers.is_idle(self)


#: Those of this process.
CALLERS: Final = Callers()
