"""Reads a run folder back: what is torn, corrupt, changed or of another version is refused by file and line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from harness.documents import DocumentError, read_file
from harness.errors import StoreError
from harness.receipt.canonical import link
from harness.receipt.late import LATE, filled
from harness.receipt.lines import lines, read_lines, value
from harness.receipt.outline import ReceiptOutline, ReceiptWithoutDigests
from harness.receipt.spending import SPENDING, beyond
from harness.receipt.store import LOG, MANIFEST, PART, RECEIPTS
from harness.schema.base import Frozen, digest_bytes
from harness.schema.counting import counted
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeResult, LateRow, Manifest, ReceiptLink, RunLogEntry, RunView
from harness.schema.spending import Entry

__all__ = ["MANIFEST_MAX", "WHOLE_MAX", "Part", "read_manifest", "read_outline", "read_run", "read_told", "results"]

_Value = TypeVar("_Value", bound=Frozen)
#: Largest manifest that is read, in bytes.
MANIFEST_MAX = 256 * 1024 * 1024
#: Most episodes of which reports are given each digest.
WHOLE_MAX = 10_000


class Part(EpisodeResult):
    """One line of the part file."""

    position: int


def read_run(folder: Path) -> RunView:
    """The run in ``folder``, receipts and log in plan order.

    Of a run that was killed, or still goes on, the finished episodes are read; a last line without its newline was
    never finished and is left out. Raises StoreError naming file and line; no content of the file is repeated.
    """
    return _read(folder, Receipt, read_manifest(folder))


def read_outline(folder: Path) -> RunView:
    """The same for who counts: of a run that ended, receipts are ``ReceiptOutline``s. Raises StoreError likewise."""
    return _read(folder, ReceiptOutline, read_manifest(folder))


def read_told(folder: Path) -> RunView:
    """The same for reports, which have no room for each digest of a run of more than ``WHOLE_MAX`` episodes.

    Of such a run that ended, receipts are ``ReceiptWithoutDigests``, and the manifest holds no chain of them any more.
    Raises StoreError likewise.
    """
    manifest = read_manifest(folder)
    if len(manifest.receipts) <= WHOLE_MAX:
        return _read(folder, Receipt, manifest)
    view = _read(folder, ReceiptWithoutDigests, manifest)
    return view.model_copy(update={"manifest": manifest.model_copy(update={"receipts": ()})})


def _read(folder: Path, kind: type[Receipt], manifest: Manifest) -> RunView:
    if manifest.state == "running":
        found = lines(folder / PART, torn_end=True) if os.path.lexists(folder / PART) else ()
        read = [value(Part, data, f"{folder / PART}:{number}") for number, data in found]
        # a later line is what came of an episode that waited
        last = {(part.position, part.receipt.attempt): part for part in read}
        parts = [last[place] for place in sorted(last)]
        return _view(folder, manifest, [part.receipt for part in parts], [part.log for part in parts])
    path = folder / LOG
    log = tuple(value(RunLogEntry, data, f"{path}:{number}") for number, data in lines(path))
    return _view(folder, manifest, tuple(_receipts(folder, manifest, kind)), log)


def _view(folder: Path, manifest: Manifest, receipts: Sequence[Receipt], log: Sequence[RunLogEntry]) -> RunView:
    """With what stands beside them: that only adds to what is known, so what cannot be read is told and left out."""
    if len(receipts) != len(log):
        raise StoreError(f"{folder / LOG}: has {counted(len(log), 'line')} for {counted(len(receipts), 'receipt')}")
    late, of_late = _added(folder / LATE, LateRow)
    spent, of_spent = _added(folder / SPENDING, Entry)
    return RunView(
        manifest=manifest,
        receipts=tuple(receipts),
        log=filled(log, late),
        beyond=beyond(spent, log),
        remarks=(*of_late, *of_spent),
    )


def _added(path: Path, kind: type[_Value]) -> tuple[tuple[_Value, ...], tuple[str, ...]]:
    """What can be read of a file that lines are added to, and a line for whatever cannot."""
    try:
        values, damage = read_lines(path, kind)
    except StoreError as error:
        return (), (f"{error}; left out",)
    return values, tuple(f"{path}:{one.line}: {one.problem}; left out" for one in damage if not one.is_torn)


def results(folder: Path) -> tuple[EpisodeResult, ...]:
    """The finished episodes of a run, whether it ended or not. Raises StoreError as ``read_run`` does."""
    view = read_run(folder)
    return tuple(EpisodeResult(receipt=receipt, log=log) for receipt, log in zip(view.receipts, view.log, strict=True))


def read_manifest(folder: Path) -> Manifest:
    """What the run in ``folder`` was to play, and how far it is. Raises StoreError."""
    path = folder / MANIFEST
    if not path.exists():
        raise StoreError(f"{folder}: holds no run ({MANIFEST} is not there)")
    return value(Manifest, _bytes(path), str(path))


def _receipts(folder: Path, manifest: Manifest, kind: type[Receipt]) -> Iterator[Receipt]:
    """Each receipt, its line held against the chain of the manifest before anything of it is left out."""
    path = folder / RECEIPTS
    previous: ReceiptLink | None = None
    count = 0
    for count, data in lines(path):
        where = f"{path}:{count}"
        receipt = value(kind, data, where)
        previous = link(previous, receipt.key, digest_bytes(data))
        if count > len(manifest.receipts) or previous != manifest.receipts[count - 1]:
            raise StoreError(f"{where}: is not the receipt that {MANIFEST} names; the run was changed after it ended")
        yield receipt
    if count < len(manifest.receipts):
        raise StoreError(
            f"{path}:{count + 1}: is not there, but {MANIFEST} names {counted(len(manifest.receipts), 'receipt')}"
        )


def _bytes(path: Path) -> bytes:
    try:
        return read_file(path, most=MANIFEST_MAX)
    except DocumentError as error:
        raise StoreError(f"{path}: {error.problem}") from error
