"""The one JSON object that an answer must be, or in which way it is none."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

from harness.documents import DEPTH_MAX
from harness.schema.base import JsonValue

__all__ = ["UNREADABLE", "Unreadable", "read_object"]

Unreadable = Literal[
    "empty_answer",
    "answer_too_long",
    "not_json",
    "no_object",
    "text_around",
    "several_objects",
    "duplicated_key",
    "nested_too_deeply",
]

#: Every way in which an answer is not one JSON object.
UNREADABLE: Final[tuple[Unreadable, ...]] = get_args(Unreadable)
_BLANK: Final = " \t\r\n"
#: Braces at which an object is looked for in a text that does not begin with one.
_TRIES: Final = 64


class _DuplicateError(ValueError):
    """An object names a field twice."""


@dataclass(frozen=True, slots=True)
class _Found:
    value: JsonValue
    end: int
    doubled: bool = False


def read_object(text: str, most_chars: int) -> dict[str, JsonValue] | Unreadable:
    """The object, or the word for why there is none; never raises.

    White space of JSON may stand around it, nothing else: no fence, no sentence, no second value. A number must be
    finite, and no object may name a field twice, at any depth.
    """
    bare = text.strip(_BLANK)
    if len(text) > most_chars or not bare:
        return "answer_too_long" if len(text) > most_chars else "empty_answer"
    found = _value(bare, 0)
    if found is None:
        return "not_json" if bare.startswith("{") or not _holds_object(bare) else "text_around"
    rest = bare[found.end :].lstrip(_BLANK)
    return _followed(found, rest) if rest else _alone(found)


def _alone(found: _Found) -> dict[str, JsonValue] | Unreadable:
    if not isinstance(found.value, dict):
        return "no_object"
    if _is_deep(found.value):
        return "nested_too_deeply"
    return "duplicated_key" if found.doubled else found.value


def _followed(first: _Found, rest: str) -> Unreadable:
    """What a value is that is not alone."""
    second = _value(rest, 0)
    if isinstance(first.value, dict):
        return "several_objects" if second is not None and isinstance(second.value, dict) else "text_around"
    return "text_around" if _holds_object(rest) else "not_json"


def _holds_object(text: str) -> bool:
    at = -1
    for _ in range(_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return False
        found = _value(text, at)
        if found is not None and isinstance(found.value, dict):
            return True
    return False


def _value(text: str, at: int) -> _Found | None:
    """The JSON value that begins at ``at``, None where none does."""
    for decoder in (_STRICT, _LOOSE):
        try:
            value, end = decoder.raw_decode(text, at)
        except _DuplicateError:
            continue
        except (ValueError, RecursionError):
            return None
        return _Found(value, end, doubled=decoder is _LOOSE)
    return None


def _is_deep(value: JsonValue) -> bool:
    """Whether arrays and objects nest beyond what is compared and shown; counted without recursion."""
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [item for outer in level for item in _items(outer)]
        if not level:
            return False
    return True


def _items(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise _DuplicateError
    return table


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _no_number(name: str) -> JsonValue:
    raise ValueError(name)


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_once, parse_float=_number, parse_constant=_no_number)
_LOOSE: Final = json.JSONDecoder(parse_float=_number, parse_constant=_no_number)
