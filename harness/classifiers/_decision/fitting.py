"""Whether a value has the form that a field of an answer must have."""

from __future__ import annotations

import re
from typing import Final, Literal

from harness.classifiers._decision.settings import AnswerField
from harness.schema.base import JsonValue, canonical_json

__all__ = ["MISFITS", "Misfit", "misfit"]

#: Another type, or a value of that type which is not allowed.
Misfit = Literal["wrong_type", "not_allowed"]
MISFITS: Final[tuple[Misfit, ...]] = ("wrong_type", "not_allowed")

_TOKEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,159}")
#: Where a field gives no bounds: characters of a text and of JSON, elements of an array.
_CHARS, _ITEMS = 4_096, 64


def misfit(field: AnswerField, value: JsonValue) -> Misfit | None:
    """In which way the value has not the form of the field, None where it has."""
    if value is None:
        return None if field.nullable else "wrong_type"
    if not _is_of(field.type, value):
        return "wrong_type"
    return None if _is_allowed(field, value) else "not_allowed"


def _is_of(sort: str, value: JsonValue) -> bool:
    if sort == "flag":
        return isinstance(value, bool)
    if sort == "count":
        return isinstance(value, int) and not isinstance(value, bool)
    if sort in {"tokens", "texts"}:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, dict if sort == "table" else str)


def _is_allowed(field: AnswerField, value: JsonValue) -> bool:
    if field.type == "flag":
        return True
    if isinstance(value, dict):
        return _within(field, len(canonical_json(value)), _CHARS)
    if isinstance(value, list):
        return _within(field, len(value), _ITEMS) and all(
            _is_text(field, item, token=field.type == "tokens") for item in value
        )
    if isinstance(value, str):
        return _is_text(field, value, token=field.type == "token") and (
            field.type == "token" or _within(field, len(value), _CHARS)
        )
    return isinstance(value, int) and _within(field, value, None)


def _is_text(field: AnswerField, value: JsonValue, *, token: bool) -> bool:
    return (
        isinstance(value, str)
        and (not token or _TOKEN.fullmatch(value) is not None)
        and (field.one_of is None or value in field.one_of)
        and (field.starts is None or value.startswith(field.starts))
    )


def _within(field: AnswerField, number: int, otherwise: int | None) -> bool:
    most = otherwise if field.most is None else field.most
    return number >= (field.least or 0) and (most is None or number <= most)
