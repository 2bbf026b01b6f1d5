"""What the machine refuses, as one line: a name that is too long, a full disk, a folder that may not be entered."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Final

from harness.errors import EnvironmentProblem, UsageError

__all__ = ["refuse_nul", "refused_by_machine"]

#: Errors that who runs a command, or the machine it runs on, can cause. Any other one is a bug of ours.
_CAUSES: Final = frozenset(
    (
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP),
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENXIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    )
)


def refused_by_machine(error: OSError) -> EnvironmentProblem | None:
    """The problem that nobody told in better words before; None for an error that only a bug of ours can cause."""
    if error.errno not in _CAUSES:
        return None
    place = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else ""
    said = os.strerror(error.errno)
    return EnvironmentProblem(f"{place}: {said}" if place else f"standard output cannot be written: {said}")


def refuse_nul(argv: Sequence[str]) -> None:
    """Raise UsageError for an argument that no system call takes; only a caller in this process can give one."""
    for number, argument in enumerate(argv, 1):
        if "\0" in argument:
            raise UsageError(f"argument {number} holds a NUL character, which no name and no text may hold")
