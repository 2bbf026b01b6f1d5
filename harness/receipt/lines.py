"""The append-only files of a run folder: a line each, written whole, read to the first damage or past it.

A process that is killed may leave its last line torn: that one never counted, and is cut off by the next append.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

from pydantic import JsonValue, ValidationError

from harness.documents import DocumentError, open_file
from harness.errors import StoreError
from harness.schema.base import SAME_ERRORS, Frozen

__all__ = ["LINE_MAX", "Damage", "add", "append", "lines", "read_lines", "value", "whole"]

#: No line of a run folder has so many bytes.
LINE_MAX: Final = 64 * 1024 * 1024
#: Read at once where the start of a torn line is looked for, in bytes.
_BLOCK: Final = 4096

_Value = TypeVar("_Value", bound=Frozen)
_VERSION: Final = 1
_appending = Lock()


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that is not what was written, from 1; ``is_torn``: it is the last one, and its end was never written."""

    line: int
    problem: str
    is_torn: bool = False


def append(path: Path, data: bytes, *, flags: int = 0) -> None:
    """Add lines, which are on disk on return; a torn one before them is cut off, and what does not fit leaves none.

    Threads of one process take turns. Raises OSError.
    """
    with _appending:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o644)
        try:
            end = whole(descriptor)
            os.ftruncate(descriptor, end)
            add(descriptor, data, end)
        finally:
            os.close(descriptor)


def add(descriptor: int, data: bytes, end: int) -> None:
    """Put all of ``data`` at the ``end`` of an open file, on disk on return; else none of it. Raises OSError.

    A disk that gets full takes a part of what it is given.
    """
    try:
        written = 0
        while written < len(data):
            written += os.pwrite(descriptor, data[written:], end + written)
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, end)
        raise


def whole(descriptor: int) -> int:
    """Where the last whole line of an open file ends. Raises OSError."""
    at = os.fstat(descriptor).st_size
    while at > 0:
        start = max(at - _BLOCK, 0)
        found = os.pread(descriptor, at - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def lines(path: Path, *, torn_end: bool = False) -> Iterator[tuple[int, bytes]]:
    """Each line without its end, numbered from 1.

    A ``torn_end`` is left out. Raises StoreError naming file and line for any other, and for what cannot be read.
    """
    try:
        with open_file(path) as file:
            for number, data in enumerate(iter(partial(file.readline, LINE_MAX), b""), start=1):
                if len(data) == LINE_MAX:
                    raise StoreError(f"{path}:{number}: is too large; allowed: lines of less than {LINE_MAX} bytes")
                if not data.endswith(b"\n"):
                    if torn_end:
                        return
                    raise StoreError(f"{path}:{number}: ends in the middle of a line; the file was cut")
                yield number, data[:-1]
    except DocumentError as error:
        raise StoreError(f"{path}: {error.problem}") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from error


def read_lines(path: Path, kind: type[_Value]) -> tuple[tuple[_Value, ...], tuple[Damage, ...]]:
    """All values that can be read, and every line that cannot; nothing where the file is not there.

    Raises StoreError where it cannot be read at all.
    """
    values: list[_Value] = []
    damage: list[Damage] = []
    try:
        with open_file(path) as file:
            for number, data in enumerate(iter(partial(file.readline, LINE_MAX), b""), start=1):
                if not data.endswith(b"\n"):
                    damage.append(Damage(number, "its end was never written, so it does not count", is_torn=True))
                    continue
                try:
                    values.append(value(kind, data[:-1], ""))
                except StoreError as error:
                    damage.append(Damage(number, str(error).removeprefix(": ")))
    except DocumentError as error:
        if not error.missing:
            raise StoreError(f"{path}: {error.problem}") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from error
    return tuple(values), tuple(damage)


def value(kind: type[_Value], data: bytes, where: str) -> _Value:
    """What a line says. Raises StoreError, which repeats nothing of it."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise StoreError(f"{where}: {_problem(data, error)}") from None


def _problem(data: bytes, error: ValidationError) -> str:
    """Why a value was refused: its version if that is a foreign one, else the first place in it."""
    try:
        parsed: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        return "is no JSON"
    version = parsed.get("schema_version", _VERSION) if isinstance(parsed, dict) else _VERSION
    if version != _VERSION:
        shown = version if isinstance(version, int) else "of another kind"
        return f"schema version {shown} is not known here (known: {_VERSION}); use the version that wrote it"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    kind = SAME_ERRORS.get(first["type"], first["type"])
    # a key that we do not know is the file's own text
    known = first["loc"][:-1] if kind == "extra_forbidden" else first["loc"]
    place = ".".join(str(part) for part in known)
    return f"cannot be used: {place or 'the value'}: {kind.replace('_', ' ')}"
