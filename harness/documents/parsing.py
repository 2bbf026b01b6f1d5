"""TOML and JSON that somebody else wrote, as plain JSON values within bounds."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Final, cast

from harness.documents.files import DocumentError
from harness.schema.base import JsonValue

__all__ = ["DEPTH_MAX", "parse_json", "parse_toml"]

#: Deepest nesting that is read; values of the schema refuse more than about 250.
DEPTH_MAX: Final = 128
#: Largest whole number, either sign: the largest that survives JSON in every language.
NUMBER_MAX: Final = 2**53 - 1

_TOO_DEEP: Final = "is nested too deeply"
_DEPTH_ALLOWED: Final = f"at most {DEPTH_MAX} levels"
_TOO_BIG: Final = "a number that is too large"
_NUMBER_ALLOWED: Final = f"whole numbers from -{NUMBER_MAX} to {NUMBER_MAX}"
_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)$")
_DIGITS: Final = re.compile(r"[0-9_]{4000,}")
#: A dotted key of more parts than levels are read: the reader's time grows with the square of their number.
_LONG_KEY: Final = re.compile(
    r"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]{0,80}"|'[^'\n]{0,80}')[ \t]*\.[ \t]*)"""
    rf"{{{DEPTH_MAX + 1},}}"
)


def parse_toml(text: str, within: tuple[str, ...] = ()) -> dict[str, JsonValue]:
    """The tables of a TOML text, or what its table ``within`` holds: nothing where there is none.

    Raises DocumentError for what is no TOML, and there for what JSON cannot say or we do not read: dates, numbers that
    are not finite or too large, nesting beyond ``DEPTH_MAX``.
    """
    long = _LONG_KEY.search(text)
    if long is not None:
        raise DocumentError(_TOO_DEEP, line=_line_at(text, long.start()), allowed=_DEPTH_ALLOWED)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        line = int(place[1]) if place is not None else text.count("\n") + 1
        raise DocumentError(f"is no TOML: {_LINE.sub('', str(error))}", line=line) from None
    except RecursionError:
        raise DocumentError(_TOO_DEEP, allowed=_DEPTH_ALLOWED) from None
    except ValueError:
        raise _too_many_digits(text) from None
    for name in within:
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise DocumentError("must be a table", path=within)
    _refuse_odd(table)
    return cast("dict[str, JsonValue]", table)


def parse_json(text: str) -> JsonValue:
    """The value of a JSON text. Raises DocumentError as ``parse_toml`` does, and for a key that is given twice."""
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise DocumentError(f"is no JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise DocumentError(_TOO_DEEP, allowed=_DEPTH_ALLOWED) from None
    except DocumentError:
        raise
    except ValueError:
        raise _too_many_digits(text) from None
    _refuse_odd(value)
    return value


def _refuse_odd(value: object) -> None:
    """Refuse the first value that is out of bounds. Without recursion, whose limit is one of the things guarded."""
    waiting: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict | list) and len(path) >= DEPTH_MAX:
            raise DocumentError(_TOO_DEEP, path=path[:8], allowed=_DEPTH_ALLOWED)
        if isinstance(item, dict):
            waiting += reversed([((*path, str(key)), inner) for key, inner in item.items()])
        elif isinstance(item, list):
            waiting += reversed([((*path, index), inner) for index, inner in enumerate(item)])
        else:
            _refuse_scalar(item, path)


def _refuse_scalar(value: object, path: tuple[str | int, ...]) -> None:
    if isinstance(value, float) and value - value != 0:
        raise DocumentError("not a finite number", path=path, allowed="a finite number")
    if isinstance(value, int) and not -NUMBER_MAX <= value <= NUMBER_MAX:
        raise DocumentError(_TOO_BIG, path=path, allowed=_NUMBER_ALLOWED)
    if value is not None and not isinstance(value, bool | int | float | str):
        raise DocumentError(f"{value} is a date or time", path=path, allowed="text in quotation marks")


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    table: dict[str, JsonValue] = {}
    for name, value in pairs:
        if name in table:
            raise DocumentError(f"the key {name[:80]!r} is given twice")
        table[name] = value
    return table


def _no_constant(word: str) -> JsonValue:
    raise DocumentError(f"{word} is not JSON", allowed="finite numbers")


def _too_many_digits(text: str) -> DocumentError:
    found = _DIGITS.search(text)
    line = None if found is None else _line_at(text, found.start())
    return DocumentError(_TOO_BIG, line=line, allowed=_NUMBER_ALLOWED)


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
