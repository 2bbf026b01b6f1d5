"""Cells of a CSV file that a spreadsheet shows as they are, and never runs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from io import StringIO
from typing import Final
from unicodedata import normalize

__all__ = ["Cell", "csv_text"]

#: None is an empty cell: not known, or not there.
Cell = str | int | float | Decimal | bool | None

#: What a spreadsheet takes for the beginning of a formula; in full width too.
_STARTS: Final = frozenset("=+-@")


def csv_text(head: Sequence[str], rows: Iterable[Mapping[str, Cell]]) -> str:
    """A header and a line for each row (RFC 4180, but for lines that end as in other files).

    Numbers stand as they are, with a point; truth as ``true`` and ``false``. A text that a spreadsheet could take for a
    formula has an apostrophe before it; letters that act on a terminal, or hide, become ``�``.
    """
    made = StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(row.get(name)) for name in head] for row in rows)
    return made.getvalue()


def _cell(value: Cell) -> str:
    match value:
        case str():
            return _text(value)
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Decimal():
            return f"{value:f}"
        case _:
            return repr(value)


@lru_cache(4096)
def _text(value: str) -> str:
    """In a table of many trials most texts stand again and again."""
    return f"'{_shown(value)}" if _is_formula(value) else _shown(value)


def _shown(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def _is_formula(text: str) -> bool:
    """By the first letter that is seen; what begins with a tab or the end of a line is taken for one as well."""
    if text[:1].isalnum():
        return False
    if text[:1] in {"\t", "\r", "\n"}:
        return True
    seen = next((letter for letter in text if letter.isprintable() and not letter.isspace()), "")
    return normalize("NFKC", seen)[:1] in _STARTS
