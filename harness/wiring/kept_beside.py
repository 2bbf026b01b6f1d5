"""What a run keeps besides its receipts: is it still what was written?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness import recording
from harness.errors import RecordingError, StoreError
from harness.receipt import Flaw, results
from harness.wiring.finished import left_of_finished
from harness.wiring.kept_unfinished import flaws_of, is_begun, told_of
from harness.wiring.waiting import EPISODES

__all__ = ["flaws_beside", "told_beside"]

_RECORDINGS = "recordings"


def flaws_beside(run: Path) -> Iterator[Flaw]:
    """Damaged recordings; of episodes that are not over, what was changed and what others may read."""
    folder = run / EPISODES
    if not folder.is_dir() and (folder.is_symlink() or folder.exists()):
        yield Flaw(EPISODES, "is no folder")
    for place in _unfinished(run):
        for flaw in flaws_of(place):
            yield _below(place, flaw)
    for path in sorted((run / _RECORDINGS).rglob("*.jsonl")):
        try:
            recording.load(path)
        except RecordingError as error:
            yield Flaw(path.relative_to(run).as_posix(), error.problem, error.line)


def told_beside(run: Path) -> Iterator[Flaw]:
    """Of episodes that are not over, what is no flaw and good to know before somebody goes on with them."""
    for place in _unfinished(run):
        for told in told_of(place):
            yield _below(place, told)


def _unfinished(run: Path) -> Iterator[Path]:
    folder = run / EPISODES
    if folder.is_dir() and not folder.is_symlink():
        finished = _finished(run)
        yield from (place for place in sorted(folder.iterdir()) if place.name not in finished and is_begun(place))


def _finished(run: Path) -> frozenset[str]:
    """Episodes that are over: what a kill left of them is no evidence, and goes when the run is gone on with."""
    try:
        return frozenset(left_of_finished(run, results(run)))
    except StoreError:
        return frozenset()  # what is wrong with the results is told of them


def _below(place: Path, flaw: Flaw) -> Flaw:
    name = place.name if flaw.file == "." else f"{place.name}/{flaw.file}"
    return replace(flaw, file=f"{EPISODES}/{name}")
