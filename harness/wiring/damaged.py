"""What is kept of episodes that are not gone on with: damaged ones, and those that play something else now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from harness import recording
from harness.errors import StoreError
from harness.schema.receipt import Receipt
from harness.wiring.recordings import place_in_run
from harness.wiring.waiting import EPISODES, durable_place
from harness.workspace import remove_tree

__all__ = ["ABANDONED", "DAMAGED", "abandoned", "keep_abandoned", "keep_damaged"]

#: The folder of a run for unfinished episodes that no place of its plan goes on with.
ABANDONED: Final = "superseded/episodes"

#: The folder of a run for journals that could not be gone on with.
DAMAGED: Final = "damaged"
_JOURNAL: Final = "journal.jsonl"


def keep_damaged(run: Path, receipt: Receipt) -> Path | None:
    """Put the journal of an episode where nobody removes it, and remove its texts; None where there is none (any more).

    Its name is that of scenario, trial and attempt, and of its folder. Raises StoreError.
    """
    folder = durable_place(run / EPISODES, receipt.key).folder
    name = f"{receipt.scenario.replace('/', '--')}-t{receipt.trial}-a{receipt.attempt}-{folder.name[:12]}.{_JOURNAL}"
    kept = run / DAMAGED / name
    try:
        if not folder.is_dir():
            return None
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        journal = folder / _JOURNAL
        is_there = journal.is_symlink() or journal.exists()
        if is_there:
            journal.rename(kept)
        remove_tree(folder)
        recording.remove(recording.halves(place_in_run(run, receipt)))
    except OSError as error:
        raise StoreError(f"{kept}: cannot be written: {error.strerror or type(error).__name__}") from error
    return kept if is_there else None


def abandoned(run: Path, keys: Iterable[str]) -> tuple[Path, ...]:
    """The unfinished episodes of a run that none with one of these keys goes on with. Raises StoreError."""
    try:
        found = {path.name: path for path in (run / EPISODES).iterdir()} if (run / EPISODES).is_dir() else {}
    except OSError as error:
        raise StoreError(f"{run / EPISODES}: cannot be read: {error.strerror or type(error).__name__}") from error
    for key in keys if found else ():
        found.pop(durable_place(run / EPISODES, key).folder.name, None)
    return tuple(found[name] for name in sorted(found))


def keep_abandoned(run: Path, folders: Sequence[Path]) -> None:
    """Put unfinished episodes where nobody drives them; what was put there before stays. Raises StoreError."""
    into = run / ABANDONED
    try:
        into.parent.mkdir(mode=0o700, exist_ok=True)
        into.mkdir(mode=0o700, exist_ok=True)
        for folder in folders:
            names = (f"{folder.name}-{number}" for number in count(1))
            folder.rename(into / next(name for name in names if not (into / name).exists()))
    except OSError as error:
        raise StoreError(f"{into}: cannot be written: {error.strerror or type(error).__name__}") from error
