"""Recordings that no longer fit: which episodes, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable

from harness import recording
from harness.reporters._rows import Episode
from harness.schema.counting import worded
from harness.schema.run import RunView

__all__ = ["proves_nothing", "stale_rows", "to_do", "tolerated"]


def proves_nothing(number: int) -> str:
    """What so many stale episodes say, whether or not the run fails for them."""
    return f"{worded(number, 'it proves', 'they prove')} nothing until recorded anew"


def stale_rows(rows: Iterable[Episode]) -> tuple[Episode, ...]:
    """The episodes whose recordings no longer fit."""
    return tuple(row for row in rows if row.stale)


def to_do(rows: Iterable[Episode]) -> tuple[str, ...]:
    """The commands that record anew what is stale, to be pasted."""
    logs = (row.log for row in rows if row.stale)
    return recording.commands(log.again for log in logs if log is not None and log.again is not None)


def tolerated(view: RunView) -> bool:
    """Whether the run was told to go on where a recording no longer fits."""
    return view.manifest.stale == "warn"
