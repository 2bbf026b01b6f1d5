"""The index of the runs below one folder, kept from what their folders say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from harness.documents import DocumentError, decoded, read_file
from harness.errors import HarnessError, IndexDamagedError, StoreError
from harness.history import HistoryIndex
from harness.receipt import PART, read_outline, sole
from harness.schema.history import IndexedEpisode, IndexedRun
from harness.schema.message import known_count
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import RunLogEntry, RunView
from harness.workspace import remove_tree

__all__ = [
    "INDEX",
    "KEEP",
    "Rebuilt",
    "as_indexed",
    "current",
    "index",
    "indexed",
    "note_run",
    "pinned",
    "rebuild",
    "remove_run",
    "run_folders",
]

INDEX = "history.sqlite"
#: Names of runs, one a line, that are never pruned.
KEEP = "keep.txt"
#: How deep run folders are looked for.
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many runs were found, and a line for each folder that looks like one and cannot be read."""

    runs: int
    unreadable: tuple[str, ...]


def index(reports: Path) -> HistoryIndex:
    """The index of the runs below ``reports``."""
    return HistoryIndex(reports / INDEX)


def run_folders(reports: Path) -> Iterator[Path]:
    """Folders below ``reports`` that hold a run, sorted; hidden ones and links are not entered."""
    yield from _found(reports, _DEPTH)


def _found(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            continue
        path = folder / entry.name
        if (path / "manifest.json").is_file():
            yield path
        elif depth > 1:
            yield from _found(path, depth - 1)


def indexed(folder: Path, reports: Path, view: RunView | None = None) -> IndexedRun:
    """The run in ``folder`` as the index tells it. Raises StoreError where it cannot be read.

    ``view`` is what was read of it already.
    """
    stamp = _stamp(folder)  # before the rest: what changes while it is read is read again next time
    view = read_outline(folder) if view is None else view
    manifest = view.manifest
    planes: dict[PlaneIdentity, PlaneIdentity] = {}  # one object for each: what is the same is not compared
    told = zip(view.receipts, view.log, strict=True)
    return IndexedRun(
        folder=folder.relative_to(reports).as_posix(),
        run_id=manifest.run_id,
        created_at=manifest.created_at,
        finished_at=manifest.finished_at,
        state=manifest.state,
        harness_version=manifest.harness_version,
        planned=sum(map(manifest.needs, manifest.plan)),
        seal=manifest.seal,
        episodes=tuple(_episode(one, log, planes.setdefault(one.plane, one.plane)) for one, log in told),
        shard=manifest.shard is not None,
        ended_early=manifest.early is not None and manifest.early.is_cut_short,
        quarantine=manifest.quarantine,
        stamp=stamp,
    )


def as_indexed(folder: Path, reports: Path) -> IndexedRun:
    """The run in ``folder``, as the index of ``reports`` tells it where the folder is still as it was.

    A run that lies elsewhere, or is not told there as it is, is read. Raises StoreError where it cannot be.
    """
    whole, above = folder.resolve(), reports.resolve()
    if above in whole.parents:
        try:
            known = index(above).run(whole.relative_to(above).as_posix())
        except StoreError:  # a cache: what is wrong with it is said by whoever mends it
            known = None
        if known is not None and known.stamp == _stamp(whole):
            return known
    return indexed(folder, folder.parent)


def _stamp(folder: Path) -> str:
    """Change times and sizes of what tells how far a run is; ``-`` for what is not there."""
    told = []
    for name in ("manifest.json", PART):
        try:
            status = (folder / name).stat()
        except OSError:
            told.append("-")
        else:
            told.append(f"{status.st_mtime_ns}:{status.st_size}")
    return " ".join(told)


def _episode(receipt: Receipt, log: RunLogEntry, plane: PlaneIdentity) -> IndexedEpisode:
    sent = [row for row in log.attempts if row.status != "not_sent"]
    known = [row.cost_micro_usd for row in sent if row.cost_micro_usd is not None]
    return IndexedEpisode(
        scenario=receipt.scenario,
        scenario_digest=receipt.scenario_digest,
        actor=receipt.actor.ref,
        actor_digest=receipt.actor.digest,
        kind=receipt.actor.kind,
        plane=plane,
        classifier_version=receipt.classifier_version,
        trial=receipt.trial,
        attempt=receipt.attempt,
        verdict=receipt.verdict,
        code=receipt.failure_code,
        cause=receipt.cause,
        outcome=receipt.outcome.name,
        models=tuple(dict.fromkeys(row.model for row in sent if row.model is not None)),
        fingerprints=tuple(dict.fromkeys(row.fingerprint for row in sent if row.fingerprint is not None)),
        seconds=log.seconds,
        tokens=_tokens(log),
        calls=len(sent) + log.at_least,
        unknown_calls=len(sent) - len(known) + log.at_least,
        micro_usd=sum(known, Decimal(0)),
    )


def _tokens(log: RunLogEntry) -> int | None:
    """Input and output of all attempts; None where one's are not known."""
    total = 0
    for row in log.attempts:
        if row.status == "not_sent":
            continue
        usage = row.usage
        into, out = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
        if known_count(into) is None or known_count(out) is None:
            return None
        total += (into or 0) + (out or 0)
    return total


def current(reports: Path) -> tuple[tuple[IndexedRun, ...], tuple[str, ...]]:
    """The runs below ``reports`` as their folders are now, newest first, and a line for each that cannot be read.

    The index is brought up to date: a folder whose stamp is the same is not read again. Where the index cannot be
    written, that is a line too. Raises IndexDamagedError, and StoreError where the index cannot be read.
    """
    there = index(reports)
    known = {run.folder: run for run in there.runs()}
    found: dict[str, IndexedRun] = {}
    remarks: list[str] = []
    for folder in run_folders(reports):
        name = folder.relative_to(reports).as_posix()
        run = known.get(name)
        try:
            found[name] = run if run is not None and run.stamp == _stamp(folder) else indexed(folder, reports)
        except StoreError as error:
            remarks.append(f"left out: {error}")
    try:
        there.forget([name for name in known if name not in found])
        for name, run in found.items():
            if known.get(name) != run:
                there.put(run)
    except IndexDamagedError:
        raise
    except StoreError as error:
        remarks.append(str(error))
    return tuple(sorted(found.values(), key=lambda run: (run.created_at, run.folder), reverse=True)), tuple(remarks)


def rebuild(reports: Path) -> Rebuilt:
    """Make the index anew from the folders. Raises StoreError."""
    runs: list[IndexedRun] = []
    unreadable: list[str] = []
    for folder in run_folders(reports):
        try:
            runs.append(indexed(folder, reports))
        except StoreError as error:
            unreadable.append(str(error))
    there = index(reports)
    try:
        there.replace(runs)
    except IndexDamagedError:
        there.remove()
        there.replace(runs)
    return Rebuilt(len(runs), tuple(unreadable))


def note_run(folder: Path, reports: Path, view: RunView | None = None) -> str | None:
    """Put a run into the index; a line about why it could not be, which harms no run.

    ``view`` is what was read of it already.
    """
    folder, reports = folder.resolve(), reports.resolve()
    if reports not in folder.parents:
        return None
    try:
        run = indexed(folder, reports, view)
        try:
            index(reports).put(run)
        except IndexDamagedError:
            rebuild(reports)
    except HarnessError as error:
        return f"the run is not in the index of runs: {error}"
    return None


def pinned(reports: Path) -> frozenset[str]:
    """What ``keep.txt`` names; nothing where it is not there. Raises StoreError."""
    path = reports / KEEP
    try:
        lines = decoded(read_file(path)).splitlines() if path.exists() else []
    except DocumentError as error:
        raise StoreError(f"{path}: {error.problem}") from error
    return frozenset(name for line in lines if (name := line.partition("#")[0].strip()))


def remove_run(folder: Path) -> None:
    """Remove a whole run folder that nobody writes in. Raises StoreError, and then it is still there."""
    descriptor = sole(folder)
    try:
        if read_outline(folder).manifest.state != "complete":
            raise StoreError(f"{folder}: is no complete run, which is not removed")
        gone = folder.with_name(f".{folder.name}.removed")
        folder.rename(gone)
        remove_tree(gone)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be removed: {error.strerror or type(error).__name__}") from error
    finally:
        os.close(descriptor)
