"""``harness record``: play live models once and keep what they said, redacted, for offline replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness import catalog, recording, wiring
from harness.cli.ceilings import Ceilings, agreed, in_memory, refuse_too_small, told
from harness.cli.dry_run import print_plan
from harness.cli.due import Due, counted, due, place_of
from harness.cli.exit_codes import BY_VERDICT, ExitCode, gravest
from harness.cli.options import DEFAULT_EXECUTOR, sandbox_option, sandbox_said
from harness.cli.output import note, say, say_json
from harness.cli.paid import PaidLog
from harness.cli.selection import choose
from harness.cli.spending_options import Spending, spending_options
from harness.cli.versions import planes_of
from harness.errors import NothingSelectedError, UsageError
from harness.schema.actor import Provenance
from harness.schema.counting import of_all, worded_of
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.suite import plan
from harness.wiring.rehearsed import refuse_unplayed

__all__ = ["record"]

_EPILOG = """\b
Examples:
  harness record loopx/selected-todo --actor openai/MODEL --yes-spend
  harness record --actor candidate --stale-only --yes-spend
  harness record --actor candidate --replace --max-cost 2.50 --max-time 1h
  harness record --actor candidate --dry-run
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("selection", nargs=-1, metavar="[SCENARIO|GLOB|tag:TAG]...")
@click.option("--actor", "actors", multiple=True, required=True, help="A live model; repeatable.")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="A generation setting.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("recordings"),
    show_default=True,
    help="Folder of recordings.",
)
@click.option("--replace", is_flag=True, help="Record again what is recorded.")
@click.option("--stale-only", is_flag=True, help="Record only what is recorded and no longer fits, and replace it.")
@click.option(
    "--provenance",
    type=click.Choice(["live", "simulated"]),
    help="Whether a real model answers, or a simulation.  [default: live, simulated where a rehearsal server answers]",
)
@spending_options
@sandbox_option
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True, help="How it is told."
)
@click.pass_context
def record(
    context: click.Context,
    *,
    selection: tuple[str, ...],
    actors: tuple[str, ...],
    sets: tuple[str, ...],
    into: Path,
    replace: bool,
    stale_only: bool,
    provenance: str | None,
    form: str,
) -> ExitCode:
    """Play scenarios (default: all) with live models and keep the exchanges below the folder of recordings.

    A recording is kept where the episode was judged, pass or fail; an outage is no recording. What is recorded
    already is refused without --replace, and so is what an interrupted recording left behind. With it the fullest of
    those stays until the new recording is whole; what is removed is told. A run folder below reports/ keeps what was
    paid for, recorded or not.
    """
    settings = wiring.settings()
    folder = settings.cwd / into
    options = EpisodeOptions(executor=DEFAULT_EXECUTOR, sandbox=sandbox_said(context))
    jobs = _jobs(settings, selection, actors, sets, options)
    spending = Spending.of(context)
    agreed(settings, [job.actor for job in jobs], spending.ceilings, yes_spend=spending.yes_spend)
    if stale_only:
        found = due(settings, folder, jobs)
        if not found.stale:
            return _nothing(settings, folder, found, form)
        jobs = found.stale
    elif not replace:
        _refuse_recorded(folder, jobs)
    wiring.refuse_ordinary_keys(settings, jobs)
    refuse_too_small(jobs, spending.ceilings, None)
    refuse_unplayed(settings, jobs)
    if spending.dry_run:
        print_plan(jobs, form)
        return ExitCode.PASSED
    said: dict[str | None, Provenance] = {"simulated": "simulated", "live": "live"}
    kept = wiring.keeping(
        settings,
        [job.actor for job in jobs],
        folder,
        "judged",
        replace=replace or stale_only,
        provenance=said.get(provenance),
    )
    return _play(settings, jobs, kept, folder, form, ceilings=spending.ceilings)


def _jobs(
    settings: wiring.Settings,
    selection: Sequence[str],
    actors: Sequence[str],
    sets: Sequence[str],
    options: EpisodeOptions,
) -> tuple[EpisodeJob, ...]:
    chosen = choose(settings, selection)
    specs = {
        one.scenario.id: [spec for actor in actors for spec in wiring.actor_specs(settings, actor, one, sets)]
        for one in chosen
    }
    for found in specs.values():
        for spec in found:
            if spec.identity.kind != "live":
                what = "a script" if spec.identity.kind == "script" else "a recording"
                raise UsageError(
                    f"actor {spec.identity.ref!r} is {what} and no live model: it cannot be recorded; "
                    "harness run plays it as it is"
                )
    return plan(chosen, specs, planes_of(settings, chosen), options=options)


def _refuse_recorded(folder: Path, jobs: Sequence[EpisodeJob]) -> None:
    for job in jobs:
        path = place_of(folder, job)
        if path.exists():
            raise UsageError(
                f"{path} is there already; record it again with --replace, or what is stale with --stale-only"
            )
        for half in recording.halves(path):
            raise UsageError(f"{half}; --replace records anew and removes it when the new recording is whole")


def _remove(found: Sequence[recording.Half]) -> None:
    for half in recording.remove(found):
        note(f"harness: removed {half}")


def _nothing(settings: wiring.Settings, folder: Path, found: Due, form: str) -> ExitCode:
    """Say why nothing is to be recorded. Raises NothingSelectedError where nothing is recorded of these actors."""
    told = counted(settings, folder, found)
    if not found.fitting:
        raise NothingSelectedError(f"no recording of what was asked for is stale; {told}")
    (say if form == "text" else note)(f"nothing to record: no recording of what was asked for is stale; {told}")
    return ExitCode.PASSED


def _play(
    settings: wiring.Settings,
    jobs: Sequence[EpisodeJob],
    kept: wiring.Keeping,
    folder: Path,
    form: str,
    *,
    ceilings: Ceilings,
) -> ExitCode:
    codes: set[ExitCode] = set()
    recorded = begun = 0
    before = {folder, *(path for path in folder.rglob("*"))} if folder.is_dir() else set()
    made = [place for place in folder.parents if not place.exists()]
    log, ceiling = PaidLog(settings, jobs, jobs[0].options), in_memory(ceilings)
    try:
        with log, wiring.Session(settings, kept, ceiling=ceiling) as session:
            for position, job in enumerate(jobs):
                if not ceiling.is_open():
                    break
                path = place_of(folder, job)
                if kept.replace:
                    _remove(recording.superfluous(recording.halves(path)))
                result = session.run(job)
                begun += result.receipt.outcome.reason != "quota_refused"
                is_recorded = kept.stays(result.receipt.verdict)
                if is_recorded and kept.replace:
                    _remove(recording.halves(path))
                log.add(position, result)
                recorded += is_recorded
                codes.add(ExitCode.PASSED if is_recorded else BY_VERDICT[result.receipt.verdict])
                _tell(result, path if is_recorded else None, form)
    finally:
        recording.prune(folder, before, made)
    reached = told(ceiling, ceilings)
    if reached is not None:
        left = ", ".join(dict.fromkeys(job.loaded.scenario.id for job in jobs[begun:]))
        note(
            f"harness: {reached}; {of_all(recorded, len(jobs), 'episode')} "
            f"{worded_of(recorded, len(jobs), 'is', 'are')} recorded; not played to the end: {left}"
        )
        codes.add(ExitCode.NOT_JUDGED)
    _conclude(recorded, len(jobs), log.folder, form)
    return gravest(codes)


def _tell(result: EpisodeResult, path: Path | None, form: str) -> None:
    """One episode: where its recording lies, or why there is none."""
    receipt = result.receipt
    if path is None:
        why: str = catalog.shared("reporters", "evidence").why(receipt, result.log)
        note(f"harness: {receipt.scenario} with {receipt.actor.ref}: nothing is recorded: {why}")
    if form == "jsonl":
        place = None if path is None else str(path)
        say_json({"scenario": receipt.scenario, "actor": receipt.actor.ref, "recording": place})
    elif path is not None:
        code = "" if receipt.failure_code is None else f" ({receipt.failure_code})"
        say(f"{receipt.verdict}{code}  {receipt.scenario}  {receipt.actor.ref}  {path}")


def _conclude(recorded: int, total: int, log: Path | None, form: str) -> None:
    if form == "text":
        say(f"{recorded} of {total} recorded")
        if log is not None:
            say(f"run log: {log}")
