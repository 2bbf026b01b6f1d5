"""A problem of a file before it is known on which line it stands."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["KeyPath", "Problem", "dotted", "nearest"]

#: Keys and indices from the top of a document.
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at a place, and what is allowed there."""

    path: KeyPath
    text: str
    allowed: str = ""


def dotted(path: KeyPath) -> str:
    """A path as people write it: ``kind[2].needs.informed``; keys that are no bare words are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = part.replace("-", "_").isidentifier()
            text += f".{part}" if bare else f'."{part}"'
    return text.removeprefix(".")


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean NAME?`` where a known name is close, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
