"""Where recordings lie, and how they are written: whole or not at all, and never over another by accident."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from harness.documents import make_folder
from harness.errors import HarnessError, StoreError
from harness.recording.codec import Entry, Lines, dump, load
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_json
from harness.schema.recording import Exchange, PlaneAnswer, Recording, RecordingHeader

__all__ = ["PARTIAL", "SUFFIX", "RecordingWriter", "find", "orphans", "partials", "prune", "recording_path", "write"]

SUFFIX: Final = ".jsonl"
#: Ends the name of a file that is being written, and of what an interrupted recording left behind.
PARTIAL: Final = ".partial"

_UNSAFE = re.compile(r"[^a-z0-9.]+")
_SLUG_MAX = 60


def recording_path(
    folder: Path, scenario: str, actor: ActorIdentity, trial: int = 1, attempt: int = 1, *, version: str = ""
) -> Path:
    """``folder/PACK/NAME/PROVIDER--SLUG.jsonl``; the slug is made of the model and a digest.

    The ``version`` of the control plane is named in it where it must be told from others, and so are a trial and an
    attempt beyond the first.

    The digest is over model and settings and not over the address: a server on another port is no other actor.
    """
    settings = None if actor.settings is None else actor.settings.model_dump(mode="json")
    digest = digest_json([actor.provider, actor.model or actor.ref, settings]).removeprefix("sha256:")[:8]
    slug = f"{_safe(actor.model or actor.ref)}-{digest}" + (f"-on-{_safe(version)}" if version else "")
    slug += f"-t{trial}" if trial != 1 else ""
    slug += f"-a{attempt}" if attempt != 1 else ""
    return folder / scenario / f"{_safe(actor.provider or actor.kind)}--{slug}{SUFFIX}"


def find(folder: Path, scenario: str) -> tuple[Path, ...]:
    """The recordings of a scenario, by name; whether they can be read is not looked at. Raises StoreError."""
    return tuple(
        path for path in _files(folder / scenario) if path.suffix == SUFFIX and path.parent == folder / scenario
    )


def orphans(folder: Path, known: Collection[str]) -> tuple[Path, ...]:
    """Recordings below ``folder`` that belong to no scenario in ``known`` (ids), by name. Raises StoreError."""
    return tuple(
        path
        for path in _files(folder)
        if path.suffix == SUFFIX and path.parent.relative_to(folder).as_posix() not in known
    )


def partials(folder: Path) -> tuple[Path, ...]:
    """What interrupted recordings left below ``folder``, by name. Raises StoreError."""
    return tuple(path for path in _files(folder) if path.suffix == PARTIAL)


def prune(folder: Path, spared: Collection[Path] = (), above: Iterable[Path] = ()) -> None:
    """Remove the empty folders below ``folder``, and it, but those that are ``spared``.

    ``above`` are folders that were made to hold it, the innermost first.
    """
    below = sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True) if folder.is_dir() else []
    for path in (*below, folder, *above):
        if path not in spared:
            with suppress(OSError):  # it is not there, or not empty
                path.rmdir()


def write(path: Path, recording: Recording, guard: SecretGuard, *, replace: bool = False) -> Recording:
    """Write a recording, sealed, and read it back.

    Raises:
        StoreError: there is a file already and ``replace`` is not set, or it cannot be written; an older file stays.
        RedactionError: a secret was about to be written; nothing is.
    """
    data = dump(recording.header, recording.exchanges, recording.answers)
    guard.check(data, path.name)
    _refuse_to_replace(path, replace=replace)
    beside, descriptor = _claim(path)
    try:
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _put(beside, path, replace=replace)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            beside.unlink()
    return load(data, str(path))


class RecordingWriter:
    """Keeps a recording while it is made: each entry is in a partial file, synced, when ``add`` returns.

    ``finish`` puts the whole recording in its place and the partial file goes. Without it the partial file stays: it
    has no seal, its name is not that of a recording, and nobody takes it for one. Two writers of one path each have
    their own. Raises StoreError at once where the file is there already and ``replace`` is not set.
    """

    def __init__(self, path: Path, header: RecordingHeader, guard: SecretGuard, *, replace: bool = False) -> None:
        self._path, self._header, self._guard, self._replace = path, header, guard, replace
        self._lines = Lines()
        self._entries: list[Entry] = []
        first = self._lines.line(header)
        guard.check(first, path.name)
        _refuse_to_replace(path, replace=replace)
        self.partial, self._descriptor = _claim(path)
        self._append(first)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def add(self, entry: Entry) -> None:
        """Keep one exchange or answer. Raises StoreError, or RedactionError where a secret was about to be written."""
        if self._descriptor < 0:
            raise HarnessError("a recording that was finished or closed takes no more entries")
        line = self._lines.line(entry)
        self._guard.check(line, self._path.name)
        self._append(line)
        self._entries.append(entry)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Those that were added so far."""
        return tuple(entry for entry in self._entries if isinstance(entry, Exchange))

    def finish(self, header: RecordingHeader | None = None, exchanges: tuple[Exchange, ...] | None = None) -> Recording:
        """The recording, in its place; under ``header`` where more is known by now than at the beginning.

        ``exchanges`` are those of the added that count, where not all do. Raises StoreError; the partial file stays
        then.
        """
        exchanges = self.exchanges if exchanges is None else exchanges
        answers = tuple(entry for entry in self._entries if isinstance(entry, PlaneAnswer))
        made = Recording(header=header or self._header, exchanges=exchanges, answers=answers, digest="")
        recording = write(self._path, made, self._guard, replace=self._replace)
        self.discard()
        return recording

    def discard(self) -> None:
        """Drop what was kept: the partial file goes."""
        self.close()
        with suppress(OSError):
            self.partial.unlink()

    def close(self) -> None:
        """Release the partial file, which stays where ``finish`` has not been; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _append(self, line: bytes) -> None:
        try:
            _write_all(self._descriptor, line)
            os.fsync(self._descriptor)
        except OSError as error:
            self.close()
            raise _cannot_write(self.partial, error) from error


def _safe(text: str) -> str:
    """Lower-case letters, digits, dots and single dashes; neither empty nor hidden."""
    return _UNSAFE.sub("-", text.lower())[:_SLUG_MAX].strip("-.") or "unnamed"


def _files(folder: Path) -> list[Path]:
    """All files below a folder; none where it is not there. One that cannot be looked into is not an empty one."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise StoreError(f"{folder}: cannot be read: {error.strerror or type(error).__name__}") from error

    return sorted(Path(place) / name for place, _, names in os.walk(folder, onerror=refuse) for name in names)


def _refuse_to_replace(path: Path, *, replace: bool) -> None:
    if not replace and os.path.lexists(path):
        raise StoreError(f"{path}: there is a recording already; --replace writes a new one over it")


def _claim(path: Path) -> tuple[Path, int]:
    """A new partial file beside ``path``, made exclusively, open for appending, and locked as long as it is."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        make_folder(path.parent)
        for number in count(1):
            infix = "" if number == 1 else f".{number}"
            beside = path.with_name(f"{path.name}{infix}{PARTIAL}")
            with suppress(FileExistsError):
                descriptor = os.open(beside, flags, 0o644)
                with suppress(OSError):  # without locks nobody can tell that it is being written
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return beside, descriptor
    except OSError as error:
        raise _cannot_write(path, error) from error
    raise AssertionError(path)


def _put(beside: Path, path: Path, *, replace: bool) -> None:
    """Give the file its name; without ``replace`` only if nobody has it, which one system call decides."""
    if replace:
        beside.replace(path)
    else:
        try:
            os.link(beside, path)
        except FileExistsError:
            _refuse_to_replace(path, replace=False)
        except OSError:
            # A file system without links: what was asked at the start has to do.
            beside.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _cannot_write(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}")
