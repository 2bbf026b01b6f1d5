"""A recording and its bytes: JSON Lines, each line with a digest that continues the one before.

A line is ``{"digest":...,"entry":...}`` without white space and in ASCII, so nothing but its own end looks like the
end of a line to any reader. The digest covers the entry and the digest of the line before; the seal, which is last,
says how many lines stand before it and covers all their digests. A line in any other spelling is refused: every byte
counts. The key of a request or answer is made anew from what stands beside it: a file that was changed and sealed
anew, but not keyed anew, is refused too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, assert_never

from pydantic import TypeAdapter, ValidationError

from harness.documents import DocumentError, open_file, read_file
from harness.errors import RecordingError
from harness.recording.keys import answer_key, exchange_key
from harness.schema.base import Digest, JsonValue, digest_text
from harness.schema.name import Pointer
from harness.schema.recording import (
    Exchange,
    PlaneAnswer,
    Recording,
    RecordingHeader,
    RecordingLine,
    Seal,
)

__all__ = ["FORMAT", "Entry", "Lines", "dump", "header_of", "load", "load_half", "reseal"]

#: The format that is written, and the only one that is read.
FORMAT: Final = 1

#: Largest recording that is read, in bytes.
SIZE_MAX: Final = 256 * 1024 * 1024

#: What stands in a line between header and seal.
Entry = Exchange | PlaneAnswer

_LINE: TypeAdapter[RecordingLine] = TypeAdapter(RecordingLine)
_FIELDS: Final = {"digest", "entry"}


class Lines:
    """Makes the lines of one recording, one after the other."""

    def __init__(self) -> None:
        self._digests: list[Digest] = []

    def line(self, entry: RecordingHeader | Entry | Seal) -> bytes:
        """The next line, its end included."""
        text = _text(entry.model_dump(mode="python"))
        digest = digest_text(f"{self._digests[-1] if self._digests else ''}\n{text}")
        self._digests.append(digest)
        return f'{{"digest":"{digest}","entry":{text}}}\n'.encode("ascii")

    def seal(self) -> Seal:
        """The seal over all lines so far."""
        return Seal(lines=len(self._digests), digest=digest_text("\n".join(self._digests)))


def dump(header: RecordingHeader, exchanges: Iterable[Exchange], answers: Iterable[PlaneAnswer]) -> bytes:
    """The whole file, sealed: header, exchanges, answers."""
    lines = Lines()
    entries: list[RecordingHeader | Entry] = [header, *exchanges, *answers]
    written = [lines.line(entry) for entry in entries]
    return b"".join([*written, lines.line(lines.seal())])


def load(source: Path | bytes, name: str = "recording") -> Recording:
    """The recording in a file, or in its bytes (which errors then call ``name``).

    Raises:
        RecordingError: the file is not there or cannot be read, is empty, no recording, of another format, changed
            after it was written, keyed by other requests or answers than it holds, or without its seal, which is how
            an interrupted recording ends.
    """
    where = name if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else _read(source)
    if not data:
        raise RecordingError(where, "the file is empty")
    reader = _Reader(where)
    for number, raw in enumerate(_split(data), start=1):
        reader.take(raw, number)
    return reader.recording()


def load_half(path: Path) -> Recording | None:
    """What an interrupted recording holds before the line that it was interrupted in, without a digest."""
    reader = _Reader(str(path))
    try:
        for number, raw in enumerate(_split(_read(path)), start=1):
            reader.take(raw, number)
    except RecordingError:
        pass  # the line that it was interrupted in
    return reader.so_far()


def header_of(path: Path) -> RecordingHeader:
    """What a file says that it records; whether the rest is whole is not looked at. Raises RecordingError."""
    try:
        with open_file(path) as file:
            first = file.readline(SIZE_MAX)
    except DocumentError as error:
        raise RecordingError(path, error.problem) from error
    except OSError as error:
        raise _unreadable(path, error) from error
    entry = _entry(first, str(path), 1)
    if not isinstance(entry, RecordingHeader):
        raise RecordingError(path, "this is no recording: the first line is no header", line=1, supported=FORMAT)
    return entry


class _Reader:
    """Takes the lines of one file and makes the same lines anew: they must be the same bytes."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._lines = Lines()
        self._header: RecordingHeader | None = None
        self._exchanges: list[Exchange] = []
        self._answers: list[PlaneAnswer] = []
        self._seal: Seal | None = None

    def take(self, raw: bytes, number: int) -> None:
        """The next line, its end included."""
        if self._seal is not None:
            raise RecordingError(self._where, "something follows the seal", line=number)
        expected = self._lines.seal()
        entry = _entry(raw, self._where, number)
        if self._lines.line(entry) != raw:
            raise RecordingError(self._where, "the line is not what was written: its digest does not fit", line=number)
        match entry:
            case RecordingHeader() if number == 1:
                self._header = entry
            case RecordingHeader():
                raise RecordingError(self._where, "a second header", line=number)
            case Exchange() if entry.number == len(self._exchanges) + 1:
                self._check_key(entry.key, exchange_key(entry, self._volatile), "request", number)
                self._exchanges.append(entry)
            case Exchange():
                raise RecordingError(self._where, "exchanges are numbered 1, 2, 3 in their order", line=number)
            case PlaneAnswer():
                self._check_key(entry.key, answer_key(entry.kind, entry.exit_code, entry.answer), "answer", number)
                self._answers.append(entry)
            case Seal() if entry == expected:
                self._seal = entry
            case Seal():
                raise RecordingError(self._where, "the seal is not that of the lines before it", line=number)
            case _:
                assert_never(entry)

    @property
    def _volatile(self) -> tuple[Pointer, ...]:
        return () if self._header is None else self._header.volatile

    def _check_key(self, key: Digest, right: Digest, what: str, number: int) -> None:
        if key != right:
            raise RecordingError(self._where, f"the key is not that of the {what} beside it", line=number)

    def so_far(self) -> Recording | None:
        """What was taken; None without a header."""
        if self._header is None:
            return None
        return Recording(header=self._header, exchanges=tuple(self._exchanges), answers=tuple(self._answers), digest="")

    def recording(self) -> Recording:
        """All of it. Raises RecordingError where the end is not there."""
        if self._header is None or self._seal is None:
            problem = "there is no seal: the recording was interrupted, or its end was cut off"
            raise RecordingError(self._where, problem)
        return Recording(
            header=self._header,
            exchanges=tuple(self._exchanges),
            answers=tuple(self._answers),
            digest=self._seal.digest,
        )


def reseal(recording: Recording) -> Recording:
    """The same content with numbers, keys and digest made anew, as if it had been recorded so."""
    volatile = recording.header.volatile
    exchanges = tuple(
        exchange.model_copy(update={"number": number, "key": exchange_key(exchange, volatile)})
        for number, exchange in enumerate(recording.exchanges, start=1)
    )
    answers = tuple(
        answer.model_copy(update={"key": answer_key(answer.kind, answer.exit_code, answer.answer)})
        for answer in recording.answers
    )
    lines = Lines()
    entries: list[RecordingHeader | Entry] = [recording.header, *exchanges, *answers]
    for entry in entries:
        lines.line(entry)
    return Recording(header=recording.header, exchanges=exchanges, answers=answers, digest=lines.seal().digest)


def _text(value: object) -> str:
    """Keys in their order: a provider's, in a body, can matter to what a decoder makes of it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _read(path: Path) -> bytes:
    try:
        return read_file(path, most=SIZE_MAX)
    except DocumentError as error:
        raise RecordingError(path, error.problem) from error


def _unreadable(path: Path, error: OSError) -> RecordingError:
    return RecordingError(path, f"cannot be read: {error.strerror or type(error).__name__}")


def _split(data: bytes) -> Iterator[bytes]:
    """Lines with their ends; only a line feed ends one."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _entry(raw: bytes, where: str, number: int) -> RecordingHeader | Entry | Seal:
    try:
        line: JsonValue = json.loads(raw)
    except (ValueError, RecursionError):
        if number > 1:
            raise RecordingError(where, "the line is damaged", line=number) from None
        problem = "this is no recording: the first line is not JSON"
        raise RecordingError(where, problem, line=number, supported=FORMAT) from None
    entry = line.get("entry") if isinstance(line, dict) else None
    if number == 1:
        _check_format(line, entry, where)
    if not isinstance(line, dict) or set(line) != _FIELDS:
        raise RecordingError(where, "the line is not one of a recording", line=number)
    try:
        return _LINE.validate_python(entry, strict=False)
    except (ValidationError, RecursionError):
        # what was found may hold anything: it is not told
        raise RecordingError(where, "the line does not hold what a recording holds there", line=number) from None


def _check_format(line: JsonValue, entry: JsonValue, where: str) -> None:
    for candidate in (entry, line):
        found = candidate.get("format") if isinstance(candidate, dict) else None
        if isinstance(found, int) and found != FORMAT:
            age = "newer" if found > FORMAT else "older"
            raise RecordingError(where, f"format {found} was found, which is {age}", line=1, supported=FORMAT)
    if not isinstance(entry, dict) or entry.get("line") != "header":
        raise RecordingError(where, "this is no recording: the first line is no header", line=1, supported=FORMAT)
