"""What is still kept of episodes that are finished: a kill may come between keeping a result and removing the rest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness import recording
from harness.errors import StoreError
from harness.schema.run import EpisodeResult
from harness.wiring.recordings import place_in_run
from harness.wiring.waiting import EPISODES, durable_place
from harness.workspace import remove_tree

__all__ = ["forget_finished", "left_of_finished"]


def left_of_finished(run: Path, results: Iterable[EpisodeResult]) -> dict[str, EpisodeResult]:
    """The folders in ``episodes`` of a run, by name, of those of its results with which nobody goes on any more."""
    place = run / EPISODES
    there = {entry.name for entry in place.iterdir()} if place.is_dir() and not place.is_symlink() else set()
    over = (result for result in results if there and not result.log.resumable)
    named = ((durable_place(place, result.receipt.key).folder.name, result) for result in over)
    return {name: result for name, result in named if name in there}


def forget_finished(run: Path, results: Iterable[EpisodeResult]) -> None:
    """Remove what is left of finished episodes: texts, journals, half recordings. Raises StoreError."""
    for name, result in left_of_finished(run, results).items():
        receipt, folder = result.receipt, run / EPISODES / name
        try:
            recording.remove(recording.halves(place_in_run(run, receipt)))
            remove_tree(folder)
        except OSError as error:
            raise StoreError(f"{folder}: cannot be removed: {error.strerror or type(error).__name__}") from error
    _remove_empty(run / EPISODES)


def _remove_empty(place: Path) -> None:
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()
