"""``harness qualify``: how often actors pass, and how sure that is."""

from __future__ import annotations

from pathlib import Path

import click

from harness import qualification
from harness.cli.conclusion import tell_left_out
from harness.cli.exit_codes import ExitCode
from harness.cli.options import format_option
from harness.cli.output import say, say_json
from harness.cli.qualify_told import as_json, as_rows, as_text
from harness.errors import NothingSelectedError, UsageError
from harness.receipt import last_attempts, read_run
from harness.schema.qualification import ActorFigures, Trial
from harness.schema.run import RunView

__all__ = ["qualify"]

_EPILOG = """\b
Examples:
  harness qualify reports/RUN-ID
  harness qualify reports/RUN-ID --in-a-row 3
  harness qualify reports/RUN-ID reports/OTHER-RUN-ID --format json
"""
#: So many in a row are told at most where nobody says how many.
_IN_A_ROW = 5


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path), metavar="RUN...")
@click.option(
    "-k",
    "--in-a-row",
    "most",
    type=click.IntRange(1, 1000),
    metavar="K",
    help="Tell how often K trials all pass.  [default: as many as every scenario has, up to 5]",
)
@format_option("What is printed; jsonl is one actor, or one scenario of one, a line.")
def qualify(*, runs: tuple[Path, ...], most: int | None, form: str) -> ExitCode:
    """Tell of run folders how often each actor passed, between what that lies, and whether it is enough to tell.

    No decision is made, and nobody is ranked. Several runs stand side by side only where scenarios, their
    classifier, the control planes and the settings of models are the same.
    """
    views = _read(runs)
    trials = {
        (name, actor): some
        for name, view in views.items()
        for actor, some in qualification.trials_of(view, last_attempts(view.receipts)).items()
    }
    told = _figures(views, trials, most)
    if form == "json":
        say_json(as_json(views, told), indent=2)
    elif form == "jsonl":
        for row in as_rows(told):
            say_json(row)
    else:
        say(as_text(views, told))
    return ExitCode.PASSED


def _read(runs: tuple[Path, ...]) -> dict[str, RunView]:
    """Whole runs that may stand side by side, by the name they were called by."""
    views: dict[str, RunView] = {}
    known: dict[str, str] = {}
    is_parted = False
    for folder in runs:
        view, name = read_run(folder), str(folder)
        tell_left_out(view)
        if not view.receipts:
            raise NothingSelectedError(f"{name}: no episode of it is finished, so there is nothing to tell")
        if view.manifest.run_id in known:
            raise UsageError(f"{name} is the same run as {known[view.manifest.run_id]}; name it once")
        parts = qualification.by_version(name, view)
        for part, one in parts.items():
            qualification.refuse_mixed(part, one)
        known[view.manifest.run_id] = name
        views |= parts
        is_parted = is_parted or len(parts) > 1
    for alike in _by_planes(views) if is_parted else (views,):
        qualification.refuse_different(alike)
    return views


def _by_planes(views: dict[str, RunView]) -> tuple[dict[str, RunView], ...]:
    """Versions may be told beside each other, for none is added to another; what is of one must be alike."""
    groups: dict[tuple[str, ...], dict[str, RunView]] = {}
    for name, view in views.items():
        groups.setdefault(tuple(sorted(plane.ref for plane in view.manifest.planes)), {})[name] = view
    return tuple(groups.values())


def _figures(
    views: dict[str, RunView], trials: dict[tuple[str, str], list[Trial]], most: int | None
) -> tuple[ActorFigures, ...]:
    fewest = [count for count in map(qualification.fewest_judged, trials.values()) if count]
    in_a_row = most or min(_IN_A_ROW, min(fewest, default=1))
    kinds = {(name, actor.ref): actor.kind for name, view in views.items() for actor in view.manifest.actors}
    return tuple(
        qualification.actor_figures(name, actor, kinds[name, actor], some, most=in_a_row)
        for (name, actor), some in trials.items()
    )
