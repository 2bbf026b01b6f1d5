"""``harness history list``, ``rebuild`` and ``prune``: the runs below one folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path

import click

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.options import format_option
from harness.cli.output import note, say, say_json, table
from harness.cli.standing import WORDS
from harness.clock import SystemClock
from harness.errors import IndexDamagedError, NothingSelectedError, StoreError, UsageError
from harness.history import outdated
from harness.qualification.past import cell_of
from harness.schema.actor import is_called
from harness.schema.base import JsonValue
from harness.schema.counting import counted
from harness.schema.history import IndexedRun
from harness.wiring import indexing

__all__ = ["known_runs", "list_runs", "prune", "rebuild", "reports_folder", "reports_option"]

_HELP = {"help_option_names": ["-h", "--help"]}


def reports_folder(given: Path | None) -> Path:
    """The folder that holds the runs.

    Raises StoreError where a named one is not there, NothingSelectedError where nobody named one: nothing was run yet.
    """
    settings = wiring.settings()
    reports = settings.reports if given is None else settings.cwd / given
    if given is None and not reports.exists():
        raise NothingSelectedError(f"{reports}: no run was written there yet")
    if not reports.is_dir():
        raise StoreError(f"{reports}: there is no such folder; runs are written there unless --out says else")
    return reports


reports_option = click.option(
    "--reports",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that holds the runs.  [default: ./reports]",
)


@click.command(
    "list",
    epilog="\b\nExamples:\n  harness history list\n  harness history list --scenario 'loopx/*' --format jsonl",
    context_settings=_HELP,
)
@reports_option
@click.option("--scenario", metavar="GLOB", help="Only runs that played one of these.")
@click.option("--actor", metavar="GLOB", help="Only runs that one of these played in.")
@click.option("--state", type=click.Choice(["running", "complete", "interrupted"]), help="Only runs in this state.")
@click.option("-n", "--most", type=click.IntRange(1), default=20, show_default=True, help="How many, newest first.")
@format_option("What is printed; jsonl is one run a line.")
def list_runs(
    *, reports: Path | None, scenario: str | None, actor: str | None, state: str | None, most: int, form: str
) -> ExitCode:
    """List runs, newest first; the index is brought up to date with the folders, or made anew where it is damaged."""
    place = reports_folder(reports)
    runs = [
        one
        for one in known_runs(place)
        if state in {None, one.state}
        and _any(scenario, [row.scenario for row in one.episodes])
        and (actor is None or any(is_called(row.actor, actor) for row in one.episodes))
    ][:most]
    rows: list[JsonValue] = [_row(one) for one in runs]
    if form == "json":
        say_json({"runs": rows}, indent=2)
    elif form == "jsonl":
        for row in rows:
            say_json(row)
    else:
        say(table(("run", "created (UTC)", "state", "episodes"), [_cells(one) for one in runs]) if runs else "no runs")
    return ExitCode.PASSED


@click.command(epilog="\b\nExample:\n  harness history rebuild", context_settings=_HELP)
@reports_option
def rebuild(*, reports: Path | None) -> ExitCode:
    """Make the index of runs anew from the run folders."""
    place = reports_folder(reports)
    done = indexing.rebuild(place)
    for line in done.unreadable:
        note(f"harness: left out: {line}")
    say(f"{place / indexing.INDEX}: {counted(done.runs, 'run')}")
    return ExitCode.PASSED


@click.command(
    epilog="\b\nExamples:\n  harness history prune --keep 30 --dry-run\n  harness history prune --older-than 90",
    context_settings=_HELP,
)
@reports_option
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N complete runs.")
@click.option("--older-than", type=click.IntRange(0, 36_500), metavar="DAYS", help="Only runs made before that.")
@click.option("--dry-run", is_flag=True, help="Say what would go.")
def prune(*, reports: Path | None, keep: int | None, older_than: int | None, dry_run: bool) -> ExitCode:
    """Remove whole folders of old complete runs.

    A run that did not end, that is being written, or that a line of keep.txt beside the runs names, stays. With both
    options a run must be both old and beyond the newest N.
    """
    if keep is None and older_than is None:
        raise UsageError("say what may go: --keep N, --older-than DAYS, or both")
    place = reports_folder(reports)
    indexing.rebuild(place)
    before = None if older_than is None else SystemClock().now() - timedelta(days=older_than)
    going = outdated(known_runs(place), keep=keep, before=before, pinned=indexing.pinned(place))
    gone: list[str] = []
    try:
        for run in going:
            if not dry_run:
                indexing.remove_run(place / run.folder)
            gone.append(run.folder)
            say(f"{'would remove' if dry_run else 'removed'}: {place / run.folder}")
    finally:
        if not dry_run:
            indexing.index(place).forget(gone)
    say(f"{counted(len(gone), 'run')} {'would go' if dry_run else 'removed'}")
    return ExitCode.PASSED


def known_runs(reports: Path) -> Sequence[IndexedRun]:
    """The runs that are there, by the index, which is brought up to date; made anew where it is damaged."""
    try:
        runs, remarks = indexing.current(reports)
    except IndexDamagedError:
        indexing.rebuild(reports)
        note(f"harness: {reports / indexing.INDEX} was damaged, or of an older version; it was made anew")
        runs, remarks = indexing.current(reports)
    for remark in remarks:
        note(f"harness: {remark}")
    return runs


def _any(glob: str | None, names: Sequence[str]) -> bool:
    return glob is None or any(fnmatchcase(name, glob) for name in names)


def _counts(run: IndexedRun) -> dict[str, int]:
    """Verdicts, where of several attempts at one episode the last counts."""
    found = Counter(row.verdict for row in cell_of(run.episodes).last)
    return {verdict: found[verdict] for verdict in WORDS}


def _cells(run: IndexedRun) -> tuple[str, ...]:
    told = ", ".join(f"{number:,} {WORDS[verdict]}" for verdict, number in _counts(run).items() if number)
    return (run.folder, run.created_at[:16].replace("T", " "), run.state, told or "no episode ended")


def _row(run: IndexedRun) -> JsonValue:
    verdicts: JsonValue = dict(_counts(run))
    known = [row.tokens for row in run.episodes]
    tokens = None if None in known else sum(one for one in known if one is not None)
    scenarios: JsonValue = list(dict.fromkeys(row.scenario for row in run.episodes))
    actors: JsonValue = list(dict.fromkeys(row.actor for row in run.episodes))
    told = run.model_dump(mode="json", exclude={"episodes", "stamp"})
    return {**told, "verdicts": verdicts, "tokens": tokens, "scenarios": scenarios, "actors": actors}
