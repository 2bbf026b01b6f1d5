"""One installer at a time, which leaves nothing behind where it fails."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["alone", "traceless"]


@contextmanager
def traceless(*folders: Path) -> Iterator[None]:
    """Directories made inside, on the way to ``folders`` too, are removed again where it fails and they are empty."""
    absent = {path for folder in folders for path in (folder, *folder.parents) if not os.path.lexists(path)}
    try:
        yield
    except BaseException:
        for path in sorted(absent, reverse=True):  # what lies deeper comes first
            with suppress(OSError):
                path.rmdir()
        raise


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold an exclusive lock; it ends with the process, whatever ends it. Where what is done fails, its file goes."""
    while True:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_still(file.fileno(), lock):  # who held it failed and took it away
                continue
            try:
                yield
            except BaseException:
                lock.unlink(missing_ok=True)
                raise
            return


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
