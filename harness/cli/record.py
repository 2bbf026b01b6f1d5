"""``harness record``: play live models once and keep what they said, redacted, for offline replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from harness import recording, wiring
from harness.cli.exit_codes import BY_VERDICT, ExitCode, gravest
from harness.cli.options import DEFAULT_EXECUTOR
from harness.cli.output import note, say, say_json
from harness.cli.selection import choose
from harness.errors import UsageError
from harness.schema.run import EpisodeJob, EpisodeOptions
from harness.suite import is_stale, plan

__all__ = ["record"]

_EPILOG = """\b
Examples:
  harness record loopx/selected-todo --actor openai/MODEL --yes-spend
  harness record --actor candidate --stale-only --yes-spend
  harness record --actor candidate --yes-spend --provenance simulated
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
    default="live",
    show_default=True,
    help="Whether a real model answers, or a rehearsal.",
)
@click.option("--yes-spend", is_flag=True, help="Agree that live actors cost money; there is no bound on the cost.")
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True, help="How it is told."
)
def record(
    *,
    selection: tuple[str, ...],
    actors: tuple[str, ...],
    sets: tuple[str, ...],
    into: Path,
    replace: bool,
    stale_only: bool,
    provenance: str,
    yes_spend: bool,
    form: str,
) -> ExitCode:
    """Play scenarios (default: all) with live models and keep the exchanges below the folder of recordings.

    A recording is kept where the episode was judged, pass or fail; an outage is no recording. What is recorded
    already is refused without --replace, and so is what an interrupted recording left behind. With it the fullest of
    those stays until the new recording is whole; what is removed is told.
    """
    settings = wiring.settings()
    if not yes_spend:
        raise UsageError("live models cost money; agree with --yes-spend")
    folder = settings.cwd / into
    jobs = _jobs(settings, selection, actors, sets)
    fitting = [job for job in jobs if stale_only and not _is_due(settings, folder, job)]
    due = [job for job in jobs if job not in fitting]
    if not (replace or stale_only):
        _refuse_recorded(folder, due)
    wiring.refuse_ordinary_keys(settings, due)
    kept = wiring.keeping(
        settings,
        [job.actor for job in due],
        folder,
        "judged",
        replace=replace or stale_only,
        provenance="simulated" if provenance == "simulated" else "live",
    )
    return _play(settings, due, kept, folder, form)


def _jobs(
    settings: wiring.Settings, selection: Sequence[str], actors: Sequence[str], sets: Sequence[str]
) -> tuple[EpisodeJob, ...]:
    chosen = choose(settings, selection)
    specs = {
        one.scenario.id: [spec for actor in actors for spec in wiring.actor_specs(settings, actor, one, sets)]
        for one in chosen
    }
    for found in specs.values():
        for spec in found:
            if spec.identity.kind != "live":
                raise UsageError(
                    f"actor {spec.identity.ref!r} is no live model; only what a live model says is recorded"
                )
    planes = {one.scenario.plane: wiring.plane_identity(settings, one.scenario.plane) for one in chosen}
    options = EpisodeOptions(executor=DEFAULT_EXECUTOR)
    return plan(chosen, specs, planes, options=options)


def _path(folder: Path, job: EpisodeJob) -> Path:
    return recording.recording_path(folder, job.loaded.scenario.id, job.actor.identity, job.trial)


def _refuse_recorded(folder: Path, jobs: Sequence[EpisodeJob]) -> None:
    for job in jobs:
        path = _path(folder, job)
        if path.exists():
            raise UsageError(
                f"{path} is there already; record it again with --replace, or what is stale with --stale-only"
            )
        for half in recording.halves(path):
            raise UsageError(f"{half}; --replace records anew and removes it when the new recording is whole")


def _is_due(settings: wiring.Settings, folder: Path, job: EpisodeJob) -> bool:
    """Whether there is a recording of this episode that no longer fits."""
    path = _path(folder, job)
    if not path.is_file():
        return False
    (spec,) = wiring.recorded_specs(settings, job.loaded, str(path))
    with wiring.Session(settings) as session:
        replayed = job.model_copy(update={"actor": spec, "trial": spec.trial or job.trial})
        return is_stale(session.run(replayed).receipt)


def _remove(found: Sequence[recording.Half]) -> None:
    for half in recording.remove(found):
        note(f"harness: removed {half}")


def _play(
    settings: wiring.Settings, jobs: Sequence[EpisodeJob], kept: wiring.Keeping, folder: Path, form: str
) -> ExitCode:
    codes: set[ExitCode] = set()
    with wiring.Session(settings, kept) as session:
        for job in jobs:
            path = _path(folder, job)
            if kept.replace:
                _remove(recording.superfluous(recording.halves(path)))
            receipt = session.run(job).receipt
            written: Literal["recorded", "not recorded"] = "recorded" if kept.stays(receipt.verdict) else "not recorded"
            if written == "recorded" and kept.replace:
                _remove(recording.halves(path))
            if written == "not recorded":
                codes.add(BY_VERDICT[receipt.verdict])
                note(
                    f"harness: {receipt.scenario} with {receipt.actor.ref}: {receipt.outcome.name}; nothing is recorded"
                )
            if form == "jsonl":
                place = str(path) if written == "recorded" else None
                say_json({"scenario": receipt.scenario, "actor": receipt.actor.ref, "recording": place})
            elif written == "recorded":
                code = "" if receipt.failure_code is None else f" ({receipt.failure_code})"
                say(f"{receipt.verdict}{code}  {receipt.scenario}  {receipt.actor.ref}  {path}")
    if form == "text":
        say(f"{len(jobs)} played" if jobs else "nothing to record: every recording still fits")
    return gravest(codes)
