"""Reads a run folder back: what is torn, corrupt, changed or of another version is refused by file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from harness.documents import DocumentError, open_file, read_file
from harness.errors import StoreError
from harness.receipt.canonical import link
from harness.receipt.late import LATE, filled
from harness.receipt.spending import beyond
from harness.receipt.store import LOG, MANIFEST, PART, RECEIPTS
from harness.schema.base import Frozen, digest_bytes
from harness.schema.counting import counted
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeResult, LateRow, Manifest, ReceiptLink, RunLogEntry, RunView

__all__ = ["read_manifest", "read_run", "results"]

_Value = TypeVar("_Value", bound=Frozen)
_VERSION = 1
#: Largest manifest that is read, in bytes.
MANIFEST_MAX = 256 * 1024 * 1024
#: No line of a run folder has so many bytes.
LINE_MAX = 64 * 1024 * 1024


class _Part(EpisodeResult):
    """One line of the part file."""

    position: int


def read_run(folder: Path) -> RunView:
    """The run in ``folder``, receipts and log in plan order.

    Of a run that was killed, or still goes on, the finished episodes are read; a last line without its newline was
    never finished and is left out. Raises StoreError naming file and line; no content of the file is repeated.
    """
    manifest = read_manifest(folder)
    if manifest.state == "running":
        lines = _lines(folder / PART, torn_end=True) if (folder / PART).exists() else ()
        read = [_value(_Part, data, f"{folder / PART}:{number}") for number, data in lines]
        # a later line is what came of an episode that waited
        last = {(part.position, part.receipt.attempt): part for part in read}
        parts = [last[place] for place in sorted(last)]
        receipts = tuple(part.receipt for part in parts)
        return _view(folder, manifest, receipts, tuple(part.log for part in parts))
    log = tuple(_value(RunLogEntry, data, f"{folder / LOG}:{number}") for number, data in _lines(folder / LOG))
    return _view(folder, manifest, tuple(_receipts(folder, manifest)), log)


def _view(folder: Path, manifest: Manifest, receipts: tuple[Receipt, ...], log: tuple[RunLogEntry, ...]) -> RunView:
    """The run, with what stands beside its receipts and its log."""
    return RunView(manifest=manifest, receipts=receipts, log=filled(log, _late(folder)), beyond=beyond(folder, log))


def _late(folder: Path) -> tuple[LateRow, ...]:
    path = folder / LATE
    lines = _lines(path, torn_end=True) if path.exists() else ()
    return tuple(_value(LateRow, data, f"{path}:{number}") for number, data in lines)


def results(folder: Path) -> tuple[EpisodeResult, ...]:
    """The finished episodes of a run, whether it ended or not. Raises StoreError as ``read_run`` does."""
    view = read_run(folder)
    return tuple(EpisodeResult(receipt=receipt, log=log) for receipt, log in zip(view.receipts, view.log, strict=True))


def read_manifest(folder: Path) -> Manifest:
    """What the run in ``folder`` was to play, and how far it is. Raises StoreError."""
    path = folder / MANIFEST
    if not path.exists():
        raise StoreError(f"{folder}: holds no run ({MANIFEST} is not there)")
    return _value(Manifest, _bytes(path), str(path))


def _receipts(folder: Path, manifest: Manifest) -> Iterator[Receipt]:
    """Each receipt, held against the chain of the manifest."""
    path = folder / RECEIPTS
    previous: ReceiptLink | None = None
    count = 0
    for count, data in _lines(path):
        where = f"{path}:{count}"
        receipt = _value(Receipt, data, where)
        previous = link(previous, receipt.key, digest_bytes(data))
        if count > len(manifest.receipts) or previous != manifest.receipts[count - 1]:
            raise StoreError(f"{where}: is not the receipt that {MANIFEST} names; the run was changed after it ended")
        yield receipt
    if count < len(manifest.receipts):
        raise StoreError(
            f"{path}:{count + 1}: is not there, but {MANIFEST} names {counted(len(manifest.receipts), 'receipt')}"
        )


def _lines(path: Path, *, torn_end: bool = False) -> Iterator[tuple[int, bytes]]:
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
        raise _cannot_read(path, error) from error


def _bytes(path: Path) -> bytes:
    try:
        return read_file(path, most=MANIFEST_MAX)
    except DocumentError as error:
        raise StoreError(f"{path}: {error.problem}") from error


def _value(kind: type[_Value], data: bytes, where: str) -> _Value:
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
    # a key that we do not know is the file's own text
    known = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
    place = ".".join(str(part) for part in known)
    return f"cannot be used: {place or 'the value'}: {first['type'].replace('_', ' ')}"


def _cannot_read(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be read: {error.strerror or type(error).__name__}")
