"""A drift as lines for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.schema.recording import Drift

__all__ = ["tell"]

_DIGEST: Final = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{52}\b")

_WHAT: Final = {
    "scenario": "the scenario changed",
    "prompt": "the prompt changed",
    "tools": "the tools changed",
    "plane_version": "the control plane is another version",
    "plane_answer": "the control plane answered differently",
    "settings": "the actor's settings changed",
    "classifier": "the classifiers changed",
    "request": "the model was asked something else",
    "reply": "a recorded reply is not one that the episode can go on from",
    "not_asked": "a recorded request was not asked",
}


def tell(drift: Drift, width: int = 80) -> tuple[str, ...]:
    """What changed, where, and both values: lines of at most ``width`` columns (20 or more).

    Of a digest the first twelve digits are told, which is what people compare.
    """
    places = [
        f"step {drift.step}" if drift.step is not None else "",
        f"exchange {drift.exchange}" if drift.exchange is not None else "",
    ]
    told = ", ".join([_WHAT[drift.cause], *filter(None, places)])
    lines = [*_cut(told, "", width)]
    for name, text in (("at", drift.pointer), ("recorded", drift.recorded), ("now", drift.now)):
        if text is not None:
            lines += _cut(_DIGEST.sub(r"\1", text) or "the whole", f"  {name:<9} ", width)
    return tuple(lines)


def _cut(text: str, label: str, width: int) -> Iterator[str]:
    """The text in pieces that fit, behind the label; nothing is left out, for a pointer must be whole to be used.

    A piece ends behind a blank or a slash where it has one: words and keys stay whole.
    """
    room = width - len(label)
    while True:
        end = len(text)
        if end > room:
            end = max(text.rfind(mark, 0, room) for mark in " /") + 1 or room
        yield label + text[:end]
        text, label = text[end:], " " * len(label)
        if not text:
            return
