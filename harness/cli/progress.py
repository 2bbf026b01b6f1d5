"""How far a run is, on standard error: a bar for a person at a terminal, now and then a line for a log."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from harness.cli.output import harmless, note
from harness.cli.standing import Standing, duration
from harness.schema.run import EpisodeResult

__all__ = ["Progressing", "progress"]

#: Seconds between two lines where there is no terminal; what is faster says nothing.
EVERY_S = 30.0
#: From this width on there is a bar, and what was played last is told too.
_WIDE = 110
_BAR = 30
#: Columns of the two clocks and of what lies between all columns, but for the word before the second one.
_CLOCKS = 7 + 7 + 6


class Progressing:
    """Is told each finished episode, by a call, or by what was played in it; this one tells nobody."""

    def __call__(self, result: EpisodeResult) -> None:
        """An episode is finished."""

    def again(self, result: EpisodeResult) -> None:
        """An attempt is finished, and the episode is tried once more."""

    def finished(self, what: str = "") -> None:
        """So is one whose result nobody has here; ``what`` was played."""

    def fewer(self, count: int) -> None:
        """So many that were counted on are not needed any more."""

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """The terminal is free while the block runs."""
        yield


class _Counting(Progressing):
    """Counts, and shows it where that is done at once."""

    def __init__(self, standing: Standing, beside: Callable[[], str], *, verdicts: bool) -> None:
        self.standing, self._verdicts, self._beside = standing, verdicts, beside

    @property
    def told(self) -> str:
        """Counts, what was spent, and what else is to be said."""
        return ", ".join(filter(None, (self.standing.counts, self.standing.spent, self._beside())))

    def __call__(self, result: EpisodeResult) -> None:
        self.standing.over(result if self._verdicts else None)
        self._show(result.receipt.scenario, done=1)

    def again(self, result: EpisodeResult) -> None:
        self.standing.tried(result)
        self._show(result.receipt.scenario, done=0)

    def finished(self, what: str = "") -> None:
        self.standing.over(None)
        self._show(what, done=1)

    def fewer(self, count: int) -> None:
        if self.standing.total is not None:
            self.standing.total -= count
        self._show("", done=0)

    def _show(self, what: str, *, done: int) -> None:
        pass


class _Bar(_Counting):
    def __init__(self, bar: Progress, standing: Standing, beside: Callable[[], str], *, verdicts: bool) -> None:
        super().__init__(standing, beside, verdicts=verdicts)
        self._bar, self._task, self._last = bar, bar.add_task("", total=standing.total, told=""), ""

    def _show(self, what: str, *, done: int) -> None:
        columns = self._bar.console.width
        wide = columns >= _WIDE
        self._last = harmless(what) or self._last
        last = self._last if wide else ""
        counted = 2 * len(str(self.standing.total or 0)) + 1
        told = self.told
        room = columns - (_BAR if wide else 0) - counted - len(last) - _CLOCKS - len(_left(self.standing))
        if len(told) > room:
            # rich would cut every column, the numbers too
            told = self.standing.shortly(room)
        self._bar.update(self._task, advance=done, total=self.standing.total, description=last, told=told)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()


@contextlib.contextmanager
def progress(
    total: int | None,
    *,
    at_most: bool = False,
    hidden: bool = False,
    verdicts: bool = False,
    beside: Callable[[], str] = lambda: "",
) -> Iterator[Progressing]:
    """Shows how far it is to whoever waits. ``hidden`` shows no bar on a terminal; a log has its lines all the same.

    ``total`` is None where nobody knows yet how many there are; ``at_most``: fewer may do. ``verdicts`` are told where
    they are news: scripts that must fail are none. ``beside`` is asked what else to say each time.
    """
    if sys.stderr is None or (hidden and sys.stderr.isatty()):
        yield Progressing()
        return
    standing = Standing(total, at_most=at_most)
    if not sys.stderr.isatty():
        with _lines(_Counting(standing, beside, verdicts=verdicts), EVERY_S) as count:
            yield count
        return
    console = Console(stderr=True)
    with _columns(console, _left(standing)) as bar:
        yield _Bar(bar, standing, beside, verdicts=verdicts)


def _left(standing: Standing) -> str:
    """What stands before the time that is left."""
    return "left at most" if standing.at_most else "left"


def _columns(console: Console, left: str) -> Progress:
    """One line, whatever the width."""
    wide = console.width >= _WIDE
    return Progress(
        *((BarColumn(bar_width=_BAR),) if wide else ()),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
        TextColumn(left),
        TimeRemainingColumn(),
        *((TextColumn("{task.description}", markup=False),) if wide else ()),
        console=console,
        transient=True,
    )


@contextlib.contextmanager
def _lines(counting: _Counting, every_s: float) -> Iterator[Progressing]:
    """A line every ``every_s`` seconds, from a thread of its own: an episode may take longer than that."""
    over = threading.Event()

    def tell() -> None:
        beats = 0
        while not over.wait(every_s):
            beats += 1
            note(f"harness: {_line(counting.standing, beats * every_s, counting.told)}")

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield counting
    finally:
        over.set()
        thread.join()


def _line(standing: Standing, elapsed_s: float, told: str) -> str:
    left = standing.left_s(elapsed_s)
    about = "at most about" if standing.at_most else "about"
    return "".join(
        (
            f"{standing.so_far} finished after {elapsed_s:.0f} s",
            f": {told}" if told else "",
            "" if left is None else f"; {about} {duration(left)} left",
        )
    )
