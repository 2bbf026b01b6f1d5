"""Folders that nobody but their owner may write in, whatever the umask says."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["make_folder"]

#: How often one above may go, for it was empty, while the next one is made in it.
_ATTEMPTS: Final = 100


def make_folder(path: Path, mode: int = 0o755) -> None:
    """Make a folder, and those above it that are not there, with this mode; one that is there stays as it is.

    Others may remove those above as long as they are empty: they are made again then. Raises OSError.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            _make(path, mode)
        except FileNotFoundError:
            continue
        return
    _make(path, mode)


def _make(path: Path, mode: int) -> None:
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        folder.mkdir(mode=mode, exist_ok=True)
