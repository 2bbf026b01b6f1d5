"""Usage that came after its episode was told, kept beside the receipts of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.errors import StoreError
from harness.receipt.lines import append
from harness.schema.run import AttemptRow, LateRow, RunLogEntry

__all__ = ["LATE", "filled", "keep_late"]

LATE = "late.jsonl"
_FLAG = "late_usage"


def keep_late(run: Path, row: LateRow) -> None:
    """Add a row to the folder of a run; it is on disk on return. Raises StoreError."""
    data = f"{row.model_dump_json()}\n".encode("ascii")
    try:
        append(run / LATE, data, flags=os.O_NOFOLLOW)
    except OSError as error:
        raise StoreError(f"{run / LATE}: cannot be written: {error.strerror or type(error).__name__}") from error


def filled(log: Sequence[RunLogEntry], rows: Iterable[LateRow]) -> tuple[RunLogEntry, ...]:
    """A run's log with the usage, and its cost, that came late, where none was known."""
    late = {(row.key, row.operation, row.attempt): row for row in rows}
    return tuple(_filled(entry, late) for entry in log) if late else tuple(log)


def _filled(entry: RunLogEntry, late: Mapping[tuple[str, str, int], LateRow]) -> RunLogEntry:
    attempts = tuple(_with(row, late.get((entry.key, row.operation, row.attempt))) for row in entry.attempts)
    if attempts == entry.attempts:
        return entry
    recovery = tuple(dict.fromkeys((*entry.recovery, _FLAG)))
    return entry.model_copy(update={"attempts": attempts, "recovery": recovery})


def _with(row: AttemptRow, late: LateRow | None) -> AttemptRow:
    if late is None or row.usage is not None:
        return row
    return replace(row, usage=late.usage, cost_micro_usd=late.cost_micro_usd, inconsistent=late.inconsistent)
