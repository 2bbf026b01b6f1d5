"""Removing a directory that a stranger filled: read-only parts, odd names, any depth, links never followed.

Standard library only: as a script it removes the directories whose paths, each with a NUL behind it, it reads, and
answers each with the byte ``GONE`` or another one, until its input ends.
"""

from __future__ import annotations

import itertools
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["GONE", "SCRIPT", "is_removed", "remove_tree"]

#: This file, as a script.
SCRIPT: Final = __file__

#: The script's answer where a directory is gone, as a byte.
GONE: Final = ord("1")
_LEFT: Final = ord("0")
#: A process that outlived its time may still be writing: so often a removal is tried.
_TRIES: Final = 3

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path) -> None:
    """Remove a directory with all that is in it; nothing happens where it does not exist.

    Raises:
        OSError: a part of it cannot be removed by this user.
    """
    try:
        _unlock(os.fspath(path), None)
        top = os.open(path, _DIRECTORY)
    except FileNotFoundError:
        return
    try:
        fresh = (f".lifted-{number}" for number in itertools.count())
        while names := os.listdir(top):  # noqa: PTH208  (an open directory)
            lifted = [name for name in names if _remove_entry(top, name, fresh)]
            if not lifted:
                break
    finally:
        os.close(top)
    path.rmdir()


def is_removed(path: Path) -> bool:
    """Remove a directory with all that is in it; False where a part of it could not be."""
    for _ in range(_TRIES):
        with suppress(OSError):
            remove_tree(path)
            return True
    return False


def _remove_entry(top: int, name: str, fresh: Iterator[str]) -> bool:
    """Remove ``name`` from the directory ``top``; the directories in it are lifted into ``top`` to wait their turn.

    So two open directories and no recursion are enough for any depth, and no path ever grows longer. Returns whether
    any was lifted.
    """
    if _unlink(top, name) or _is_removed_empty(top, name):
        return False
    _unlock(name, top)
    inner = os.open(name, _DIRECTORY, dir_fd=top)
    try:
        children = os.listdir(inner)  # noqa: PTH208  (an open directory)
        lifted = [child for child in children if not _unlink(inner, child)]
        for child in lifted:
            _lift(inner, child, top, fresh)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)
    return bool(lifted)


def _is_removed_empty(folder: int, name: str) -> bool:
    """Whether a directory was empty, and is gone."""
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _unlink(folder: int, name: str) -> bool:
    """Whether ``name`` is gone: False means that it is a directory."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        return False
    except PermissionError:
        if stat.S_ISDIR(_mode(folder, name)):  # what macOS says of a directory
            return False
        raise
    return True


def _lift(source: int, name: str, target: int, fresh: Iterator[str]) -> None:
    _unlock(name, source)  # a directory that is moved must be writable, its ".." changes
    candidate = next(fresh)
    while _exists(target, candidate):
        candidate = next(fresh)
    os.rename(name, candidate, src_dir_fd=source, dst_dir_fd=target)


def _unlock(name: str, folder: int | None) -> None:
    mode = _mode(folder, name)
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=folder)


def _mode(folder: int | None, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode


def _exists(folder: int, name: str) -> bool:
    try:
        _mode(folder, name)
    except FileNotFoundError:
        return False
    return True


def _main() -> None:
    rest = b""
    while read := os.read(0, 1 << 16):
        *paths, rest = (rest + read).split(b"\0")
        for path in paths:
            sys.stdout.buffer.write(bytes([GONE if is_removed(Path(os.fsdecode(path))) else _LEFT]))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # whoever asked has ended, and what was asked for is left to a sweep
        _main()
