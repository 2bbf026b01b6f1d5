"""What changed in the workspace, by whom, and whether the scenario allows it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.episode.world import World
from harness.receipt import ObservedChange
from harness.workspace import diff

__all__ = ["allowed_by", "measure"]


def allowed_by(path: str, patterns: Sequence[str], *, directory: bool) -> str | None:
    """The first of the patterns that a path is: exactly, below ``dir/**``, or a directory on the way to one.

    A ``*`` stands for anything in the name of a file.
    """
    for pattern in patterns:
        base = pattern.removesuffix("/**")
        if path == base or (pattern != base and path.startswith(base + "/")):
            return pattern
        if directory and base.startswith(path + "/"):
            return pattern
        folder, _, name = path.rpartition("/")
        if "*" in base and folder == base.rpartition("/")[0] and _fits(name, base.rpartition("/")[2]):
            return pattern
    return None


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def measure(world: World) -> tuple[ObservedChange, ...]:
    """Every difference between the world as it was bound and as it was last observed.

    The writer is whoever was running when the path was last seen to change; ``unknown`` where nothing was. A file that
    is allowed by a pattern with ``*`` in its name is told by the pattern: such names hold times.
    """
    rules = world.scenario.boundary
    patterns = {"control_plane": rules.plane_writes, "tool": rules.tool_writes}
    directories = {
        entry.path for state in (world.baseline, world.latest) for entry in state.entries if entry.type == "directory"
    }
    found: list[ObservedChange] = []
    for change in diff(world.baseline, world.latest):
        by = world.writers.get(change.path, "unknown")
        allowed = allowed_by(change.path, patterns.get(by, ()), directory=change.path in directories)
        path = allowed if allowed is not None and _names_files(allowed, change.path) else change.path
        found.append(ObservedChange(path=path, change=change.change, by=by, allowed=allowed is not None))
    return tuple(sorted(found, key=lambda change: change.path) if any("*" in one.path for one in found) else found)


def _names_files(pattern: str, path: str) -> bool:
    """Whether a pattern stands for files whose names it does not tell: then it is told in place of their names."""
    return "*" in pattern.rpartition("/")[2].replace("**", "") and not pattern.startswith(path + "/")
