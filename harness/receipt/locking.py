"""One writer a run folder: the folder itself is locked, so that a killed writer's lock is gone with it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from harness.errors import StoreError

__all__ = ["is_written", "locked", "sole"]

_LOCKS: Final = Path("/proc/locks")


def sole(folder: Path) -> int:
    """A descriptor of the folder, locked until it is closed. Raises StoreError where somebody else writes there."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror or type(error).__name__}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        holder = _holder(folder)
        who = "" if holder is None else f" (process {holder})"
        raise StoreError(
            f"{folder}: another run is writing here{who}; wait for its end, or give another folder"
        ) from error
    return descriptor


def is_written(folder: Path) -> bool:
    """Whether somebody writes in a run folder now. Raises StoreError where that cannot be told."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be read: {error.strerror or type(error).__name__}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Nobody else writes in the folder meanwhile; gives its descriptor. Raises StoreError where somebody does now."""
    descriptor = sole(folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _holder(folder: Path) -> int | None:
    """The process that has the folder locked; None where this system does not tell, or it is over by now.

    Linux lists locks by inode, which may be that of another file system: whoever has one is looked at too.
    """
    try:
        inode = str(folder.stat().st_ino)
        rows = [row.split() for row in _LOCKS.read_text("ascii").splitlines()]
        pids = [row[4] for row in rows if row[1] == "FLOCK" and row[5].rpartition(":")[2] == inode]
        return next((int(pid) for pid in pids if pid.isdecimal() and _has_open(pid, folder)), None)
    except (OSError, ValueError, IndexError):
        return None


def _has_open(pid: str, folder: Path) -> bool:
    for path in (_LOCKS.parent / pid / "fd").iterdir():
        with suppress(OSError):
            if path.samefile(folder):
                return True
    return False
