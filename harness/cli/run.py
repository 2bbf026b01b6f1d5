"""``harness run``: play scenarios with an actor and write receipts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from harness import wiring
from harness.cli.answers import answer_option, give_answers
from harness.cli.cast import Cast, cast
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.folder import chosen_reporters, planned
from harness.cli.options import executor_option, format_option
from harness.cli.output import say, say_json, table
from harness.cli.play import Order, play
from harness.cli.resuming import Asked, asked_of
from harness.cli.selection import choose
from harness.errors import MissingKeyError, UsageError
from harness.schema.actor import ActorSpec
from harness.schema.run import EpisodeJob, EpisodeOptions
from harness.suite import plan

__all__ = ["run"]

_EPILOG = """\b
Examples:
  harness run
  harness run 'loopx/*' --format jsonl
  harness run loopx/capability-repair --actor script:scripts.json --out mine
  harness run tag:tier:pr --actor openai/MODEL --trials 5 --yes-spend
  harness run --resume reports/RUN-ID --yes-spend

\b
Actors: script, script:NAME, script:FILE.json, recorded, recorded:ID,
recorded:FILE, PROVIDER/MODEL[@BASE_URL], or a NAME of harness.toml.
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("selection", nargs=-1, metavar="[SCENARIO|GLOB|tag:TAG]...")
@click.option("--actor", "actors", multiple=True, default=("script",), show_default=True, help="Who plays; repeatable.")
@click.option("--trials", type=click.IntRange(1, 10_000), default=1, show_default=True, help="Episodes per actor.")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="A generation setting of live actors.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run: new or empty.  [default: reports/RUN-ID]",
)
@format_option("What is printed; jsonl is one receipt a line, in plan order.")
@click.option("--report", "reports", multiple=True, metavar="NAME", help="Reports to write.  [default: all]")
@executor_option("How the control plane is run; receipts are the same.")
@click.option("-n", "--jobs", "at_once", type=click.IntRange(1, 256), help="Episodes at a time.  [default: processors]")
@click.option(
    "--cut-off-calls",
    type=click.Choice(["repeat", "stop"]),
    default="repeat",
    show_default=True,
    help="A live call that an earlier run was killed in: make it once more, flagged, or leave its episode pending.",
)
@click.option("--keep-workspace", is_flag=True, help="Leave the workspaces, and print where they are.")
@click.option(
    "--shadow",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="Repeat every Nth warm call cold and compare; 0 for none.",
)
@click.option("--yes-spend", is_flag=True, help="Agree that live actors cost money; there is no bound on the cost.")
@click.option(
    "--keep",
    type=click.Choice(["failed", "all", "none"]),
    default="failed",
    show_default=True,
    help="Recordings of live episodes to keep in the run folder, redacted.",
)
@click.option(
    "--stale",
    type=click.Choice(["fail", "warn"]),
    default="fail",
    show_default=True,
    help="What a recording that no longer fits means for the exit code.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan and do nothing.")
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="RUN",
    help="Go on with an interrupted run: play what is left of it, pay nothing twice.",
)
@answer_option
@click.pass_context
def run(
    context: click.Context,
    *,
    selection: tuple[str, ...],
    actors: tuple[str, ...],
    trials: int,
    sets: tuple[str, ...],
    out: Path | None,
    form: str,
    reports: tuple[str, ...],
    executor: str,
    at_once: int | None,
    cut_off_calls: str,
    keep_workspace: bool,
    shadow: int,
    yes_spend: bool,
    keep: str,
    stale: str,
    dry_run: bool,
    resume: Path | None,
    answers: tuple[str, ...],
) -> ExitCode:
    """Play scenarios (default: all) and write receipts and reports into a run folder.

    With scripted and recorded actors every episode must pass, and a recording must still fit. With live actors the
    exit code only says whether every episode left a receipt that is judged.
    """
    settings = wiring.settings()
    options = EpisodeOptions(
        executor="cold" if executor == "cold" else "warm",
        shadow_every=shadow,
        keep_workspace=keep_workspace,
        cut_off_calls="stop" if cut_off_calls == "stop" else "repeat",
    )
    reporters = chosen_reporters(wiring.reporters(), reports)
    asked = Asked(selection=selection, actors=actors, sets=sets, trials=trials)
    if resume is not None:
        asked = asked_of(resume, asked if _says_what(context) or out is not None else None)
    playing, jobs = _planned(settings, asked, options)
    _consent(settings, [job.actor for job in jobs], yes_spend=yes_spend or dry_run)
    if dry_run:
        wiring.refuse_ordinary_keys(settings, jobs)
        _print_plan(jobs, form)
        return gravest(playing.tell(tolerate_strays=stale == "warn"))
    order = Order(
        options=options,
        reporters=reporters,
        form=form,
        jobs_at_once=at_once or min(os.cpu_count() or 1, 8),
        out=out,
        keep="all" if keep == "all" else "none" if keep == "none" else "failed",
        tolerate_stale=stale == "warn",
        playing=playing,
        resume=resume,
        asked=asked,
    )
    give_answers(resume, answers)
    return play(settings, jobs, order)


def _planned(settings: wiring.Settings, asked: Asked, options: EpisodeOptions) -> tuple[Cast, tuple[EpisodeJob, ...]]:
    """Who plays what. Raises InputError, and NothingSelectedError for nobody and nothing."""
    chosen = choose(settings, asked.selection)
    playing = cast(settings, chosen, asked.actors, asked.sets, everything=not asked.selection)
    planes = {one.scenario.plane: wiring.plane_identity(settings, one.scenario.plane) for one in chosen}
    playing.refuse_nobody()
    return playing, plan(chosen, playing.actors, planes, trials=asked.trials, options=options)


def _says_what(context: click.Context) -> bool:
    """Whether the command line itself says what is played."""
    typed = click.core.ParameterSource.COMMANDLINE
    return any(context.get_parameter_source(name) is typed for name in ("actors", "sets", "trials")) or bool(
        context.params["selection"]
    )


def _consent(settings: wiring.Settings, actors: Iterable[ActorSpec], *, yes_spend: bool) -> None:
    """Refuse what would cost money unasked, or fail for want of a key, before anything is made."""
    for actor in actors:
        identity, variable = actor.identity, actor.key_env or ""
        if identity.kind != "live":
            continue
        if not yes_spend:
            raise UsageError(f"actor {identity.ref!r} is a live model and costs money; agree with --yes-spend")
        if not settings.environ.get(variable, "").strip() and actor.key_required:
            raise MissingKeyError(identity.ref, variable)


def _print_plan(jobs: Sequence[EpisodeJob], form: str) -> None:
    rows = [planned(job) for job in jobs]
    if form == "json":
        say_json({"plan": [row.model_dump(mode="json", exclude_none=True) for row in rows]}, indent=2)
    elif form == "jsonl":
        for row in rows:
            say_json(row.model_dump(mode="json", exclude_none=True))
    else:
        say(
            table(
                ("scenario", "actor", "plane", "trial"),
                [(row.scenario, row.actor, row.plane, str(row.trial)) for row in rows],
            )
        )
        calls = sum(job.loaded.scenario.limits.model_turns for job in jobs if job.actor.identity.kind == "live")
        bound = f"at most {calls} calls of live models" if calls else "no calls of live models"
        say(f"{len(rows)} episode{'' if len(rows) == 1 else 's'}; {bound}")
