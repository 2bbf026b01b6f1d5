"""Looking into a JSON value by pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

from harness.schema.base import JsonValue

__all__ = ["MISSING", "Missing", "pointer", "without"]


class Missing(Enum):
    """The type of ``MISSING``."""

    MISSING = "missing"


#: Nothing is there; not the same as JSON null.
MISSING: Final = Missing.MISSING


def pointer(value: JsonValue, at: str) -> JsonValue | Missing:
    """The value at ``at`` (``""`` is the whole, ``/a/0`` an element), or ``MISSING``; never raises.

    ``~1`` is a slash and ``~0`` a tilde in a key. An index has no sign and no leading zero; ``-`` names nothing.
    """
    if not at:
        return value
    if not at.startswith("/"):
        return MISSING
    for step in at[1:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _is_index(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return MISSING
    return value


def _is_index(key: str) -> bool:
    digits = key.isascii() and key.isdigit() and len(key) < 10  # noqa: PLR2004  (no array of ours has 10**9 elements)
    return digits and (key == "0" or not key.startswith("0"))


def without(value: JsonValue, places: Iterable[str]) -> JsonValue:
    """A copy of the value from which what stands at each pointer is taken out; the given value is not changed."""
    for at in places:
        if at.startswith("/"):
            value = _removed(value, [step.replace("~1", "/").replace("~0", "~") for step in at[1:].split("/")])
    return value


def _removed(value: JsonValue, steps: list[str]) -> JsonValue:
    key, rest = steps[0], steps[1:]
    if isinstance(value, dict) and key in value:
        if not rest:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _removed(value[key], rest)}
    if isinstance(value, list) and _is_index(key) and int(key) < len(value):
        index = int(key)
        kept = [] if not rest else [_removed(value[index], rest)]
        return [*value[:index], *kept, *value[index + 1 :]]
    return value
