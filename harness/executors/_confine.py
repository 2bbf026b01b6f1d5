"""What a server does so that what it runs reaches nothing but one folder. Standard library only, see ``_forkserver``.

A server finds out once what the machine offers (``prepare``); from then on every call of it gets all of that, or is not
run. Nothing here claims to hold: what holds is measured, see ``sandbox``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.executors import _landlock, _namespaces, _seccomp, _view
else:
    import sys

    _landlock, _namespaces, _seccomp, _view = (
        sys.modules[name] for name in ("_landlock", "_namespaces", "_seccomp", "_view")
    )

_NO_NEW_PRIVILEGES = 38  # prctl(2)
_CAPABILITY_VERSION = 0x20080522
#: The right to read and write files whatever their mode: a superuser has it, and keeps it where it may write at all.
_OVERRIDE = 1 << 1
#: Largest file that a process may write, and most memory of its own that it may have, in bytes; processes of one user.
_FILE_BYTES, _MEMORY_BYTES, _PROCESSES = 1 << 30, 8 << 30, 1024

_LIBC = ctypes.CDLL(None, use_errno=True)


class Means:
    """What the machine offers: ``ways`` names it."""

    def __init__(self, landlock: int, tree: str, *, filtered: bool) -> None:
        self._landlock, self._tree, self._filtered = landlock, tree, filtered

    @property
    def ways(self) -> list[str]:
        """``landlock-VERSION``, ``seccomp``, ``namespaces-direct`` or ``namespaces-user``; none of them is possible."""
        found = [f"landlock-{self._landlock}"] if self._landlock else []
        found += ["seccomp"] if self._filtered else []
        return found + ([f"namespaces-{self._tree}"] if self._tree else [])

    def begin(self, folder: bytes, *, loopback: bool = False) -> int:
        """In a call's supervisor, before anything of the call is started; 0, or the first process of its tree.

        ``loopback``: the call has one of its own. Raises OSError.
        """
        if not self._tree:
            return 0
        if loopback:
            _namespaces.own_loopback()
        return _namespaces.begin_tree(folder)

    def enter(self, folder: bytes, seconds: float, *, alone: bool = False, loopback: bool = False) -> None:
        """In a call's worker: it writes below ``folder`` only from now on; its bound is in seconds.

        ``alone``: it sees nothing else either. ``loopback``: it may use that of its own, see ``begin``. Raises OSError,
        also where that cannot be held.
        """
        if loopback and not self._tree:
            raise OSError(errno.ENOTSUP, "loopback")
        if alone and not (self._tree and self._filtered):
            raise OSError(errno.ENOTSUP, "alone")
        if alone:
            _view.see_only(folder)
        elif self._tree:
            _namespaces.show_own_processes()
        _drop_rights()
        if _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        if self._landlock:
            _landlock.restrict(folder, self._landlock, tcp=loopback)
        self._set_limits(seconds)
        if self._filtered:
            _seccomp.restrict(loopback=loopback)

    def _set_limits(self, seconds: float) -> None:
        """Bounds of one process each: none that a program meets within the time of its call but a runaway one."""
        bounds = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: _FILE_BYTES,
            resource.RLIMIT_DATA: _MEMORY_BYTES,
            resource.RLIMIT_CPU: int(seconds * (os.cpu_count() or 1)) + 1,
        }
        if self._tree == "user":  # elsewhere what the user runs besides would count
            bounds[resource.RLIMIT_NPROC] = _PROCESSES
        for which, bound in bounds.items():
            hard = resource.getrlimit(which)[1]
            most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            resource.setrlimit(which, (most, most))


def prepare() -> Means:
    """Find out what there is, and leave the network where that is possible: for this process too, and for good."""
    landlock = _landlock.version()
    filtered = _filter_works()
    tree = _namespaces.enter()
    return Means(landlock if landlock >= _landlock.OLDEST else 0, tree, filtered=filtered)


def _filter_works() -> bool:
    """Whether a copy of this process can set the filter."""
    if not _seccomp.supported():
        return False
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            _seccomp.restrict()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _drop_rights() -> None:
    """Give up what a superuser may, in this process and in what it starts, but for reading and writing its files."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()
    if _LIBC.capget(header, held) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    kept = held[1] & _OVERRIDE if os.geteuid() == 0 else 0
    if _LIBC.capset(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)) != 0:
        raise OSError(ctypes.get_errno(), "capset")
