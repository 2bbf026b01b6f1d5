"""What a place lacks for programs to work in it, looked at from outside: no text of any program is believed."""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path

from harness.errors import MachineError

__all__ = ["shortage"]

#: Bytes that must fit on the disc, and inodes that must be free, for a failure to be the program's own.
ROOM_BYTES, ROOM_INODES = 1 << 20, 16

#: Below these limits of the system no control plane works whatever it is asked: open files, and bytes of memory.
_LEAST = (
    (resource.RLIMIT_NOFILE, 24, "open files"),
    (resource.RLIMIT_AS, 512 << 20, "bytes of address space"),
    (resource.RLIMIT_DATA, 256 << 20, "bytes of data"),
)


def shortage(folder: Path) -> str | None:
    """What is wanting now in ``folder`` or in this process, whose limits its children have; None where nothing is.

    A file of 1 MiB is written and vanishes again. Only wants count: a folder that may not be
    written, or is gone, is somebody's doing and no want.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
        state = os.statvfs(folder)
        if state.f_files and state.f_favail < ROOM_INODES:
            return f"only {state.f_favail} more files can be made on the workspace's disc"
    except OSError as error:
        if error.errno is not None and error.errno in MachineError.NUMBERS:
            return _said(error.errno)
    for kind, least, what in _LEAST:
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY and limit < least:
            return f"only {limit} {what} are allowed here"
    return None


def _said(number: int) -> str:
    return f"a file of {ROOM_BYTES} bytes cannot be made in the workspace: {os.strerror(number)}"
