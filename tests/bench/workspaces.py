"""Where the sides of benches make workspaces: the temporary directory, or one that lies in memory."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["MEMORY", "environment"]

#: Where Linux has a file system in memory; None on other systems.
MEMORY = next((place for place in (Path("/dev/shm"),) if os.access(place, os.W_OK | os.X_OK)), None)  # noqa: S108


def environment(workspaces: Path | None) -> dict[str, str]:
    """The variables of a side that makes them there; None: where they are made anyway."""
    there = {} if workspaces is None else {"TMPDIR": str(workspaces)}
    return {**os.environ, **there}
