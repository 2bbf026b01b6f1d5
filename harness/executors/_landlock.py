"""Landlock: from now on this process and what it starts write below one folder only. Standard library only.

The kernel interface is that of landlock(7). What cannot be handled by the running kernel is left out, so that what is
really held has to be measured. Attributes of files (mode, owner, times) are not Landlock's business.
"""

from __future__ import annotations

import ctypes
import os
import sys

#: System calls; the same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _RULE_PATH_BENEATH = 1, 1
#: Before this version a file outside can be emptied; before the second nothing is moved from one folder to another.
OLDEST = 3

#: Rights by the version that first knows them: writing and truncating a file, removing, making, and moving entries.
_WRITE_FILE, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 14, 1 << 15
_ENTRIES = sum(1 << bit for bit in range(4, 13)) | 1 << 13
_BY_VERSION = ((1, _WRITE_FILE | _ENTRIES), (3, _TRUNCATE), (5, _IOCTL_DEV))
#: Binding and connecting TCP sockets; abstract Unix sockets and signals to processes outside.
_TCP, _TCP_VERSION = 0b11, 4
_SCOPES, _SCOPES_VERSION = 0b11, 6
#: Devices that keep nothing.
_HARMLESS = (b"/dev/null", b"/dev/zero", b"/dev/full")


_LIBC = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The version that the kernel speaks; 0 where it has none, or has it switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)))


def restrict(folder: bytes, abi: int, *, tcp: bool = False) -> None:
    """Keep to ``folder`` for good, as far as version ``abi`` can; no-new-privileges must be set. Raises OSError.

    ``tcp``: TCP stays, for it reaches nobody.
    """
    handled = sum(rights for since, rights in _BY_VERSION if abi >= since)
    ruleset = _Ruleset(
        handled, _TCP if abi >= _TCP_VERSION and not tcp else 0, _SCOPES if abi >= _SCOPES_VERSION else 0
    )
    size = 24 if abi >= _SCOPES_VERSION else 16 if abi >= _TCP_VERSION else 8
    made = _call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0)
    try:
        _allow(made, folder, handled)
        for device in _HARMLESS:
            _allow(made, device, handled & (_WRITE_FILE | _TRUNCATE | _IOCTL_DEV))
        _call(_RESTRICT_SELF, made, 0)
    finally:
        os.close(made)


def _allow(ruleset: int, path: bytes, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(rights, place)
        _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    result = int(_LIBC.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "landlock")
    return result
