"""Calls that were given up and have not ended yet: how many there may be."""

from __future__ import annotations

from collections import Counter
from threading import Condition

__all__ = ["DETACHED", "DetachedCalls", "Slot"]

#: How many there may be in one process, and how many of one episode (runner specification T12).
PROCESS_MAX, SCOPE_MAX = 128, 4


class Slot:
    """The place of one call among them, until it is released; releasing it again changes nothing."""

    def __init__(self, calls: DetachedCalls, scope: str) -> None:
        self._calls, self._scope = calls, scope

    def release(self) -> None:
        """The call has ended."""
        self._calls._gone(self, self._scope)  # noqa: SLF001  (one mechanism in two classes)


class DetachedCalls:
    """Counts them; its methods may be called from any thread. A call that somebody waits for is never counted."""

    def __init__(self, *, process: int = PROCESS_MAX, scope: int = SCOPE_MAX) -> None:
        self._process, self._scope = process, scope
        self._changed = Condition()
        self._slots: set[Slot] = set()
        self._by_scope: Counter[str] = Counter()

    def __len__(self) -> int:
        """How many there are now."""
        return len(self._slots)

    def excess(self, scope: str) -> tuple[int, int] | None:
        """Why no new call may be made in ``scope``: the limit that is reached, and how many there are; None: it may."""
        with self._changed:
            if len(self._slots) >= self._process:
                return self._process, len(self._slots)
            if self._by_scope[scope] >= self._scope:
                return self._scope, self._by_scope[scope]
            return None

    def take(self, scope: str) -> Slot:
        """A slot for a call that is given up now. There is always one: what is in flight cannot be refused."""
        slot = Slot(self, scope)
        with self._changed:
            self._slots.add(slot)
            self._by_scope[scope] += 1
        return slot

    def _gone(self, slot: Slot, scope: str) -> None:
        with self._changed:
            if slot in self._slots:
                self._slots.remove(slot)
                self._by_scope[scope] -= 1
                self._by_scope += Counter()  # scopes without any are forgotten
                self._changed.notify_all()

    def settle(self, timeout_s: float) -> bool:
        """Wait until every call that was given up has ended; False where ``timeout_s`` seconds were over before."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._slots, timeout_s)


#: The one of this process, for episodes that are not given another.
DETACHED = DetachedCalls()
