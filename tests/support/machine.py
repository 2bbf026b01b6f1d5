"""What tests ask of the machine they run on: when a wait is a hang, and what a fixed piece of work takes on it."""

from __future__ import annotations

import hashlib
import json
import time

__all__ = ["PATIENCE_S", "SOON_S", "yardstick_s"]

#: Seconds after which what a test waits for is taken never to happen. It bounds a hang and measures nothing: a machine
#: a third as fast as another, that runs other tests beside, stays far below.
PATIENCE_S = 900.0
#: The same for a process that is killed and would end by itself after some minutes.
SOON_S = 30.0

_ENTRIES = 200
_ROUNDS = 60


def yardstick_s() -> float:
    """Seconds of a processor that one fixed piece of ordinary work takes here and now: about 0.25 on a desk machine.

    JSON read and written, sorted, digested and put into words, as receipts are. A bound of time is so many of it. The
    interpreter does most of the work, as it does in the program: JSON with an indent is written by Python itself.
    """
    document = json.dumps([{"id": f"t{n}", "at": [n, n * 7 % 13], "said": "word " * (n % 9)} for n in range(_ENTRIES)])
    begun = time.process_time()
    for _ in range(_ROUNDS):
        entries = sorted(json.loads(document), key=lambda entry: entry["at"][1])
        told = {entry["id"]: hashlib.sha256(json.dumps(entry, indent=1).encode()).hexdigest() for entry in entries}
        assert len("\n".join(f"{name} {digest}" for name, digest in told.items())) > _ENTRIES
    return time.process_time() - begun
