"""What may be told of a value that is not what it was."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from harness.redaction.text import value
from harness.schema.receipt import RedactedText

__all__ = ["changed"]

#: Longest text in which the line of the first difference is looked for, in characters.
_TEXT_MAX: Final = 1_000_000


def changed(before: JsonValue, now: JsonValue, sayable: frozenset[str]) -> RedactedText:
    """What ``now`` is, as ``value`` tells it; of a text of several lines also from which line on it differs."""
    told = value(now, sayable)
    if not isinstance(before, str) or not isinstance(now, str) or before == now or "\n" not in now[:_TEXT_MAX]:
        return told
    old, new = before[:_TEXT_MAX].split("\n"), now[:_TEXT_MAX].split("\n")
    same = (at for at, (left, right) in enumerate(zip(old, new, strict=False)) if left != right)
    return RedactedText(f"{told}, from line {next(same, min(len(old), len(new))) + 1}")
