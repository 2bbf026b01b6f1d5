"""One expectation held against one JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING, Missing, pointer
from harness.schema.rules import AnswerCheck, Expectation

__all__ = ["Miss", "examine", "phrase", "same"]

#: Kind of a command text, None where it is of no kind.
KindOf = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Miss:
    """An expectation that does not hold: what was wanted, in a form that may be shown, and what is there."""

    expected: JsonValue
    got: JsonValue | Missing


def examine(
    document: JsonValue, at: str, expectation: Expectation, kind_of: KindOf = lambda _: None
) -> tuple[Miss, ...]:
    """Everything in which the value at pointer ``at`` misses the expectation; nothing where it holds."""
    check = expectation if isinstance(expectation, AnswerCheck) else AnswerCheck(equals=expectation)
    return tuple(_misses(document, pointer(document, at), check, kind_of))


def phrase(check: AnswerCheck) -> tuple[JsonValue, ...]:
    """The expectation as findings show it: a plain value for ``equals``, words for every other test."""
    if check.contains is not None or check.one_of is not None:
        word, wanted = ("contains", check.contains) if check.one_of is None else ("one of", list(check.one_of))
        return (f"{word} {json.dumps(wanted, ensure_ascii=False)}",)
    if check.same_as is not None:
        return (f"the value at #{check.same_as}",)
    if check.empty:
        return ("empty",)
    if check.absent:
        return ("absent",)
    if check.commands is None and check.none_contains is None:
        return (check.equals,)
    counted = [_counted(kind, count) for kind, count in (check.commands or {}).items()]
    return (*counted, *_forbidden(check)) or ("an array of commands",)


def same(left: JsonValue | Missing, right: JsonValue | Missing) -> bool:
    """Equal as JSON: numbers by value, a boolean is no number, any depth."""
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, bool) or isinstance(other, bool):
            equal = one is other
        elif isinstance(one, dict) and isinstance(other, dict):
            equal = one.keys() == other.keys()
            pairs += [(one[key], other[key]) for key in one if equal]
        elif isinstance(one, list) and isinstance(other, list):
            equal = len(one) == len(other)
            pairs += zip(one, other, strict=False)
        else:
            equal = one == other
        if not equal:
            return False
    return True


def _misses(document: JsonValue, value: JsonValue | Missing, check: AnswerCheck, kind_of: KindOf) -> Iterator[Miss]:
    if check.commands is not None or check.none_contains is not None:
        yield from _command_misses(value, check, kind_of)
        return
    if check.absent:
        holds = value is MISSING
    elif check.empty:
        holds = value is None or (isinstance(value, str | list | dict) and not value)
    elif check.same_as is not None:
        holds = value is not MISSING and same(value, pointer(document, check.same_as))
    elif check.one_of is not None:
        holds = any(same(value, wanted) for wanted in check.one_of)
    elif check.contains is not None:
        holds = _contains(value, check.contains)
    else:
        holds = same(value, check.equals)
    if not holds:
        yield Miss(phrase(check)[0], value)


def _contains(value: JsonValue | Missing, part: JsonValue) -> bool:
    if isinstance(value, str):
        return isinstance(part, str) and part in value
    return isinstance(value, list) and any(same(element, part) for element in value)


def _command_misses(value: JsonValue | Missing, check: AnswerCheck, kind_of: KindOf) -> Iterator[Miss]:
    if not isinstance(value, list):
        yield Miss(phrase(check)[0], value)
        return
    texts = [element for element in value if isinstance(element, str)]
    kinds = [kind_of(text) for text in texts]
    for kind, count in (check.commands or {}).items():
        if kinds.count(kind) != count:
            yield Miss(_counted(kind, count), kinds.count(kind))
    for forbidden in _forbidden(check):
        offending = [text for text in texts if check.none_contains is not None and check.none_contains in text]
        yield from (Miss(forbidden, text) for text in offending[:1])


def _counted(kind: str, count: int) -> str:
    return f"{count} of kind {kind}"


def _forbidden(check: AnswerCheck) -> tuple[str, ...]:
    if check.none_contains is None:
        return ()
    return (f"no command contains {json.dumps(check.none_contains, ensure_ascii=False)}",)
