"""``harness history``: what earlier runs left."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.cli.exit_codes import ExitCode
from harness.cli.lazy import LazyGroup
from harness.cli.output import say
from harness.errors import StoreError
from harness.receipt import read_run, sole
from harness.schema.counting import counted
from harness.workspace import remove_tree

__all__ = ["history", "purge"]


@click.command(
    epilog="\b\nExample:\n  harness history purge reports/RUN-ID",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path), metavar="RUN...")
def purge(runs: tuple[Path, ...]) -> ExitCode:
    """Remove the private texts of unfinished episodes; what is finished stays, and they cannot be gone on with.

    What was recorded of them goes too, and files that were half written when a run was killed.
    """
    for run in runs:
        read_run(run)
        held = sole(run)  # whoever plays there needs them
        try:
            count = _emptied(run / "episodes") + _emptied(run / "superseded" / "episodes")
            _remove_halves(run)
        finally:
            os.close(held)
        say(f"{run}: {counted(count, 'unfinished episode')} removed")
    return ExitCode.PASSED


def _emptied(place: Path) -> int:
    """How many unfinished episodes were removed."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise StoreError(f"{place}: is no folder; look what it is, and remove it")
    try:
        count = sum(1 for path in place.iterdir()) if place.exists() else 0
        remove_tree(place)
    except OSError as error:
        raise StoreError(f"{place}: cannot be removed: {error.strerror}") from error
    return count


def _remove_halves(run: Path) -> None:
    """Half recordings, and what was written beside a file to take its place."""
    from harness import recording  # noqa: PLC0415  (no help waits for it)

    recording.remove(recording.halves_below(run / "recordings"))
    recording.prune(run / "recordings")
    try:
        for path in (*run.glob(".*.part"), *(run / "outputs").glob(".*.part")):
            path.unlink()
    except OSError as error:
        raise StoreError(f"{run}: cannot be emptied: {error.strerror}") from error


history = LazyGroup(
    "history",
    {
        "list": ("harness.cli.history_index", "list_runs", "List runs, newest first."),
        "diff": ("harness.cli.history_diff", "diff", "Tell what is different in a run from an earlier one."),
        "flakes": ("harness.cli.history_flakes", "tell_flakes", "Tell verdicts that turn though nothing was changed."),
        "merge": ("harness.cli.merging", "merge_runs", "Put the shards of one plan together."),
        "trend": ("harness.cli.history_trend", "trend", "Tell how rates, cost and time went from run to run."),
        "rebuild": ("harness.cli.history_index", "rebuild", "Make the index of runs anew from their folders."),
        "prune": ("harness.cli.history_index", "prune", "Remove the folders of old runs."),
        "purge": ("harness.cli.history", "purge", "Remove the private texts of unfinished episodes."),
    },
    text="Work with what earlier runs left.",
    epilog="""\b
Examples:
  harness history list
  harness history diff reports/RUN-ID
  harness history trend 'loopx/*' --last 30
  harness history merge shards/1 shards/2 --out nightly
  harness history purge reports/RUN-ID
""",
)
