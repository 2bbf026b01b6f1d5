"""What drifted as lines for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from harness.recording.story import Change, Place, story
from harness.schema.counting import counted
from harness.schema.recording import Drift

__all__ = ["place_lines", "short", "tell"]

_DIGEST: Final = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{52}\b")
_NARROWEST: Final = 20


def tell(drifts: Sequence[Drift], width: int | None = None) -> tuple[str, ...]:
    """What changed, where, and both sides, causes first; lines folded at blanks to ``width`` columns (None: not).

    Pointers and digests are never broken, so a line that holds a long one is as long as that. Of a digest the first
    twelve digits are told, which is what people compare.
    """
    told = story(drifts)
    lines = [line for change in told.changes for line in _of_change(change)]
    if told.follows is not None:
        lines.append((told.follows, ""))
    return tuple(folded for text, label in lines for folded in _folded(text, label, width))


def place_lines(place: Place) -> tuple[tuple[str, str], ...]:
    """A place as its parts, each with its name: ``at``, ``recorded``, ``now``."""
    at = () if place.pointer is None else (("at", place.pointer or "the whole"),)
    return (*at, *((name, short(text)) for name, text in place.sides))


def short(text: str) -> str:
    """The text with twelve digits of each digest."""
    return _DIGEST.sub(r"\1", text)


def _of_change(change: Change) -> Iterator[tuple[str, str]]:
    yield change.what, ""
    for place in change.places:
        for name, text in place_lines(place):
            yield text, f"  {name:<9} "
    if change.more:
        yield f"and {counted(change.more, 'more place')}", "  "


def _folded(text: str, label: str, width: int | None) -> list[str]:
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    if width is None:
        return [label + shown]
    return textwrap.wrap(
        shown,
        max(width, _NARROWEST),
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
