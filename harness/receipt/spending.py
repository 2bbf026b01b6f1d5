"""``spending.jsonl`` of a run: what was reserved for model calls and what they cost, written before it counts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from harness.errors import StoreError
from harness.receipt.lines import add, append, read_lines, whole
from harness.schema.run import RunLogEntry
from harness.schema.spending import Beyond, Entry, entry_name

__all__ = ["SPENDING", "SpendingFile", "beyond", "carry_spending"]

SPENDING = "spending.jsonl"


class SpendingFile:
    """The file of a run folder, made with its first entry. ``before`` is what an interrupted run left in it.

    A last line that is torn by a kill is cut off at the next entry: what it would have said did not happen yet. Raises
    StoreError where the file cannot be read, or is not what was written there.
    """

    def __init__(self, folder: Path) -> None:
        self._path, self._descriptor = folder / SPENDING, -1
        self.before, damage = read_lines(self._path, Entry)
        broken = next((one for one in damage if not one.is_torn), None)
        if broken is not None:
            raise StoreError(
                f"{self._path}:{broken.line}: {broken.problem}: is not what harness wrote there, so nobody knows what "
                "this run spent; restore the file, or begin another run"
            )
        self._size = -1

    def keep(self, entry: Entry) -> None:
        """Put an entry on disk; on return it survives a power cut. Raises StoreError, and then none of it is there."""
        line = (entry.model_dump_json() + "\n").encode("ascii")
        try:
            if self._descriptor < 0:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o644)
                self._size = whole(self._descriptor)
                os.ftruncate(self._descriptor, self._size)
            add(self._descriptor, line, self._size)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}") from error
        self._size += len(line)

    def close(self) -> None:
        """Release the file; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def beyond(entries: Iterable[Entry], log: Iterable[RunLogEntry]) -> Beyond:
    """What a run spent by these entries, or may have, that no row of its log tells."""
    last = {entry.attempt: entry for entry in entries}
    if not last:
        return Beyond()
    for entry in log:
        for row in entry.attempts:
            last.pop(entry_name(entry.key, f"{row.operation}:attempt:{row.attempt}"), None)
    # what was not sent, or was turned away, is settled with nothing
    costs = [entry.micro_usd if entry.event == "settled" else None for entry in last.values()]
    costs = [cost for cost in costs if cost != 0]
    known = [cost for cost in costs if cost is not None]
    return Beyond(calls=len(costs), unknown=len(costs) - len(known), micro_usd=sum(known, Decimal(0)))


def carry_spending(runs: Iterable[Path], out: Path) -> None:
    """Add what other runs spent to the file of the run in ``out``, which is not made for nothing. Raises StoreError."""
    data = b""
    for run in runs:
        file = SpendingFile(run)
        data += b"".join(entry.model_dump_json().encode("ascii") + b"\n" for entry in file.before)
    if not data:
        return
    try:
        append(out / SPENDING, data)
    except OSError as error:
        raise StoreError(f"{out / SPENDING}: cannot be written: {error.strerror or type(error).__name__}") from error
