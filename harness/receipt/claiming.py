"""Taking a folder for a new run: a new one, an empty one, or one in which a run was killed before it began."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from pathlib import Path

from harness.documents import make_folder
from harness.errors import StoreError

__all__ = ["MANIFEST", "PART", "claim", "clear", "was_killed_at_once"]

MANIFEST = "manifest.json"
#: Finished episodes of a run that has not ended; not there afterwards.
PART = "episodes.part.jsonl"


def claim(folder: Path, private: Collection[str] = ()) -> None:
    """Make the folder, or see that it can be taken. Raises StoreError.

    ``private`` are the files that stand there before the manifest does: until then nothing was played.
    """
    try:
        make_folder(folder)
        names = {entry.name for entry in os.scandir(folder)}
    except OSError as error:
        raise _cannot_write(folder, error) from error
    if MANIFEST in names:
        raise StoreError(
            f"{folder}: holds a run already, which is not overwritten; give another folder, or go on with it: "
            f"harness run --resume {shlex.quote(str(folder))}"
        )
    if names and not _is_beginning(folder, names, private):
        raise StoreError(f"{folder}: is not empty and holds no run; give an empty or a new folder")


def clear(folder: Path, private: Collection[str] = ()) -> None:
    """Remove what a beginning left that was killed; the folder is locked. Raises StoreError as ``claim`` does."""
    claim(folder, private)
    try:
        for name in _of_a_beginning(private):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def was_killed_at_once(folder: Path, private: Collection[str] = ()) -> bool:
    """Whether a folder without a manifest holds what a beginning leaves, and nothing else."""
    try:
        names = {entry.name for entry in os.scandir(folder)}
    except OSError:
        return False
    return bool(names) and _is_beginning(folder, names, private)


def _is_beginning(folder: Path, names: Collection[str], private: Collection[str]) -> bool:
    part = folder / PART
    is_untouched = PART not in names or (part.is_file() and not part.is_symlink() and not part.stat().st_size)
    return is_untouched and set(names) <= set(_of_a_beginning(private))


def _of_a_beginning(private: Collection[str]) -> tuple[str, ...]:
    return (PART, f".{MANIFEST}.part", *private, *(f".{name}.part" for name in private))


def _cannot_write(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}")
