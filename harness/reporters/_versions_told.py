"""The matrix of versions on a terminal: a row for each scenario and actor, then what changed and who moved."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.reporters._console import fits, indented
from harness.reporters._rows import plain
from harness.reporters._versions import MatrixRow, matrices
from harness.schema.run import RunView

__all__ = ["tell_versions"]

#: So many changes are told one by one; the page and the JSON have all of them.
_TOLD = 40


def tell_versions(console: Console, view: RunView) -> None:
    """For each control plane that was played in several versions."""
    for matrix in matrices(view):
        console.print()
        console.print(Text(f"Versions of {matrix.plane}", style="bold"))
        cells = [_cells(row) for row in matrix.rows]
        if fits(console, [("", *matrix.versions), *cells]):
            console.print(_table(matrix.versions, cells))
        else:
            for row in matrix.rows:
                words = ", ".join(f"{cell.version} {cell.word}" for cell in row.cells)
                indented(console, f"{row.name}: {words}", 3)
        for row, change in matrix.changes[:_TOLD]:
            indented(console, f"{row.name}", 3)
            step = f"{change.before.version} {change.before.told} → {change.now.version} {change.now.told}"
            indented(console, f"{step}: {change.why}", 6)
        if len(matrix.changes) > _TOLD:
            indented(console, f"and {len(matrix.changes) - _TOLD} more changes", 3)
        if matrix.plain:
            indented(console, matrix.plain, 3)


def _cells(row: MatrixRow) -> tuple[str, ...]:
    return (row.name, *(f"{'≠ ' if cell.changed else ''}{cell.word}" for cell in row.cells))


def _table(versions: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, show_header=True, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", *versions):
        table.add_column(plain(heading), no_wrap=True)
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    return table
