"""Taking a folder for a new run: a new one, an empty one, or one in which a run was killed before it began."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from harness.documents import DocumentError, make_folder, read_file
from harness.errors import StoreError
from harness.receipt.going_on import go_on
from harness.schema.run import Manifest

__all__ = ["MANIFEST", "PART", "claim", "clear", "refuse_taken", "was_killed_at_once"]

MANIFEST = "manifest.json"
_MOST_BYTES = 256 * 1024 * 1024
#: Finished episodes of a run that has not ended; not there afterwards.
PART = "episodes.part.jsonl"


def claim(folder: Path, private: Collection[str] = ()) -> None:
    """Make the folder, or see that it can be taken. Raises StoreError.

    ``private`` are the files that stand there before the manifest does: until then nothing was played.
    """
    try:
        make_folder(folder)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    refuse_taken(folder, private)


def refuse_taken(folder: Path, private: Collection[str] = ()) -> None:
    """Raise StoreError where a new run cannot be put into ``folder``; one that is not there is free.

    ``private`` as of ``claim``.
    """
    try:
        names = {entry.name for entry in os.scandir(folder)} if os.path.lexists(folder) else set()
    except OSError as error:
        raise _cannot_write(folder, error) from error
    if MANIFEST in names:
        raise StoreError(f"{folder}: holds a run already, which is not overwritten; give another folder{_or(folder)}")
    if names and not _is_beginning(folder, names, private):
        raise StoreError(f"{folder}: is not empty and holds no run; give an empty or a new folder")


def _or(folder: Path) -> str:
    """How to go on with the run that is there; nothing where nobody goes on with it."""
    try:
        manifest = Manifest.model_validate_json(read_file(folder / MANIFEST, most=_MOST_BYTES))
    except (DocumentError, ValidationError):
        return ""
    return "" if manifest.merged else f", or go on with it: {go_on(folder, manifest)}"


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
