"""Folders that nobody but their owner may write in, whatever the umask says."""

from __future__ import annotations

from pathlib import Path

__all__ = ["make_folder"]


def make_folder(path: Path, mode: int = 0o755) -> None:
    """Make a folder, and those above it that are not there, with this mode; one that is there stays as it is.

    Raises OSError.
    """
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        folder.mkdir(mode=mode, exist_ok=True)
