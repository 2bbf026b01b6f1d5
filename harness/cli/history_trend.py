"""``harness history trend``: how rates went from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import click

from harness.cli.exit_codes import ExitCode
from harness.cli.history_index import known_runs, reports_folder, reports_option
from harness.cli.options import format_option
from harness.cli.output import folded, harmless, say, say_json
from harness.cli.trend_told import trends_told
from harness.errors import NothingSelectedError
from harness.qualification.past import whole_runs
from harness.qualification.trends import trends
from harness.schema.actor import is_called
from harness.schema.base import JsonValue
from harness.schema.counting import counted, worded
from harness.schema.history import IndexedRun
from harness.schema.trend import Trend

__all__ = ["Chosen", "chosen_runs", "trend"]

_EPILOG = """\b
Examples:
  harness history trend
  harness history trend 'loopx/*' --actor doubao --last 30
  harness history trend loopx/capability-repair --format jsonl
"""


@click.command("trend", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("scenario", required=False, metavar="[SCENARIO|GLOB]")
@click.option("--actor", metavar="GLOB", help="Only of these.")
@click.option(
    "--last", "most", type=click.IntRange(1), default=20, show_default=True, help="So many runs, the newest ones."
)
@reports_option
@format_option("What is printed; jsonl is one trend a line.")
def trend(*, scenario: str | None, actor: str | None, most: int, reports: Path | None, form: str) -> ExitCode:
    """Tell how often each actor passed from run to run, what it cost, and when model, plane or scenario moved.

    With a SCENARIO each one by itself, else all scenarios together. Only whole runs count.
    """
    chosen = chosen_runs(reports, scenario, actor, most)
    found = trends(chosen.runs, by_scenario=scenario is not None)
    if form == "json":
        say_json({"trends": [_row(one) for one in found], "ended_early": chosen.names_of_early}, indent=2)
    elif form == "jsonl":
        for one in found:
            say_json(_row(one))
    else:
        say(trends_told(found))
        if chosen.ended_early:
            say(f"\n{chosen.told}")
    return ExitCode.PASSED


def _row(one: Trend) -> JsonValue:
    row: JsonValue = one.model_dump(mode="json")
    return row


class Chosen(NamedTuple):
    """Whole runs from the oldest on, and those that are left out among and after them, for they ended early."""

    runs: tuple[IndexedRun, ...]
    ended_early: tuple[IndexedRun, ...]

    @property
    def names_of_early(self) -> list[JsonValue]:
        """Their folders."""
        return [run.folder for run in self.ended_early]

    @property
    def told(self) -> str:
        """A sentence on those that ended early."""
        count = len(self.ended_early)
        which = f"{harmless(self.ended_early[0].folder)}, which" if count == 1 else f"{counted(count, 'run')} that"
        its = worded(count, "its", "their")
        return folded(f"left out: {which} ended early, when {its} own actors were told apart: that moves {its} rates")


def chosen_runs(reports: Path | None, scenario: str | None, actor: str | None, most: int) -> Chosen:
    """The newest whole runs, with what of them is asked for. Raises NothingSelectedError where nothing is."""
    place = reports_folder(reports)
    known = list(_only(known_runs(place), scenario or "*", actor or "*"))
    found = list(whole_runs(known))[-most:]
    if not found:
        early = " that did not end early" if any(run.ended_early for run in known) else ""
        raise NothingSelectedError(
            f"{place}: holds no whole run of what is asked for{early}; harness history list tells all"
        )
    since = found[0].created_at
    return Chosen(tuple(found), tuple(run for run in known if run.ended_early and run.created_at >= since))


def _only(runs: Iterable[IndexedRun], scenario: str, actor: str) -> Iterator[IndexedRun]:
    for run in runs:
        rows = tuple(one for one in run.episodes if fnmatchcase(one.scenario, scenario) and is_called(one.actor, actor))
        if rows:
            yield run.model_copy(update={"episodes": rows})
