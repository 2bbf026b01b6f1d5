"""One writer a run folder: the folder itself is locked, so that a killed writer's lock is gone with it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from harness.errors import StoreError

__all__ = ["sole"]


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
        raise StoreError(f"{folder}: another run is writing here; wait for its end, or give another folder") from error
    return descriptor
