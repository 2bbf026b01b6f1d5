"""Bytes from a file that a user named, which may be anything: a folder, a pipe, a device without an end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["SIZE_MAX", "DocumentError", "decoded", "open_file", "read_file"]

#: Largest file that people write by hand (scenarios, scripts, policies, settings), in bytes.
SIZE_MAX: Final = 1_048_576

#: Opening a pipe would otherwise wait until somebody writes into it.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class DocumentError(ValueError):
    """What is wrong with a document: ``str(error)`` is the rest of a sentence that begins with the file's name.

    ``path`` leads to the place in its value (keys and indices), empty where that is not known; ``line`` counts from 1,
    None where it is not known; ``allowed`` says what may stand there. ``missing``: there is no such file.
    """

    def __init__(
        self,
        problem: str,
        *,
        line: int | None = None,
        path: tuple[str | int, ...] = (),
        allowed: str = "",
        missing: bool = False,
    ) -> None:
        self.problem, self.line, self.path, self.allowed, self.missing = problem, line, path, allowed, missing
        super().__init__(problem)


def open_file(path: Path | str) -> BinaryIO:
    """A regular file, open for reading. Raises DocumentError for anything else."""
    try:
        file = open(os.open(path, _FLAGS), "rb")  # noqa: PTH123, SIM115  (a descriptor; the caller closes it)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        raise DocumentError(f"cannot be read: {error.strerror or type(error).__name__}", missing=gone) from None
    except ValueError:
        raise DocumentError("cannot be read: its name holds a NUL character") from None
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        raise DocumentError(f"cannot be read: {'Is a directory' if stat.S_ISDIR(mode) else 'it is no regular file'}")
    return file


def read_file(path: Path | str, *, most: int = SIZE_MAX) -> bytes:
    """The bytes of a regular file. Raises DocumentError for anything else, and for more than ``most`` bytes."""
    try:
        with open_file(path) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror or type(error).__name__}") from None
    if len(data) > most:
        raise DocumentError("is too large", allowed=f"at most {most} bytes")
    return data


def decoded(data: bytes) -> str:
    """The text in UTF-8 bytes. Raises DocumentError with the line."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("is no UTF-8 text", line=data.count(b"\n", 0, error.start) + 1) from None
