"""How far a run is, on standard error, for a person at a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.schema.run import EpisodeResult

__all__ = ["progress"]


@contextlib.contextmanager
def progress(total: int | None, *, hidden: bool = False) -> Iterator[Callable[[EpisodeResult], None]]:
    """A callable that is told each finished episode; it prints nothing where standard error is no terminal.

    ``total`` is None where nobody knows yet how many there are.
    """
    if hidden or sys.stderr is None or not sys.stderr.isatty():
        yield _nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("episodes", total=total)

        def advance(result: EpisodeResult) -> None:
            bar.update(task, advance=1, description=result.receipt.scenario)

        yield advance


def _nothing(result: EpisodeResult) -> None:
    del result
