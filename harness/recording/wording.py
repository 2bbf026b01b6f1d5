"""The words at the first place where two texts differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import takewhile
from typing import Final

from harness.recording.keys import embedded
from harness.schema.base import JsonValue
from harness.schema.pointer import pointer
from harness.schema.recording import Wording

__all__ = ["wording", "wording_at"]

#: Characters that are shown before the difference, at least, and from it on.
_BEFORE: Final = 32
_AFTER: Final = 64


def wording(recorded: str, now: str) -> Wording | None:
    """Both texts from a few words before their first difference on; None where they do not differ."""
    if recorded == now:
        return None
    place = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(recorded, now, strict=False)))
    start = _word_before(recorded, max(0, place - _BEFORE))
    return Wording(recorded=_excerpt(recorded, start, place), now=_excerpt(now, start, place))


def wording_at(at: str, recorded: JsonValue, now: JsonValue, scrub: Callable[[JsonValue], JsonValue]) -> Wording | None:
    """The words at a pointer into two request bodies after ``scrub``; None where no two texts differ there."""
    one, other = (_text_at(scrub(body), at) for body in (recorded, now))
    return None if one is None or other is None else wording(one, other)


def _text_at(body: JsonValue, at: str) -> str | None:
    outer, inside, inner = at.partition("#")
    found = pointer(body, outer)
    if inside and isinstance(found, str):
        found = pointer(embedded(found), inner)
    return found if isinstance(found, str) else None


def _word_before(text: str, place: int) -> int:
    """Where the word that holds ``place`` begins, if that is near."""
    begin = max(text.rfind(mark, max(0, place - _BEFORE), place) for mark in " \n\t") + 1
    return begin or place


def _excerpt(text: str, start: int, place: int) -> str:
    end = min(len(text), place + _AFTER)
    shown = json.dumps(text[start:end], ensure_ascii=False)[1:-1]
    shown = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in shown)
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"
