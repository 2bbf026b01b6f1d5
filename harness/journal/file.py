"""One journal in one file: a line that names the format, then a record a line.

The last line may be half written, for a driver may be killed in the middle of a write: it is ignored when the file is
read, and cut off at the first append. Anything else that does not fit is refused, and the file stays as it is. Raw
texts are never in it; it is private (0600) all the same.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness.documents import DocumentError, read_file
from harness.errors import OpeningRefusedError, StorageError
from harness.journal.chain import START, verify
from harness.journal.vocabulary import foreign_record
from harness.schema.base import digest_bytes
from harness.schema.record import (
    Closed,
    Decided,
    OpNotSent,
    OpParked,
    OpReceipt,
    OpStarted,
    OpUnknown,
    Record,
    Suspended,
    TurnCommitted,
)

__all__ = ["JournalDamage", "JournalFile", "intact", "journal_damage"]

FORMAT, VERSION = "harness-journal", 1
#: Kinds that are on disk before the next thing happens (runner specification 2.6); the records before them are too,
#: for one file is synced as a whole.
SYNCED = (OpStarted, OpReceipt, OpUnknown, OpNotSent, OpParked, Decided, Suspended, TurnCommitted, Closed)

#: No journal is larger, in bytes.
_MOST_BYTES = 1 << 30

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class JournalFile:
    """An open journal: ``records`` are those that were in it, ``write`` adds one.

    Raises OpeningRefusedError for a link or a special file (``setup_rejected``), a format that is not read
    (``journal_version_unsupported``), and damage (``journal_integrity_mismatch``).
    """

    def __init__(self, path: Path, *, sync: bool = True) -> None:
        self._path, self._sync = path, sync
        self._descriptor = _open(path)
        try:
            data = _whole(self._descriptor)
            self.records: tuple[Record, ...]
            self.records, self._end, damage = _read(data)
        except BaseException:
            self.close()
            raise
        if damage is not None:
            self.close()
            raise damage
        self._torn = len(data) > self._end

    def write(self, record: Record) -> None:
        """Append one record; synced where its kind is a boundary. Raises StorageError, and then nothing was added."""
        text = record.model_dump_json() + "\n"
        data = text.encode("utf-8") if self._end else _header() + text.encode("utf-8")
        try:
            if self._torn:
                os.ftruncate(self._descriptor, self._end)
                self._torn = False
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if self._sync and isinstance(record.payload, SYNCED):
                os.fdatasync(self._descriptor)
            self._end += len(data)
        except BaseException as error:
            self._torn = True  # whatever of it is there is cut off before anything follows
            if isinstance(error, OSError):
                raise StorageError("the journal", error) from error
            raise

    def start_anew(self) -> None:
        """Forget all records, those on disk too. Raises StorageError."""
        try:
            os.ftruncate(self._descriptor, 0)
        except OSError as error:
            raise StorageError("the journal", error) from error
        self.records, self._end, self._torn = (), 0, False

    def close(self) -> None:
        """Release the file; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _header() -> bytes:
    return (json.dumps({"format": FORMAT, "version": VERSION}) + "\n").encode("ascii")


def _open(path: Path) -> int:
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise OpeningRefusedError("setup_rejected", f"the journal cannot be opened: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OpeningRefusedError("setup_rejected", "the journal is no regular file")
    return descriptor


def _whole(descriptor: int) -> bytes:
    with open(os.dup(descriptor), "rb", buffering=0) as file:  # noqa: PTH123  (a descriptor)
        file.seek(0)
        return file.read()


def intact(path: Path) -> tuple[Record, ...]:
    """The records before the first damage of a journal, as many as can be read; the file stays as it is."""
    try:
        return _read(read_file(path, most=_MOST_BYTES))[0]
    except DocumentError:
        return ()


@dataclass(frozen=True, slots=True)
class JournalDamage:
    """Why a journal is not gone on with, in a line; ``is_foreign``: it is as it was written, by another version."""

    problem: str
    is_foreign: bool = False


def journal_damage(path: Path) -> JournalDamage | None:
    """What keeps a journal from being gone on with; None for nothing, and for a last line that a kill tore."""
    try:
        damage = _read(read_file(path, most=_MOST_BYTES))[2]
    except DocumentError as error:
        return JournalDamage("is not there" if error.missing else error.problem)
    if damage is None:
        return None
    return JournalDamage(str(damage).partition(": ")[2], damage.reason == "journal_version_unsupported")


def _read(data: bytes) -> tuple[tuple[Record, ...], int, OpeningRefusedError | None]:
    """The records before the first damage, where the last whole line ends, and what is damaged."""
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")[:-1]
    if not lines:
        return (), 0, None
    damage = _header_damage(lines[0])
    if damage is not None:
        return (), end, damage
    records: list[Record] = []
    for line in lines[1:]:
        try:
            records.append(Record.model_validate_json(line))
        except ValidationError:
            break
    whole = (verify(records) or len(records) + 1) - 1
    if whole < len(lines) - 1:
        damage = _unreadable(lines[whole + 1], records[:whole])
    return tuple(records[:whole]), end, damage


def _header_damage(line: bytes) -> OpeningRefusedError | None:
    try:
        header = json.loads(line)
        named, version = header["format"], header["version"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return _damaged(1, line)
    if named != FORMAT:
        return _damaged(1, line)
    if version != VERSION:
        problem = f"its format has another version than {VERSION}, which is read"
        return OpeningRefusedError("journal_version_unsupported", problem)
    return None


def _unreadable(line: bytes, before: Sequence[Record]) -> OpeningRefusedError:
    """A record that another version wrote, or a line that was changed; ``before`` are those that it follows."""
    number = len(before) + 2
    words = foreign_record(line, len(before) + 1, before[-1].digest if before else START)
    if words is None:
        return _damaged(number, line)
    return OpeningRefusedError("journal_version_unsupported", f"line {number} of its journal {words}")


def _damaged(line: int, data: bytes) -> OpeningRefusedError:
    """Which line, and the digest of what stands there now: nothing of it is repeated."""
    problem = f"line {line} of its journal is not what was written ({digest_bytes(data)[:19]} stands there)"
    return OpeningRefusedError("journal_integrity_mismatch", problem)
