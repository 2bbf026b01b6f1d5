"""What a run keeps besides its receipts: is it still what was written?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness import recording
from harness.documents import DocumentError, read_file
from harness.episode.durable import JOURNAL, PLACE, SPOOL, STATES
from harness.errors import RecordingError, StoreError
from harness.journal import asked, intact, is_kept_as_named, journal_damage, kept_attempts
from harness.receipt import Flaw, results
from harness.wiring.finished import left_of_finished
from harness.wiring.waiting import EPISODES

__all__ = ["flaws_beside"]

_RECORDINGS = "recordings"
#: No text of an episode is larger, in bytes.
_TEXT_MAX = 1 << 30


def flaws_beside(run: Path) -> Iterator[Flaw]:
    """Damaged recordings; of episodes that are not over, damaged journals, and texts that are not what was kept."""
    yield from _unfinished(run)
    for path in sorted((run / _RECORDINGS).rglob("*.jsonl")):
        try:
            recording.load(path)
        except RecordingError as error:
            yield Flaw(path.relative_to(run).as_posix(), error.problem, error.line)


def _unfinished(run: Path) -> Iterator[Flaw]:
    folder = run / EPISODES
    if not folder.is_dir():
        if folder.is_symlink() or folder.exists():
            yield Flaw(EPISODES, "is no folder")
        return
    finished = _finished(run)
    for place in sorted(folder.iterdir()):
        if place.name in finished or not _is_begun(place):
            continue
        below = f"{EPISODES}/{place.name}"
        problem = journal_damage(place / JOURNAL)
        if problem is None and not _is_told(place):
            problem = "was cut: a model was asked more often than it tells"
        if problem is not None:
            yield Flaw(f"{below}/{JOURNAL}", problem)
        for path in sorted((place / SPOOL).glob("[!.]*")):
            try:
                if not is_kept_as_named(path.name, read_file(path, most=_TEXT_MAX)):
                    yield Flaw(f"{below}/{SPOOL}/{path.name}", "is not what was kept under that name")
            except DocumentError as error:
                yield Flaw(f"{below}/{SPOOL}/{path.name}", error.problem)


def _finished(run: Path) -> frozenset[str]:
    """Episodes that are over: what a kill left of them is no evidence, and goes when the run is gone on with."""
    try:
        return frozenset(left_of_finished(run, results(run)))
    except StoreError:
        return frozenset()  # what is wrong with the results is told of them


def _is_begun(place: Path) -> bool:
    """Whether anything was kept in the folder: its driver may have been killed as soon as it had it."""
    return any((place / name).exists() or (place / name).is_symlink() for name in (JOURNAL, SPOOL, STATES, PLACE))


def _is_told(place: Path) -> bool:
    """Whether the journal of an episode tells of every call that an answer is kept of."""
    return kept_attempts(place / SPOOL) <= asked(record.payload for record in intact(place / JOURNAL))
