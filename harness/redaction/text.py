"""What may be told of a value, a path or a name: by what it is made of, never by what it looks like.

Nothing here searches for secrets. A text is shown only where the scenario itself holds it; of every other text its
length and the first 12 hexadecimal digits of its digest are told, so that two can be compared. A digest of a text
that can be guessed can be checked by guessing: it stands for equality, it is no encryption.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence

from pydantic import JsonValue

from harness.schema.base import digest_text
from harness.schema.counting import counted
from harness.schema.receipt import RedactedText

__all__ = ["SHOWN_MAX", "calls", "missing", "name", "value", "workspace_path"]

#: The longest value that is shown as it is, in characters; of a longer one its shape is told.
SHOWN_MAX = 160
#: Whole numbers outside +-10**30 are told by their size: nobody compares them by eye.
_NUMBER_MAX = 10**30
_DEPTH_MAX = 8
#: So many calls are told one by one.
_CALLS_MAX = 6


def value(value: JsonValue, sayable: frozenset[str]) -> RedactedText:
    """A JSON value as a receipt may show it, at most ``SHOWN_MAX`` characters, always printable.

    null, booleans and numbers appear as JSON writes them. A text appears, in JSON quotes (``"true"`` is not
    ``true``), only if it is in ``sayable``; else as ``text of 24 characters, sha256:0123456789ab``. An array or
    object appears as JSON where every text in it, keys included, is in ``sayable``, else as its shape with counts.
    """
    shown = _json(value, sayable, _DEPTH_MAX)
    return RedactedText(shown if shown is not None and len(shown) <= SHOWN_MAX else _shape(value))


def missing() -> RedactedText:
    """What stands for a value that is not there, as opposed to null."""
    return RedactedText("nothing")


def calls(made: Sequence[tuple[str | None, int]]) -> RedactedText:
    """Calls by their kinds, which are names of the scenario, and the numbers of their steps, in that order."""
    told = [f"{kind or 'a call of no kind'} at step {step}" for kind, step in sorted(made, key=lambda one: one[1])]
    more = [f"{len(told) - _CALLS_MAX} more"] if len(told) > _CALLS_MAX else []
    return RedactedText(", ".join((*told[:_CALLS_MAX], *more)))


def name(text: str, declared: Collection[str]) -> RedactedText:
    """A tool's name: one that the scenario declares as it is, any other as ``undeclared``."""
    return RedactedText(_printable(text) if text in declared else "undeclared")


def workspace_path(path: str, declared: Collection[str]) -> RedactedText:
    """A path of the workspace (``root/relative``), as far as the scenario's own words reach.

    A path in ``declared``, or one on the way to it, is shown as it is. Any other is told by the deepest such folder,
    the digest of the whole path, and its depth (the number of its parts): ``project/sha256:0123456789ab (depth 3)``.
    ``declared`` may hold ``root/dir/**``: then ``root/dir`` is shown, what lies below is not. A root's name is shown
    only if something in ``declared`` begins with it; the bare root name may be given as well.
    """
    known = _with_parents(declared)
    if path in known:
        return RedactedText(_printable(path))
    parts = path.split("/")
    parents = ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]
    folder = next((parent for parent in parents if parent in known), "undeclared")
    return RedactedText(f"{_printable(folder)}/{_short_digest(path)} (depth {len(parts)})")


def _with_parents(declared: Collection[str]) -> frozenset[str]:
    known: set[str] = set()
    for entry in declared:
        parts = entry.split("/")
        known.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return frozenset(known)


def _json(value: JsonValue, sayable: frozenset[str], depth: int) -> str | None:
    """JSON of a value, or None where it holds a text that may not be said, or is too large to be read."""
    if isinstance(value, str):
        return _quoted(value) if value in sayable else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _NUMBER_MAX:
        return None
    if not isinstance(value, list | dict):
        return json.dumps(value)
    if depth == 0 or len(value) > SHOWN_MAX // 2:
        return None
    pairs = [("", item) for item in value] if isinstance(value, list) else list(value.items())
    shown: list[str] = []
    for key, item in pairs:
        text = _json(item, sayable, depth - 1)
        if text is None or (isinstance(value, dict) and key not in sayable):
            return None
        shown.append(text if isinstance(value, list) else f"{_quoted(key)}: {text}")
    inner = ", ".join(shown)
    return f"[{inner}]" if isinstance(value, list) else f"{{{inner}}}"


def _shape(value: JsonValue) -> str:
    if isinstance(value, str):
        return f"text of {counted(len(value), 'character')}, {_short_digest(value)}"
    if isinstance(value, list):
        counts = Counter(_sort(item) for item in value)
        listed = ", ".join(counted(number, sort) for sort, number in sorted(counts.items()))
        return f"array of {counted(len(value), 'item')} ({listed})"
    if isinstance(value, dict):
        return f"object of {counted(len(value), 'key')}"
    return f"whole number of {int(value or 0).bit_length()} bits"


def _sort(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def _short_digest(text: str) -> str:
    return digest_text(text)[: len("sha256:") + 12]


def _quoted(text: str) -> str:
    return _printable(json.dumps(text, ensure_ascii=False))


def _printable(text: str) -> str:
    """Characters that would act on a terminal, hide, or not survive UTF-8 are shown as JSON escapes."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
