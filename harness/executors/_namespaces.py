"""Namespaces: a network without anybody, a process tree that ends as one, a file system that is read only.

Standard library only. See namespaces(7), pid_namespaces(7), user_namespaces(7) and mount_setattr(2). Whoever may not
make them directly makes a user namespace first, in which it is still the same user.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path

_NEW_MOUNT, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
#: Made once by a server, for itself and all that it starts.
_LASTING = _NEW_NET | _NEW_IPC | _NEW_MOUNT
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
#: Of a mount: no programs, no devices, no rights that a file gives.
NO_PROGRAMS = 0b1110
_MOUNT_SETATTR, _HERE, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
#: netdevice(7): what is asked to take an interface up.
_INTERNET, _DATAGRAM, _SET_FLAGS, _UP = 2, 2, 0x8914, 1
#: The highest process id in the tree of one call.
_PROCESSES = b"1024"
#: The first kernel that has it for each tree.
_BY_TREE = (6, 14)
#: Trees that began another one: no bound is set in them.
_OUTER: set[int] = set()
#: Open files where the system sets no limit.
_SOME_LIMIT = 65536


_LIBC = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace"))


def enter() -> str:
    """Leave the network and what processes share, and write no file, for good; how, or empty where it is not possible.

    ``direct`` is by the rights that this process has, ``user`` by a user namespace. It must have one thread. Whether
    all of it works, what a call needs too, is tried in a copy of the process first.
    """
    if not sys.platform.startswith("linux"):
        return ""
    for way in ("direct", "user"):
        if _works(way):
            _leave(way)
            return way
    return ""


def begin_tree(folder: bytes) -> int:
    """For what this process starts from now on: a process tree of its own, and ``folder`` can be written.

    Returns the process id of the tree's first process. When that one is killed the system kills all of them, whatever
    session or parent they have, and none can start another. It ends with this process. Raises OSError.
    """
    _OUTER.add(_own_tree())
    _unshare(_NEW_PID | _NEW_MOUNT)
    mount(folder, folder, None, _BIND | _RECURSIVE)
    _set_attributes(folder, 0, _MountAttributes(clear=_READ_ONLY))
    reader, _ = os.pipe()  # the other end is held by this process alone, to its end
    pid = os.fork()
    if pid == 0:
        _be_first(reader)
    os.close(reader)
    return pid


def own_loopback() -> None:
    """Leave the network for a new one with what is started: a loopback, and nobody else. Raises OSError."""
    _unshare(_NEW_NET)
    asking = _LIBC.socket(_INTERNET, _DATAGRAM, 0)
    if asking < 0:
        raise OSError(ctypes.get_errno(), "socket")
    try:
        if _LIBC.ioctl(asking, _SET_FLAGS, struct.pack("=16sh14x", b"lo", _UP)) != 0:
            raise OSError(ctypes.get_errno(), "ioctl")
    finally:
        os.close(asking)


def show_own_processes() -> None:
    """In a process of a new tree: let ``/proc`` show that tree only, and bound it. Where this is refused nothing is."""
    with suppress(OSError):
        mount(b"proc", b"/proc", b"proc", NO_PROGRAMS)
        bound_processes()


def bound_processes() -> None:
    """Bound the processes of this process's tree, where the kernel counts them for each; elsewhere it would be all."""
    if _counts_by_tree(os.uname().release) and _own_tree() not in _OUTER:
        with suppress(OSError):
            Path("/proc/sys/kernel/pid_max").write_bytes(_PROCESSES)


def leave_mounts() -> None:
    """From now on mounts are this process's own. Raises OSError."""
    _unshare(_NEW_MOUNT)


def only_writable(folder: bytes) -> None:
    """Make everything but ``folder``, which is a mount, read only. Raises OSError."""
    _set_attributes(b"/", _AT_RECURSIVE, _MountAttributes(set=_READ_ONLY))
    _set_attributes(folder, 0, _MountAttributes(clear=_READ_ONLY))


def _own_tree() -> int:
    """Which process tree this process is in."""
    return Path("/proc/self/ns/pid").stat().st_ino


def _counts_by_tree(release: str) -> bool:
    """Whether a kernel of that name has a highest process id for each tree, and not one for the whole machine."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= _BY_TREE


def _works(way: str) -> bool:
    """Whether a copy of this process can do all of it."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _leave(way)
            code = int(begin_tree(os.fsencode(Path(__file__).parent)) == 0)
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _leave(way: str) -> None:
    if way == "user":
        user, group = os.geteuid(), os.getegid()
        _unshare(_NEW_USER | _LASTING)
        place = Path("/proc/self")
        (place / "setgroups").write_bytes(b"deny")
        (place / "uid_map").write_bytes(b"%d %d 1" % (user, user))
        (place / "gid_map").write_bytes(b"%d %d 1" % (group, group))
    else:
        _unshare(_LASTING)
    mount(None, b"/", None, _RECURSIVE | _PRIVATE)
    _set_attributes(b"/", _AT_RECURSIVE, _MountAttributes(set=_READ_ONLY))


def _be_first(parent: int) -> None:
    """The first process of a tree: it takes over orphans and reaps them, and does nothing else. Does not return."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.closerange(0, parent)
        limit = os.sysconf("SC_OPEN_MAX")
        os.closerange(parent + 1, limit if limit > 0 else _SOME_LIMIT)
        os.read(parent, 1)
    finally:
        os._exit(0)


def _unshare(flags: int) -> None:
    if _LIBC.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int) -> None:
    """The system call of that name. Raises OSError."""
    if _LIBC.mount(source, target, kind, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), "mount")


def _set_attributes(path: bytes, how: int, attributes: _MountAttributes) -> None:
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    if _LIBC.syscall(_MOUNT_SETATTR, _HERE, path, how, ctypes.byref(attributes), size) != 0:
        raise OSError(ctypes.get_errno(), "mount_setattr")
