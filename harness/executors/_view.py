"""A file system in which there is nothing but one folder and the programs of the system. Standard library only.

For what anybody may have written: it cannot read what its user could. See pivot_root(2), open_tree(2), move_mount(2).
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.executors import _namespaces
else:
    import sys

    _namespaces = sys.modules["_namespaces"]

#: What is shown besides the folder, as far as it is there: programs, their libraries, devices that keep nothing.
SHOWN = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
_OPEN_TREE, _MOVE_MOUNT, _HERE = 428, 429, -100
_CLONE, _RECURSIVE, _CLOSE_ON_EXEC, _FROM_DESCRIPTOR = 1, 0x8000, os.O_CLOEXEC, 4
_DETACH = 2
#: By machine; others have no filter of system calls, and nothing is shown so there.
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_LIBC = ctypes.CDLL(None, use_errno=True)


def see_only(folder: bytes) -> None:
    """Show this process nothing else. It must be in a process tree of its own. Raises OSError."""
    _namespaces.leave_mounts()
    place = Path(os.fsdecode(folder))
    taken = {shown: _taken(shown) for shown in map(Path, SHOWN) if shown.exists() and not shown.is_symlink()}
    taken[place] = _taken(place)
    _namespaces.mount(b"tmpfs", folder, b"tmpfs", _namespaces.NO_PROGRAMS)
    for path, tree in taken.items():
        _put(tree, place / path.relative_to("/"), is_folder=path.is_dir())
    for link in (shown for shown in map(Path, SHOWN) if shown.is_symlink()):
        (place / link.relative_to("/")).symlink_to(link.readlink())
    (place / "proc").mkdir()
    _namespaces.mount(b"proc", folder + b"/proc", b"proc", _namespaces.NO_PROGRAMS)
    os.chdir(folder)
    _checked(int(_LIBC.syscall(_PIVOT_ROOT[os.uname().machine], b".", b".")), "pivot_root")
    _checked(int(_LIBC.umount2(b".", _DETACH)), "umount2")
    os.chdir("/")
    _namespaces.bound_processes()
    _namespaces.only_writable(folder)


def _taken(path: Path) -> int:
    """A copy of the mounts at a path, which is nowhere yet."""
    flags = _CLONE | _RECURSIVE | _CLOSE_ON_EXEC
    return _checked(int(_LIBC.syscall(_OPEN_TREE, _HERE, os.fsencode(path), flags)), "open_tree")


def _put(tree: int, path: Path, *, is_folder: bool) -> None:
    if is_folder:
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    moved = _LIBC.syscall(_MOVE_MOUNT, tree, b"", _HERE, os.fsencode(path), _FROM_DESCRIPTOR)
    _checked(int(moved), "move_mount")
    os.close(tree)


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return result
