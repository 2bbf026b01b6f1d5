"""A workspace in one file: how it was at a moment, to be put back exactly there."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Collection
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from harness.documents import open_file
from harness.schema.base import Digest
from harness.workspace.removal import remove_tree

__all__ = ["restore", "save", "unreadable"]

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def save(root: Path, target: Path, *, apart: Collection[str] = ()) -> Digest:
    """Write everything below ``root`` (files, directories and links with modes and times) to ``target`` (0600).

    ``target`` is whole or absent; returns the digest of its bytes. Pipes, sockets and devices are left out, and the
    names ``apart``. Raises OSError.
    """
    beside = target.with_name(f".{target.name}.part")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, _NEW, 0o600)
    with open(descriptor, "w+b") as file:  # noqa: PTH123  (a descriptor)
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted({*os.listdir(root)} - {*apart}):  # noqa: PTH208  (names as the system has them)
                archive.add(root / name, arcname=name, filter=_ordinary)
        file.flush()
        os.fdatasync(descriptor)
        file.seek(0)
        seen = file_digest(file, "sha256").hexdigest()
    beside.replace(target)
    return f"sha256:{seen}"


def restore(root: Path, source: Path, *, apart: Collection[str] = ()) -> None:
    """Make what is below ``root`` again what it was when ``source`` was written; the names ``apart`` stay.

    Raises OSError, tarfile.TarError, or DocumentError where ``source`` is no regular file.
    """
    with open_file(source) as file:
        _put_back(root, file, apart)


def _put_back(root: Path, file: BinaryIO, apart: Collection[str]) -> None:
    for name in {*os.listdir(root)} - {*apart}:  # noqa: PTH208  (names as the system has them)
        path = root / name
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink()
    with tarfile.open(fileobj=file, mode="r") as archive:
        # an attribute and no argument: before 3.11.4 there were no filters
        archive.extraction_filter = _as_it_was
        archive.extractall(root)  # noqa: S202  (our own file: links may lead anywhere, modes are kept)


def unreadable(source: Path, digest: Digest | None) -> str | None:
    """Why a snapshot is not the one that was written, None where it is; without a ``digest`` it is only read through.

    Raises FileNotFoundError where it is not there (any more).
    """
    try:
        with source.open("rb") as file:
            if digest is not None:
                same = digest == f"sha256:{file_digest(file, 'sha256').hexdigest()}"
                return None if same else "is not what was kept under that name"
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for member in archive:
                    if member.isreg() and member.offset_data + member.size > os.fstat(file.fileno()).st_size:
                        return "ends in the middle"
    except FileNotFoundError:
        raise
    except OSError as error:
        return f"cannot be read: {error.strerror or type(error).__name__}"
    except tarfile.TarError:
        return "is no snapshot of a workspace"
    return None


def _as_it_was(member: tarfile.TarInfo, _: str) -> tarfile.TarInfo:
    return member


def _ordinary(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return member if member.isreg() or member.isdir() or member.issym() or member.islnk() else None
