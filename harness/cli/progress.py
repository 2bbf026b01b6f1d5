"""How far a run is, on standard error: a bar for a person at a terminal, now and then a line for a log."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.cli.output import note
from harness.schema.run import EpisodeResult

__all__ = ["progress"]

#: Seconds between two lines where there is no terminal; what is faster says nothing.
EVERY_S = 30.0


@contextlib.contextmanager
def progress(total: int | None, *, hidden: bool = False) -> Iterator[Callable[[EpisodeResult], None]]:
    """A callable that is told each finished episode. ``hidden`` tells nobody.

    ``total`` is None where nobody knows yet how many there are.
    """
    if hidden or sys.stderr is None:
        yield _nothing
        return
    if not sys.stderr.isatty():
        with _lines(total, EVERY_S) as count:
            yield count
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("episodes", total=total)

        def advance(result: EpisodeResult) -> None:
            bar.update(task, advance=1, description=result.receipt.scenario)

        yield advance


@contextlib.contextmanager
def _lines(total: int | None, every_s: float) -> Iterator[Callable[[EpisodeResult], None]]:
    """A line every ``every_s`` seconds, from a thread of its own: an episode may take longer than that."""
    finished: list[None] = []
    over = threading.Event()

    def tell() -> None:
        beats = 0
        while not over.wait(every_s):
            beats += 1
            of = "" if total is None else f" of {total}"
            note(f"harness: {len(finished)}{of} episodes finished after {beats * every_s:.0f} s")

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield lambda _: finished.append(None)
    finally:
        over.set()
        thread.join()


def _nothing(result: EpisodeResult) -> None:
    del result
