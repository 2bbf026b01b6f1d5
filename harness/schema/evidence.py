"""State of the workspace before and after, and what changed."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Digest, Plain, plain

__all__ = ["Change", "Entry", "StateDigest", "Writer"]

#: Who was running when a path was seen to change; ``unknown`` where nothing was.
Writer = Literal["control_plane", "tool", "unknown"]


@plain
class Entry(Plain):
    """One path. ``digest`` is over a file's bytes or a link's target; None for directories and special files."""

    path: str
    type: Literal["file", "directory", "link", "other"]
    mode: int
    digest: Digest | None = None


@plain
class StateDigest(Plain):
    """All paths below a workspace, sorted, relative (``project/fixture/a.json``), and one digest over them."""

    entries: tuple[Entry, ...]
    digest: Digest


@plain
class Change(Plain):
    """One difference between two states."""

    path: str
    change: Literal["added", "removed", "modified"]
