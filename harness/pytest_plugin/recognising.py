"""Which files are scenarios: decided by name and a few lines, so that a broken scenario is told and not passed over."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

__all__ = ["is_scenario"]

_FOLDER: Final = "scenarios"
#: What every scenario file says, and no other tool's file says together.
_SAYS: Final = (
    re.compile(rb"^schema\s*=\s*1\b", re.MULTILINE),
    re.compile(rb"""^id\s*=\s*["'][^"'/\n]+/[^"'/\n]+["']""", re.MULTILINE),
    re.compile(rb"""^plane\s*=\s*["'](?:[^"'\n]+==|[a-z][a-z0-9-]*["'])""", re.MULTILINE),
)


def is_scenario(path: Path, folders: Collection[Path]) -> bool:
    """Whether ``ROOT/PACK/NAME.toml`` is a scenario.

    Where ROOT is one of ``folders`` each such file is; where there are no ``folders`` ROOT must be called
    ``scenarios``, and the file must say ``schema = 1``, ``id = "PACK/NAME"`` and a ``plane`` by its name, whatever
    else may be wrong with it.
    """
    if path.suffix != ".toml":
        return False
    root = path.parent.parent
    if folders:
        return root in folders
    if root.name != _FOLDER:
        return False
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return all(line.search(text) for line in _SAYS)
