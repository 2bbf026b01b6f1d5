"""How far a run is, on standard error: a bar for a person at a terminal, now and then a line for a log."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.cli.output import note
from harness.schema.run import EpisodeResult

__all__ = ["Progressing", "progress"]

#: Seconds between two lines where there is no terminal; what is faster says nothing.
EVERY_S = 30.0


class Progressing:
    """Is told each finished episode, by a call, or by what was played in it; this one tells nobody."""

    def __call__(self, result: EpisodeResult) -> None:
        """An episode is finished."""
        del result
        self.finished()

    def finished(self, what: str = "") -> None:
        """So is one whose result nobody has here; ``what`` was played."""

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """The terminal is free while the block runs."""
        yield


class _Counting(Progressing):
    count = 0

    def finished(self, what: str = "") -> None:
        del what
        self.count += 1


class _Bar(Progressing):
    def __init__(self, bar: Progress, total: int | None) -> None:
        self._bar, self._task = bar, bar.add_task("episodes", total=total)

    def __call__(self, result: EpisodeResult) -> None:
        self.finished(result.receipt.scenario)

    def finished(self, what: str = "") -> None:
        self._bar.update(self._task, advance=1, description=what)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()


@contextlib.contextmanager
def progress(total: int | None, *, hidden: bool = False) -> Iterator[Progressing]:
    """Shows how far it is to whoever waits. ``hidden`` tells nobody.

    ``total`` is None where nobody knows yet how many there are.
    """
    if hidden or sys.stderr is None:
        yield Progressing()
        return
    if not sys.stderr.isatty():
        with _lines(total, EVERY_S) as count:
            yield count
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, total)


@contextlib.contextmanager
def _lines(total: int | None, every_s: float) -> Iterator[Progressing]:
    """A line every ``every_s`` seconds, from a thread of its own: an episode may take longer than that."""
    counting = _Counting()
    over = threading.Event()

    def tell() -> None:
        beats = 0
        while not over.wait(every_s):
            beats += 1
            of = "" if total is None else f" of {total}"
            note(f"harness: {counting.count}{of} episodes finished after {beats * every_s:.0f} s")

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield counting
    finally:
        over.set()
        thread.join()
