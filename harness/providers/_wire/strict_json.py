"""Reading JSON that somebody else wrote: bounded, and nothing that JSON does not have."""

from __future__ import annotations

import json
import math

from harness.schema.base import JsonValue

__all__ = ["NotJsonError", "read_json"]

#: Deepest nesting that is read; values of the schema refuse more than about 250.
DEPTH_MAX = 128


class NotJsonError(ValueError):
    """A text is no JSON that we read. What it says never enters the message."""


def read_json(sent: str | bytes, *, control_chars: bool = False) -> JsonValue:
    """The value in a text or in UTF-8 bytes; ``control_chars`` lets strings hold raw line breaks and tabs.

    Raises NotJsonError for anything else: other encodings, NaN and Infinity, numbers beyond a float's range or of
    thousands of digits, nesting beyond ``DEPTH_MAX``. Of a repeated key the last value counts,
    as in every common reader.
    """
    try:
        text = sent.decode("utf-8-sig") if isinstance(sent, bytes) else sent
        value: JsonValue = json.loads(text, strict=not control_chars, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        raise NotJsonError("not JSON") from None
    if _deeper_than(value, DEPTH_MAX):
        raise NotJsonError("nested too deeply")
    return value


def _no_constant(word: str) -> JsonValue:
    raise NotJsonError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotJsonError("a number out of range")
    return value


def _deeper_than(value: JsonValue, depth: int) -> bool:
    """Level by level: recursion would hit the limit that it is to guard."""
    level: list[JsonValue] = [value]
    for _ in range(depth + 1):
        inside: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                inside.extend(item.values())
            elif isinstance(item, list):
                inside.extend(item)
        if not inside:
            return False
        level = inside
    return True
