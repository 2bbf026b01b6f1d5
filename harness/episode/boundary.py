"""What changed in the workspace, by whom, and whether the scenario allows it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.episode.world import World
from harness.receipt import ObservedChange
from harness.workspace import diff

__all__ = ["allowed_by", "measure"]


def allowed_by(path: str, patterns: Sequence[str], *, directory: bool) -> bool:
    """Whether a path is one of the patterns: exactly, below ``dir/**``, or a directory on the way to one."""
    for pattern in patterns:
        base = pattern.removesuffix("/**")
        if path == base or (pattern != base and path.startswith(base + "/")):
            return True
        if directory and base.startswith(path + "/"):
            return True
    return False


def measure(world: World) -> tuple[ObservedChange, ...]:
    """Every difference between the world as it was bound and as it was last observed.

    The writer is whoever was running when the path was last seen to change; ``unknown`` where nothing was.
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
        found.append(ObservedChange(path=change.path, change=change.change, by=by, allowed=allowed))
    return tuple(found)
