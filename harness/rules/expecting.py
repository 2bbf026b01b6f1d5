"""One expectation held against one JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from harness.documents.patterns import matches
from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING, Missing, pointer
from harness.schema.rules import AnswerCheck, Expectation, Near
from harness.schema.source import ValueSource

__all__ = ["Known", "Miss", "examine", "nothing_known", "phrase", "same"]

#: Kind of a command text, None where it is of no kind.
KindOf = Callable[[str], str | None]
#: The value of another place, where it is there.
Known = Callable[[ValueSource], JsonValue | Missing]


def nothing_known(_: ValueSource) -> Missing:
    """Of a world in which no other place has a value."""
    return MISSING


@dataclass(frozen=True, slots=True)
class Miss:
    """An expectation that does not hold: what was wanted, in a form that may be shown, and what is there."""

    expected: JsonValue
    got: JsonValue | Missing


def examine(
    document: JsonValue,
    at: str,
    expectation: Expectation,
    kind_of: KindOf = lambda _: None,
    known: Known = nothing_known,
) -> tuple[Miss, ...]:
    """Everything in which the value at pointer ``at`` misses the expectation; nothing where it holds."""
    check = expectation if isinstance(expectation, AnswerCheck) else AnswerCheck(equals=expectation)
    return tuple(_misses(document, pointer(document, at), check, kind_of, known))


def phrase(check: AnswerCheck) -> tuple[JsonValue, ...]:
    """The expectation as findings show it: a plain value for ``equals``, words for every other test."""
    words = _words(check)
    if words is not None:
        return (words,)
    if check.commands is None and check.none_contains is None:
        return (check.equals,)
    counted = [_counted(kind, count) for kind, count in (check.commands or {}).items()]
    return (*counted, *_forbidden(check)) or ("an array of commands",)


def _words(check: AnswerCheck) -> str | None:
    """Of a test that is neither ``equals`` nor one of commands."""
    source = check.from_
    found = {
        "contains": None if check.contains is None else json.dumps(check.contains, ensure_ascii=False),
        "one of": None if check.one_of is None else json.dumps(list(check.one_of), ensure_ascii=False),
        "the value at": None if check.same_as is None else f"#{check.same_as}",
        "the same value as": None if source is None else f"{source.file or source.answer}#{source.at}",
        "a number near": None if check.near is None else f"{check.near.to!r} (within {check.near.within!r})",
        "a text like": check.matches,
        "a text unlike": check.avoids,
        "empty": "" if check.empty else None,
        "absent": "" if check.absent else None,
    }
    return next((f"{word} {rest}".rstrip() for word, rest in found.items() if rest is not None), None)


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


def _misses(
    document: JsonValue, value: JsonValue | Missing, check: AnswerCheck, kind_of: KindOf, known: Known
) -> Iterator[Miss]:
    if check.commands is not None or check.none_contains is not None:
        yield from _command_misses(value, check, kind_of)
    elif not _holds(document, value, check, known):
        yield Miss(phrase(check)[0], value)


def _holds(document: JsonValue, value: JsonValue | Missing, check: AnswerCheck, known: Known) -> bool:  # noqa: PLR0911
    if check.absent:
        return value is MISSING
    if check.empty:
        return value is None or (isinstance(value, str | list | dict) and not value)
    if check.same_as is not None:
        return value is not MISSING and same(value, pointer(document, check.same_as))
    if check.from_ is not None:
        return value is not MISSING and same(value, known(check.from_))
    if check.one_of is not None:
        return any(same(value, wanted) for wanted in check.one_of)
    if check.contains is not None:
        return _contains(value, check.contains)
    if check.near is not None:
        return _near(value, check.near)
    if check.matches is not None:
        return isinstance(value, str) and matches(check.matches, value)
    if check.avoids is not None:
        return isinstance(value, str) and not matches(check.avoids, value)
    return same(value, check.equals)


def _near(value: JsonValue | Missing, wanted: Near) -> bool:
    """As both are written: 0.999999 is within 1e-6 of 1, though their difference in binary is a little more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return False
    return abs(_written(value) - _written(wanted.to)) <= _written(wanted.within)


def _written(number: float) -> Fraction:
    return Fraction(repr(number))


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
