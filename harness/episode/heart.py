"""Keeps the leases of this process renewed while their drivers wait for a model or a tool."""

from __future__ import annotations

import threading

from harness.journal import Lease
from harness.journal.lease import BEAT_S

__all__ = ["HEART", "Heart"]


class Heart:
    """One thread for all leases, while there are any; it ends with the last one. Safe to use from any thread."""

    def __init__(self, beat_s: float = BEAT_S) -> None:
        self._beat_s = beat_s
        self._leases: set[Lease] = set()
        self._changed = threading.Condition()
        self._beats = False

    def keep(self, lease: Lease) -> None:
        """Renew this lease from now on, every ``beat_s`` seconds."""
        with self._changed:
            self._leases.add(lease)
            if not self._beats:
                self._beats = True
                threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def drop(self, lease: Lease) -> None:
        """No longer; idempotent. One that is renewed at this moment is left alone once that is over."""
        with self._changed:
            self._leases.discard(lease)
            self._changed.notify()

    def _beat(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._leases, self._beat_s)
                if not self._leases:
                    self._beats = False
                    return
                for lease in self._leases:
                    lease.beat()


#: That of this process.
HEART = Heart()
