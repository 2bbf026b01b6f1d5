"""Full texts kept in one folder of the workspace: written once, never over anything, never outside."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal

from harness.schema.base import Digest

__all__ = ["FOLDER", "PATH_MAX", "ArtifactFolder", "Refusal", "artifact_path"]

#: The folder, in the workspace beside its roots; no root can have this name.
FOLDER = "tool-results"
#: Longest path of an artifact, in characters.
PATH_MAX = 1_024
#: Largest artifact, in bytes.
BYTES_MAX = 64 << 20

#: Why nothing was kept: no path of the folder, something else is there, the system does not let us.
Refusal = Literal["path_invalid", "exists", "unwritable"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def artifact_path(kind: str, content: Digest) -> str:
    """Where a text of that digest is kept, relative to the workspace."""
    return f"{FOLDER}/{kind}-{content.removeprefix('sha256:')[:16]}.txt"


class ArtifactFolder:
    """The folder in one workspace; it is made when something is first kept. Links are not followed."""

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER

    def write(self, path: str, data: bytes) -> Refusal | None:
        """Keep bytes (0600) at ``path``, a new name in the folder; None where they are there now.

        What is there already stays as it is; where it is exactly these bytes nothing is left to do.
        """
        name = _name(path)
        if name is None:
            return "path_invalid"
        try:
            with suppress(FileExistsError):
                self._folder.mkdir(0o700)
            folder = os.open(self._folder, _FOLDER)
        except OSError:
            return "unwritable"
        try:
            return _written(folder, name, data)
        except FileExistsError:
            return None if self.read(path) == data else "exists"
        except (OSError, ValueError):  # a name that has no bytes is no file's
            return "unwritable"
        finally:
            os.close(folder)

    def read(self, path: str) -> bytes | None:
        """The bytes at ``path``, None where there is no such regular file or it is too large."""
        name = _name(path)
        if name is None:
            return None
        try:
            folder = os.open(self._folder, _FOLDER)
        except OSError:
            return None
        try:
            descriptor = os.open(name, _OLD, dir_fd=folder)
        except (OSError, ValueError):  # a name that has no bytes is no file's
            return None
        finally:
            os.close(folder)
        with open(descriptor, "rb") as file:  # noqa: PTH123  (a descriptor)
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > BYTES_MAX:
                return None
            return file.read(BYTES_MAX)


def _name(path: str) -> str | None:
    """The name of an artifact in the folder; None for anything that is no path of one."""
    folder, _, name = path.partition("/")
    if len(path) > PATH_MAX or folder != FOLDER or name in {"", ".", ".."} or "/" in name or "\0" in name:
        return None
    return name


def _written(folder: int, name: str, data: bytes) -> Refusal | None:
    """Raises FileExistsError where something is there, OSError where nothing could be made."""
    if len(data) > BYTES_MAX:
        return "unwritable"
    descriptor = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        os.unlink(name, dir_fd=folder)
        return "unwritable"
    finally:
        os.close(descriptor)
    return None
