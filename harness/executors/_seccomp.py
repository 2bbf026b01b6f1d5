"""A filter of system calls: no socket that could reach anybody, nothing that outlives its process.

Standard library only. A Unix socket with a path is reached from every network namespace, and Landlock does not know
UDP: so nobody gets a socket at all, but for those of a network of one's own. Pairs of connected stream sockets stay,
which programs use as pipes; pairs of datagram sockets do not, for what is sent on them may name an address. Rings
(io_uring) would make sockets past this filter; keys stay when their process ends.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from functools import cache

_SET_SECCOMP, _FILTER = 22, 2  # prctl(2)
#: Of classic BPF: load a word, jump where equal, jump where greater or equal, and a bit by bit, return.
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
#: Offsets in what the filter sees: the call's number, the architecture, the low halves of the first two arguments.
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24
#: Domains of sockets: IPv4 and IPv6.
_INTERNET = (2, 10)
_TYPE_MASK, _DATAGRAM, _RAW = 0xF, 2, 3
#: On x86-64: numbers from here on are those of its other interface.
_X32 = 0x40000000

#: By machine: the kernel's name for it; the numbers of socket, socketpair and what handles keys. Others have no filter.
_MACHINES = {
    "x86_64": (0xC000003E, 41, 53, (248, 249, 250)),
    "aarch64": (0xC00000B7, 198, 199, (217, 218, 219)),
}
#: io_uring_setup, io_uring_enter, io_uring_register: the same on every architecture.
_RINGS = (425, 426, 427)


_LIBC = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def supported() -> bool:
    """Whether there is a filter for this machine. Whether the kernel takes it shows when it is set."""
    return sys.platform.startswith("linux") and os.uname().machine in _MACHINES and sys.maxsize > 1 << 32


def restrict(*, loopback: bool = False) -> None:
    """Set the filter for good, for what is started too; no-new-privileges must be set. Raises OSError.

    ``loopback``: there are sockets of IPv4 and IPv6, for a network in which nobody else is.
    """
    code = _program(os.uname().machine, loopback=loopback)
    program = _Program(len(code) // 8, code)
    if _LIBC.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


@cache
def _program(machine: str, *, loopback: bool) -> bytes:
    arch, socket, pair, keys = _MACHINES[machine]
    steps = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)]
    for number in (*_RINGS, *keys):
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)]
    if loopback:
        steps += [
            (_EQUAL, 0, 5, socket),
            (_LOAD, 0, 0, _FIRST),
            (_EQUAL, 2, 0, _INTERNET[0]),
            (_EQUAL, 1, 0, _INTERNET[1]),
            (_RETURN, 0, 0, _REFUSE | errno.EACCES),
            (_RETURN, 0, 0, _ALLOW),
        ]
    steps += [
        (_EQUAL, 0, 1, socket),
        (_RETURN, 0, 0, _REFUSE | errno.EACCES),
        (_EQUAL, 0, 5, pair),
        (_LOAD, 0, 0, _SECOND),
        (_AND, 0, 0, _TYPE_MASK),
        (_EQUAL, 1, 0, _DATAGRAM),
        (_EQUAL, 0, 1, _RAW),
        (_RETURN, 0, 0, _REFUSE | errno.EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
