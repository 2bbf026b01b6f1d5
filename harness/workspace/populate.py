"""Filling a workspace: directories, files and repositories, the same to the bit on every machine and at every date.

Paths are handled as UTF-8 bytes, so that names do not depend on the locale.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from harness.errors import MachineError, SetupRejectedError
from harness.schema.scenario import WorkspaceSpec
from harness.workspace.repository import REPOSITORY_DIRECTORIES, repository_files
from harness.workspace.reservation import Workspace
from harness.workspace.whole import write_whole

__all__ = ["MADE_AT_NS", "populate"]

#: Modification time of everything that is made here: 2026-01-01T00:00:00Z, in nanoseconds.
MADE_AT_NS = 1_767_225_600 * 10**9

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def populate(workspace: Workspace, spec: WorkspaceSpec) -> None:
    """Make what ``spec`` (bound: no placeholders left) describes: roots but the absent ones, repositories, files.

    Files have their exact modes and directories 0755, whatever the umask.

    Raises:
        SetupRejectedError: a path leaves its root, meets a link, is used twice, or cannot be made. It is named by its
            place in the scenario file, never by itself: it may hold anything.
        MachineError: the disc is full, or the machine lacks something else.
    """
    writer = _Writer(os.fsencode(workspace.root))
    writer.where = "workspace.roots"
    for name in spec.roots:
        if name not in spec.absent:
            writer.directory((name,))
    for name in spec.git:
        writer.where = "workspace.git"
        _usable(name, spec, writer.where)
        for path in REPOSITORY_DIRECTORIES:
            writer.directory((name, *path))
        for path, text in repository_files(spec.origin.get(name)):
            writer.file((name, *path), text.encode(), 0o644)
    for number, file in enumerate(spec.file):
        for at, place in enumerate(file.at):
            writer.where = f"workspace.file[{number}].at[{at}]"
            parts = _parts(place, writer.where)
            _usable(parts[0], spec, writer.where)
            writer.file(parts, _encoded(file.text, f"workspace.file[{number}].text"), int(file.mode, 8))
    writer.settle()


def _parts(place: str, where: str) -> tuple[str, ...]:
    """The path's parts, the first a root's name."""
    parts = tuple(place.split("/"))
    if len(parts) < 2 or "\0" in place or any(part in {"", ".", ".."} for part in parts):  # noqa: PLR2004  (root/path)
        raise SetupRejectedError(f"{where}: is not root/path inside the workspace")
    return parts


def _usable(root: str, spec: WorkspaceSpec, where: str) -> None:
    if root not in spec.roots:
        raise SetupRejectedError(f"{where}: names no root; there are: {', '.join(spec.roots)}")
    if root in spec.absent:
        raise SetupRejectedError(f"{where}: the root {root!r} is absent, nothing can be made in it")


def _encoded(text: str, where: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SetupRejectedError(f"{where}: not a text that UTF-8 can hold") from error


class _Writer:
    """Makes paths below one directory and remembers which, to set their times when nothing is written any more."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self.where = "workspace"
        self._directories: dict[tuple[str, ...], bytes] = {(): root}

    def directory(self, parts: tuple[str, ...]) -> bytes:
        """The directory's path, made where it is missing; each part of it is a real directory."""
        known = self._directories.get(parts)
        if known is not None:
            return known
        path = self.directory(parts[:-1]) + b"/" + _encoded(parts[-1], self.where)
        with _refused(self.where):
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, 0o755)  # noqa: PTH102  (bytes)
            found = os.lstat(path).st_mode
            if not stat.S_ISDIR(found):
                raise FileExistsError(path)
            if stat.S_IMODE(found) != 0o755:  # noqa: PLR2004  (the umask had its say in mkdir)
                os.chmod(path, 0o755)  # noqa: PTH101, S103  (bytes; the workspace around it is 0700)
        self._directories[parts] = path
        return path

    def file(self, parts: tuple[str, ...], data: bytes, mode: int) -> None:
        """A new file; one that exists, of any type, is refused."""
        path = self.directory(parts[:-1]) + b"/" + _encoded(parts[-1], self.where)
        with _refused(self.where):
            descriptor = os.open(path, _NEW_FILE, mode)
            try:
                write_whole(descriptor, data)
                if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
                    os.fchmod(descriptor, mode)
                os.utime(descriptor, ns=(MADE_AT_NS, MADE_AT_NS))
            finally:
                os.close(descriptor)

    def settle(self) -> None:
        """Set the directories' times."""
        with _refused("workspace"):
            for path in self._directories.values():
                os.utime(path, ns=(MADE_AT_NS, MADE_AT_NS))


@contextlib.contextmanager
def _refused(where: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise SetupRejectedError(f"{where}: is made twice, or something else is there") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        if isinstance(error, OSError) and error.errno in MachineError.NUMBERS:
            raise MachineError(f"{where}: cannot be made: {reason}") from error
        raise SetupRejectedError(f"{where}: cannot be made: {reason}") from error
