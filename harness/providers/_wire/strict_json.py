"""Reading JSON that somebody else wrote: bounded, and nothing that JSON does not have."""

from __future__ import annotations

import json
import math
from typing import Final

from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import Quirk

__all__ = ["NotJsonError", "Repeating", "oddities_of", "read_json", "spelled"]

#: Deepest nesting that is read; values of the schema refuse more than about 250.
DEPTH_MAX = 128


class NotJsonError(ValueError):
    """A text is no JSON that we read. What it says never enters the message."""


class Repeating(dict[str, JsonValue]):
    """An object that has a key twice, or in which another one does: of each key the last value.

    ``pairs`` are all keys and values, in their order.
    """

    def __init__(self, pairs: list[tuple[str, JsonValue]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def read_json(sent: str | bytes, *, control_chars: bool = False) -> JsonValue:
    """The value in a text or in UTF-8 bytes; ``control_chars`` lets strings hold raw line breaks and tabs.

    An object with a key that stands twice, at any depth, is a ``Repeating`` one: readers differ in what it says.

    Raises NotJsonError for anything else: other encodings, NaN and Infinity, numbers beyond a float's range or of
    thousands of digits, nesting beyond ``DEPTH_MAX``.
    """
    try:
        text = sent.decode("utf-8-sig") if isinstance(sent, bytes) else sent
        value: JsonValue = _READERS[control_chars].decode(text)
    except (ValueError, RecursionError):
        raise NotJsonError("not JSON") from None
    return _marked(value) if _repeats(value) else value


def oddities_of(value: JsonValue) -> tuple[Quirk, ...]:
    """What is odd about a body or an event that was read."""
    return ("repeated_keys",) if isinstance(value, Repeating) else ()


def spelled(value: JsonValue) -> str:
    """The value as a text, with all that a ``Repeating`` object holds."""
    if isinstance(value, list):
        return f"[{','.join(map(spelled, value))}]"
    if not isinstance(value, Repeating):
        return canonical_json(value)
    return f"{{{','.join(f'{canonical_json(key)}:{spelled(one)}' for key, one in value.pairs)}}}"


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeating(pairs)


def _no_constant(word: str) -> JsonValue:
    raise NotJsonError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotJsonError("a number out of range")
    return value


#: By whether strings may hold control characters; to make one takes as long as to read a short text.
_READERS: Final = tuple(
    json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite, strict=strict)
    for strict in (True, False)
)


def _repeats(value: JsonValue) -> bool:
    """Whether an object in it is ``Repeating``. Raises NotJsonError for one that nests too deeply.

    Level by level: recursion would hit the limit that it is to guard.
    """
    found = False
    level: list[JsonValue] = [value]
    for _ in range(DEPTH_MAX + 1):
        inside: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                found = found or isinstance(item, Repeating)
                inside.extend(item.values())
            elif isinstance(item, list):
                inside.extend(item)
        if not inside:
            return found
        level = inside
    raise NotJsonError("nested too deeply")


def _marked(value: JsonValue) -> JsonValue:
    """The value in which an object is ``Repeating`` also where one inside of it is."""
    if isinstance(value, list):
        return [_marked(item) for item in value]
    if not isinstance(value, dict):
        return value
    pairs = [(key, _marked(item)) for key, item in (value.pairs if isinstance(value, Repeating) else value.items())]
    return (
        Repeating(pairs) if isinstance(value, Repeating) or any(_has_mark(item) for _, item in pairs) else dict(pairs)
    )


def _has_mark(value: JsonValue) -> bool:
    return any(map(_has_mark, value)) if isinstance(value, list) else isinstance(value, Repeating)
