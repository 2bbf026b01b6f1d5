"""What must hold of a packet before anybody is asked about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.rules.looking import fits, is_filled, look, misses
from harness.schema.base import JsonValue
from harness.schema.finding import RawFinding
from harness.schema.packet import Invariant, PacketSpec
from harness.schema.pointer import MISSING, Missing

__all__ = ["COUNT", "THERE", "broken"]

#: How findings say what was wanted.
THERE: Final = "there and not empty"
COUNT: Final = "a whole number from 0 on"


def broken(spec: PacketSpec, packet: JsonValue) -> tuple[RawFinding, ...]:
    """Everything in which a packet breaks its invariants, in file order; none where it is sound."""
    return tuple(found for one in spec.must if fits(packet, one.when) for found in _broken(one, packet))


def _broken(one: Invariant, packet: JsonValue) -> Iterator[RawFinding]:
    for at, expectation in one.holds.items():
        for miss in misses(packet, at, expectation):
            yield _finding(one, at, miss.expected, miss.got)
    for at in one.there:
        value = look(packet, at)
        if not is_filled(value):
            yield _finding(one, at, THERE, value)
    for at in one.counts:
        value = look(packet, at)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield _finding(one, at, COUNT, value)


def _finding(one: Invariant, at: str, expected: JsonValue, got: JsonValue | Missing) -> RawFinding:
    return RawFinding(
        code=one.code,
        check="packet",
        pointer=at,
        expected=expected,
        got=None if got is MISSING else got,
        missing=got is MISSING,
    )
