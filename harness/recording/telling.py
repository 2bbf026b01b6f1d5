"""A drift as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.schema.recording import Drift

__all__ = ["tell"]

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
    """What changed, where, and both values: lines of at most ``width`` columns (20 or more)."""
    places = [
        f"step {drift.step}" if drift.step is not None else "",
        f"exchange {drift.exchange}" if drift.exchange is not None else "",
    ]
    told = ", ".join([_WHAT[drift.cause], *filter(None, places)])
    lines = [*_cut(told, "", width)]
    for name, text in (("at", drift.pointer), ("recorded", drift.recorded), ("now", drift.now)):
        if text is not None:
            lines += _cut(text or "the whole", f"  {name:<9} ", width)
    return tuple(lines)


def _cut(text: str, label: str, width: int) -> Iterator[str]:
    """The text in pieces that fit, behind the label; nothing is left out, for a pointer must be whole to be used."""
    room = width - len(label)
    for start in range(0, max(len(text), 1), room):
        yield (label if start == 0 else " " * len(label)) + text[start : start + room]
