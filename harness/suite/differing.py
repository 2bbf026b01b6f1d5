"""Where two JSON values differ first."""

from __future__ import annotations

from harness.schema.base import JsonValue

__all__ = ["first_difference"]


def first_difference(one: JsonValue, other: JsonValue, at: str = "") -> str | None:
    """The pointer of the first difference, keys in order, ``""`` for the whole; None where both are the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            below = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in one or key not in other:
                return below
            found = first_difference(one[key], other[key], below)
            if found is not None:
                return found
        return None
    if isinstance(one, list) and isinstance(other, list):
        for index, (mine, others) in enumerate(zip(one, other, strict=False)):
            found = first_difference(mine, others, f"{at}/{index}")
            if found is not None:
                return found
        return None if len(one) == len(other) else f"{at}/{min(len(one), len(other))}"
    return None if type(one) is type(other) and one == other else at
