"""Chance that depends on who asks and never on when: every draw is a keyed hash."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Final

from harness.schema.base import canonical_json
from harness.schema.rehearsal import FaultSpec, Visit

__all__ = ["Draws"]

#: The step between neighbours: a float below 1 has 53 bits of its own.
_STEP: Final = 2.0**-53
#: Longest of the small pieces of an answer, in bytes; a long answer has about so many pieces and longer ones.
_PIECE, _PIECES = 24, 512
#: A byte of a UTF-8 character that is not its first.
_INSIDE: Final = re.compile(rb"[\x80-\xbf]")
_DATA: Final = b"data:"


class Draws:
    """Uniform numbers of one seed; ``apart`` gives other numbers to whoever has another text."""

    def __init__(self, seed: int, apart: str = "") -> None:
        key = canonical_json([seed, apart]).encode("utf-8", "surrogatepass")
        # copied for each draw: the key is worked in once, and OpenSSL looks its algorithm up by name but once
        self._keyed = hmac.new(key, digestmod=sha256)

    def uniform(self, purpose: str, *parts: str | int) -> float:
        """A number in [0, 1): the same for the same seed, purpose and parts, independent for any others."""
        message = canonical_json([purpose, *parts]).encode("utf-8", "surrogatepass")
        keyed = self._keyed.copy()
        keyed.update(message)
        return (int.from_bytes(keyed.digest()[:8], "big") >> 11) * _STEP

    def choice(self, weights: Sequence[float], visit: Visit) -> int:
        """Which of several weighted policies plays this trial: the same at each turn and attempt of it."""
        if len(weights) == 1:
            return 0
        point = self.uniform("policy", visit.scenario, visit.trial) * sum(weights)
        reached = 0.0
        for index, weight in enumerate(weights):
            reached += weight
            if point < reached:
                return index
        return len(weights) - 1

    def latency_ms(self, bounds: tuple[float, float], visit: Visit) -> float:
        """Milliseconds, uniform between two bounds."""
        low, high = bounds
        return low if low == high else low + (high - low) * self._of("latency", visit)

    def fault(self, faults: Sequence[FaultSpec], visit: Visit) -> FaultSpec | None:
        """What goes wrong with this attempt: at most one thing.

        A fault that names this turn comes first. The others share one draw, so that each has exactly its rate.
        """
        for fault in faults:
            if fault.at_turn == visit.turn and visit.attempt + visit.again <= fault.attempts:
                return fault
        rated = [(fault, fault.rate) for fault in faults if fault.rate is not None]
        point = self._of("fault", visit) if rated else 1.0
        for fault, rate in rated:
            if point < rate:
                return fault
            point -= rate
        return None

    def pieces(self, data: bytes, visit: Visit) -> tuple[bytes, ...]:
        """The data in small pieces: cut anywhere, and surely in a ``data:`` and in a character of several bytes."""
        longest = max(_PIECE, 2 * len(data) // _PIECES)
        cuts, at = {0, len(data)}, 0
        while at < len(data):
            cuts.add(at)
            at += 1 + int(self._of("piece", visit, at) * longest)
        character = _INSIDE.search(data)
        if character is not None:
            cuts.add(character.start())
        if _DATA in data:
            cuts.add(data.index(_DATA) + 2)
        places = sorted(cuts)
        return tuple(data[start:end] for start, end in pairwise(places))

    def _of(self, purpose: str, visit: Visit, *more: int) -> float:
        again = (visit.again,) if visit.again or more else ()
        return self.uniform(purpose, visit.scenario, visit.trial, visit.turn, visit.attempt, *again, *more)
