"""The files of reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.ports import Reporter
from harness.receipt import RunStore
from harness.schema.run import RunView
from harness.wiring.trending import with_trends

__all__ = ["files_of", "write_reports"]


@runtime_checkable
class _Paged(Protocol):
    """A reporter that gives a run which is too large for one file several of them."""

    def pages(self, view: RunView, filename: str) -> Iterator[tuple[str, str]]:
        """Name and text of each file; the first is called ``filename``, the others have names like it."""


def files_of(reporter: Reporter, view: RunView, filename: str | None = None) -> Iterator[tuple[str, str]]:
    """Name and text of each file, one at a time; the first is the report, and any others lie beside it.

    ``filename`` is what the report is called where it is not called as usual; the others have names like it.
    """
    name = reporter.filename if filename is None else filename
    if isinstance(reporter, _Paged):
        yield from reporter.pages(view, name)
    else:
        yield name, reporter.render(view)


def write_reports(store: RunStore, reporters: Iterable[Reporter], view: RunView, reports: Path) -> None:
    """Beside the receipts, with trends where the run lies below ``reports``. Raises StoreError or RedactionError."""
    told = with_trends(reports, store.folder, view)
    for reporter in reporters:
        for name, text in files_of(reporter, told):
            store.write_report(name, text)
