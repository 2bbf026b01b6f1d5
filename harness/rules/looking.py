"""Looking into a packet: pointers with a step that stands for every element, conditions, what is empty."""

from __future__ import annotations

from harness.rules.expecting import Miss, examine
from harness.schema.base import JsonValue
from harness.schema.packet import EACH, Conditions
from harness.schema.pointer import MISSING, Missing, pointer
from harness.schema.rules import Expectation

__all__ = ["fits", "is_filled", "look", "misses"]


def look(document: JsonValue, at: str) -> JsonValue | Missing:
    """The value at ``at``, or ``MISSING``.

    A step ``*`` stands for every element of an array: then it is the array of what they have there, of those that have
    something; ``MISSING`` where no array is.
    """
    head, each, rest = at.partition(EACH)
    if not each or rest[:1] not in {"", "/"}:
        return pointer(document, at)
    found = pointer(document, head)
    if not isinstance(found, list):
        return MISSING
    seen = [look(item, rest) for item in found]
    return [item for item in seen if item is not MISSING]


def misses(document: JsonValue, at: str, expectation: Expectation) -> tuple[Miss, ...]:
    """Everything in which what is at ``at`` misses the expectation."""
    if EACH not in at:
        return examine(document, at, expectation)
    found = look(document, at)
    return examine({} if found is MISSING else {"at": found}, "/at", expectation)


def fits(document: JsonValue, conditions: Conditions) -> bool:
    """Whether all conditions hold; none always do."""
    return not any(misses(document, at, expectation) for at, expectation in conditions.items())


def is_filled(value: JsonValue | Missing) -> bool:
    """Whether something is there that is not null, false, zero or empty."""
    return value is not MISSING and bool(value)
