"""Raw texts of an episode, by digest, beside its journal."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from harness.documents import DocumentError, read_file
from harness.errors import StorageError
from harness.schema.base import Digest, digest_bytes

__all__ = ["DiskSpool", "MemorySpool", "Spool", "is_kept_as_named", "kept_attempts", "kept_reply"]


class Spool(Protocol):
    """Keeps bytes until the episode is closed."""

    def put(self, data: bytes) -> Digest:
        """Keep bytes; returns the digest to name them by."""

    def get(self, name: Digest) -> bytes:
        """The bytes of a digest. Raises KeyError where they are not (or no longer) kept, or not what was kept."""

    def put_reply(self, operation: str, attempt: int, data: bytes) -> Digest:
        """Keep an answer that was paid for before anybody reads it; ``reply`` finds it though no record names it."""

    def reply(self, operation: str, attempt: int) -> bytes | None:
        """The whole answer to an attempt, None where there is none or only a part of one."""

    def purge(self, keep: Digest | None = None) -> None:
        """Forget everything but what ``keep`` names."""


class MemorySpool:
    """Content-addressed, in memory only: nothing of it outlives the episode."""

    def __init__(self) -> None:
        self._texts: dict[Digest, bytes] = {}
        self._replies: dict[tuple[str, int], bytes] = {}

    def __repr__(self) -> str:
        return f"<MemorySpool: {len(self._texts)} texts>"

    def put(self, data: bytes) -> Digest:
        """Keep bytes; returns the digest to name them by."""
        name = digest_bytes(data)
        self._texts[name] = data
        return name

    def get(self, name: Digest) -> bytes:
        """The bytes of a digest. Raises KeyError where they are not (or no longer) kept."""
        return self._texts[name]

    def put_reply(self, operation: str, attempt: int, data: bytes) -> Digest:
        """Keep an answer under its attempt only."""
        self._replies[operation, attempt] = data
        return digest_bytes(data)

    def reply(self, operation: str, attempt: int) -> bytes | None:
        """The answer to an attempt."""
        return self._replies.get((operation, attempt))

    def purge(self, keep: Digest | None = None) -> None:
        """Forget everything but what ``keep`` names."""
        self._texts = {name: data for name, data in self._texts.items() if name == keep}
        self._replies.clear()


_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
#: No text of an episode is larger, in bytes.
_MOST_BYTES = 1 << 30
_MARK = b"harness-reply 1 "
_REPLY = re.compile(r"([a-z0-9-]+)\.([a-z0-9-]+)\.([0-9]{1,6})\.reply")


class DiskSpool:
    """Content-addressed files (0600) in a private folder (0700); what was put is synced before its name is known.

    An answer's file is named by operation and attempt, and starts with its length and digest: half of one is told from
    a whole one though the driver was killed before it could write a record (runner specification 2.6).
    """

    def __init__(self, folder: Path, *, sync: bool = True) -> None:
        self._folder, self._sync = folder, sync
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StorageError("the folder of the episode's texts", error) from error

    def __repr__(self) -> str:
        return f"<DiskSpool: {self._folder}>"

    def put(self, data: bytes) -> Digest:
        """Keep bytes; returns the digest to name them by. Raises StorageError."""
        name = digest_bytes(data)
        path = self._path(name)
        if not path.exists():
            self._write(path, data)
        return name

    def get(self, name: Digest) -> bytes:
        """The bytes of a digest. Raises KeyError where they are not there, or are not what was put."""
        try:
            data = read_file(self._path(name), most=_MOST_BYTES)
        except DocumentError as error:
            raise KeyError(name) from error
        if digest_bytes(data) != name:
            raise KeyError(name)
        return data

    def put_reply(self, operation: str, attempt: int, data: bytes) -> Digest:
        """Keep an answer under its attempt only: ``get`` does not find it. Raises StorageError."""
        name = digest_bytes(data)
        head = _MARK + f"{len(data)} {name}\n".encode("ascii")
        self._write(self._reply_path(operation, attempt), head + data)
        return name

    def reply(self, operation: str, attempt: int) -> bytes | None:
        """The whole answer to an attempt, None where there is none or only a part of one."""
        return kept_reply(self._folder, operation, attempt)

    def purge(self, keep: Digest | None = None) -> None:
        """Remove every file but that of ``keep``, and the folder where nothing is kept.

        What cannot be removed stays for the next purge.
        """
        kept = None if keep is None else self._path(keep).name
        with suppress(OSError):
            for entry in os.scandir(self._folder):
                if entry.name != kept:
                    with suppress(OSError):
                        Path(entry.path).unlink()
            self._folder.rmdir()

    def _path(self, name: Digest) -> Path:
        match = _DIGEST.fullmatch(name)
        if match is None:
            raise KeyError(name)
        return self._folder / match[1]

    def _reply_path(self, operation: str, attempt: int) -> Path:
        return _reply_path(self._folder, operation, attempt)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            beside = path.with_name(f".{path.name}.part")
            beside.unlink(missing_ok=True)
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                if self._sync:
                    os.fdatasync(descriptor)
            finally:
                os.close(descriptor)
            beside.replace(path)
            if self._sync:
                _sync_folder(self._folder)
        except OSError as error:
            raise StorageError("a text of the episode", error) from error


def kept_reply(folder: Path, operation: str, attempt: int) -> bytes | None:
    """The whole answer to an attempt in a spool's folder, whether that is there or not; None where there is none."""
    try:
        whole = read_file(_reply_path(folder, operation, attempt), most=_MOST_BYTES)
    except DocumentError:
        return None
    return _whole_reply(whole)


def kept_attempts(folder: Path) -> frozenset[tuple[str, int]]:
    """Operation and attempt of every answer in a spool's folder, whole or not; none where there is no folder."""
    try:
        names = [match for entry in os.scandir(folder) if (match := _REPLY.fullmatch(entry.name))]
    except OSError:
        return frozenset()
    return frozenset((f"{match[1]}/{match[2]}", int(match[3])) for match in names)


def is_kept_as_named(name: str, data: bytes) -> bool:
    """Whether the bytes of a spool's file are what was put there under its name; a reply tells its own digest."""
    return _whole_reply(data) is not None if name.endswith(".reply") else digest_bytes(data) == f"sha256:{name}"


def _whole_reply(whole: bytes) -> bytes | None:
    head, _, data = whole.partition(b"\n")
    told = head.removeprefix(_MARK).split(b" ")
    is_whole = head.startswith(_MARK) and told == [b"%d" % len(data), digest_bytes(data).encode("ascii")]
    return data if is_whole else None


def _reply_path(folder: Path, operation: str, attempt: int) -> Path:
    return folder / f"{operation.replace('/', '.')}.{attempt}.reply"


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
