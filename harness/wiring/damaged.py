"""What is kept of an episode that cannot be gone on with, once somebody lets it be played anew."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness import recording
from harness.errors import StoreError
from harness.schema.receipt import Receipt
from harness.wiring.waiting import EPISODES, durable_place
from harness.workspace import remove_tree

__all__ = ["DAMAGED", "keep_damaged"]

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
    around, whose = run / "recordings", (receipt.actor, receipt.trial, receipt.attempt)
    try:
        if not folder.is_dir():
            return None
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        journal = folder / _JOURNAL
        is_there = journal.is_symlink() or journal.exists()
        if is_there:
            journal.rename(kept)
        remove_tree(folder)
        recording.remove(recording.halves(recording.recording_path(around, receipt.scenario, *whose)))
    except OSError as error:
        raise StoreError(f"{kept}: cannot be written: {error.strerror or type(error).__name__}") from error
    return kept if is_there else None
