"""``harness history diff``: what is different in a run from an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.history_index import known_runs, reports_folder, reports_option
from harness.cli.history_told import changes_told
from harness.cli.options import format_option
from harness.cli.output import note, say, say_json
from harness.collecting import READ_OBJECTS, rare_collections
from harness.errors import NothingSelectedError, StoreError, UsageError
from harness.qualification.changes import changes
from harness.qualification.past import whole_runs
from harness.receipt import read_manifest
from harness.schema.changes import PlaceChange, PlaceKind, RunChanges
from harness.schema.counting import counted
from harness.schema.history import IndexedRun
from harness.wiring import indexing

__all__ = ["diff"]

_PAIR: Final = 2
#: What a job may fail on, and whether only what chance does not explain.
_GATES: Final[dict[str, tuple[PlaceKind, bool]]] = {
    "new-fails": ("new_fail", False),
    "sure-fails": ("new_fail", True),
    "worse": ("worse", True),
    "not-judged": ("not_judged", False),
}
_EPILOG = """\b
Examples:
  harness history diff
  harness history diff reports/TONIGHT
  harness history diff reports/LAST-NIGHT reports/TONIGHT --fail-on new-fails
"""


@click.command("diff", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, type=click.Path(file_okay=False, path_type=Path), metavar="[[OLD] NEW]")
@reports_option
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    type=click.Choice(list(_GATES)),
    help="Exit with 1 where there is such a change, not in quarantine; sure-fails leaves out what chance may explain; "
    "repeatable.",
)
@format_option("What is printed; jsonl is one actor a line.")
@rare_collections(READ_OBJECTS)
def diff(*, runs: tuple[Path, ...], reports: Path | None, gates: tuple[str, ...], form: str) -> ExitCode:
    """Tell what is different in NEW from OLD: what fails now, what is fixed, who else answered, cost and time.

    OLD is, where it is not given, the newest earlier run that played the same scenarios with the same actors; NEW the
    newest run. Only whole runs are taken by themselves.
    """
    old, new = _both(runs, reports)
    found = _with_parts(changes(old, new))
    if form == "json":
        say_json(found.model_dump(mode="json"), indent=2)
    elif form == "jsonl":
        for actor in found.actors:
            say_json(actor.model_dump(mode="json"))
    else:
        say(changes_told(found))
    return _gated(found, gates)


def _with_parts(found: RunChanges) -> RunChanges:
    """With what is different in the files of changed scenarios; where that is not told it stays open."""
    if not any("changed" in place.kinds for one in found.actors for place in one.places):
        return found
    before, now = (_parts(Path(side.run)) for side in (found.before, found.now))

    def told(place: PlaceChange) -> PlaceChange:
        if "changed" not in place.kinds:
            return place
        was, is_ = before.get(place.scenario, {}), now.get(place.scenario, {})
        parts = [key for key in dict.fromkeys((*is_, *was)) if was.get(key) != is_.get(key)] if was and is_ else []
        return place.model_copy(update={"parts": tuple(parts)})

    actors = tuple(one.model_copy(update={"places": tuple(map(told, one.places))}) for one in found.actors)
    return found.model_copy(update={"actors": actors})


def _parts(folder: Path) -> dict[str, dict[str, str]]:
    """Short digests of the parts of each scenario of a run."""
    return {one.id: dict(one.parts) for one in read_manifest(folder).scenarios}


def _gated(found: RunChanges, gates: Sequence[str]) -> ExitCode:
    asked = {gate: _GATES[gate] for gate in gates}
    broken = {gate: count for gate, (kind, sure) in asked.items() if (count := found.count(kind, sure=sure))}
    for gate, count in broken.items():
        note(f"harness: --fail-on {gate}: {counted(count, 'scenario')}")
    return ExitCode.FAILED if broken else ExitCode.PASSED


def _both(given: tuple[Path, ...], reports: Path | None) -> tuple[IndexedRun, IndexedRun]:
    if len(given) > _PAIR:
        raise UsageError("two runs are held against each other: harness history diff OLD NEW")
    if len(given) == _PAIR:
        old, new = (_read(folder, _if_there(reports)) for folder in given)
        if old.run_id == new.run_id:
            raise UsageError(f"{given[1]} is the same run as {given[0]}; name another one")
        _refuse_early(old, new)
        return old, new
    place = reports_folder(reports)
    whole = list(whole_runs(known_runs(place)))
    if not given and not whole:
        raise NothingSelectedError(f"{place}: holds no whole run")
    new = _read(given[0], place) if given else _at(place, whole[-1])
    _refuse_early(new)
    earlier = [run for run in whole if (run.created_at, run.run_id) < (new.created_at, new.run_id)]
    alike = [run for run in earlier if _played(run) == _played(new)]
    if not alike:
        raise NothingSelectedError(
            f"{place}: holds no whole run before {new.folder} that played the same scenarios with the same actors; "
            "name one: harness history diff OLD NEW"
        )
    return _at(place, alike[-1]), new


def _refuse_early(*runs: IndexedRun) -> None:
    """The number of its trials hung on what came out, so what chance explains of its rates is not known."""
    early = next((run for run in runs if run.ended_early), None)
    if early is not None:
        raise UsageError(
            f"{early.folder} ended early, when its own actors were told apart, so its rates are not held against those "
            "of another run; compare it alone, or play it without --early"
        )


def _if_there(reports: Path | None) -> Path | None:
    """The folder of runs, which two that are named need not lie in."""
    try:
        return reports_folder(reports)
    except (NothingSelectedError, StoreError):
        return None


def _read(folder: Path, reports: Path | None) -> IndexedRun:
    run = indexing.as_indexed(folder, reports or folder.parent)
    if not run.episodes:
        raise NothingSelectedError(f"{folder}: no episode of it is finished, so there is nothing to tell")
    return run.model_copy(update={"folder": str(folder)})


def _at(place: Path, run: IndexedRun) -> IndexedRun:
    """Named as a person in this folder would."""
    whole, here = place / run.folder, wiring.settings().cwd
    return run.model_copy(update={"folder": str(whole.relative_to(here) if whole.is_relative_to(here) else whole)})


def _played(run: IndexedRun) -> set[tuple[str, str]]:
    return {(one.scenario, one.actor) for one in run.episodes}
