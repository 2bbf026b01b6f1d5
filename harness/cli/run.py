"""``harness run``: play scenarios with an actor and write receipts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import click

from harness import wiring
from harness.cli.answers import answer_option, give_answers
from harness.cli.cast import Cast, cast
from harness.cli.ceilings import Ceilings, agreed, amount, duration
from harness.cli.damaged import replay_damaged_option, replays_damaged
from harness.cli.decisions import decide_option, take_decisions
from harness.cli.episode_options import episode_options, options_of
from harness.cli.estimate import estimate
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.folder import chosen_reporters, planned
from harness.cli.options import format_option
from harness.cli.order import Order
from harness.cli.output import say, say_json, table
from harness.cli.play import play
from harness.cli.resuming import Asked, asked_of
from harness.cli.selection import choose
from harness.cli.suite_options import Scale, part_of, suite_options
from harness.schema.base import JsonValue
from harness.schema.run import EpisodeJob, EpisodeOptions, Shard
from harness.suite import plan

__all__ = ["run"]

_EPILOG = """\b
Examples:
  harness run
  harness run 'loopx/*' --format jsonl
  harness run loopx/capability-repair --actor script:scripts.json --out mine
  harness run tag:tier:pr --actor openai/MODEL --trials 5 --dry-run
  harness run tag:tier:pr --actor NAME --trials 5 --max-cost 2.50
  harness run tag:nightly --actor NAME --trials 20 --shard 2/5 --max-cost 5
  harness run --resume reports/RUN-ID --max-cost 5

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
@episode_options
@click.option("-n", "--jobs", "at_once", type=click.IntRange(1, 256), help="Episodes at a time.  [default: processors]")
@suite_options
@click.option("--max-cost", callback=amount, metavar="USD", help="What live actors may cost together.")
@click.option("--max-time", callback=duration, metavar="DURATION", help="How long anything may start: 90m, 2h.")
@click.option("--yes-spend", is_flag=True, help="Agree that live actors cost money, without a bound on the cost.")
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
@decide_option
@replay_damaged_option
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
    at_once: int | None,
    max_cost: Decimal | None,
    max_time: float | None,
    yes_spend: bool,
    keep: str,
    stale: str,
    dry_run: bool,
    resume: Path | None,
    answers: tuple[str, ...],
    decisions: tuple[str, ...],
) -> ExitCode:
    """Play scenarios (default: all) and write receipts and reports into a run folder.

    With scripted and recorded actors every episode must pass, and a recording must still fit. With live actors the
    exit code only says whether every episode left a receipt that is judged.
    """
    settings = wiring.settings()
    options = options_of(context)
    reporters = chosen_reporters(wiring.reporters(), reports)
    scale = Scale.of(context)
    asked = Asked(
        selection=selection, actors=actors, sets=sets, trials=trials, shard=scale.shard, retries=scale.retries
    )
    if resume is not None:
        asked = asked_of(resume, asked if _says_what(context) or out is not None else None)
    playing, jobs, shard = _planned(settings, asked, options)
    ceilings = Ceilings(None if dry_run else max_cost, max_time)
    agreed(settings, [job.actor for job in jobs], ceilings, yes_spend=yes_spend or dry_run)
    if dry_run:
        _print_plan(settings, jobs, form)
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
        care=scale.care(settings, asked.retries),
        shard=shard,
        ceilings=ceilings,
        replay_damaged=replays_damaged(context, resume),
    )
    give_answers(resume, answers)
    take_decisions(resume, decisions)
    return play(settings, jobs, order)


def _planned(
    settings: wiring.Settings, asked: Asked, options: EpisodeOptions
) -> tuple[Cast, tuple[EpisodeJob, ...], Shard | None]:
    """Who plays what, or this shard of it. Raises InputError, and NothingSelectedError for nobody and nothing."""
    chosen = choose(settings, asked.selection)
    playing = cast(settings, chosen, asked.actors, asked.sets, everything=not asked.selection)
    planes = {one.scenario.plane: wiring.plane_identity(settings, one.scenario.plane) for one in chosen}
    playing.refuse_nobody()
    whole = plan(chosen, playing.actors, planes, trials=asked.trials, options=options)
    return playing, *part_of(whole, asked.shard)


def _says_what(context: click.Context) -> bool:
    """Whether the command line itself says what is played."""
    typed = click.core.ParameterSource.COMMANDLINE
    return any(context.get_parameter_source(name) is typed for name in ("actors", "sets", "trials", "shard")) or bool(
        context.params["selection"]
    )


def _print_plan(settings: wiring.Settings, jobs: Sequence[EpisodeJob], form: str) -> None:
    wiring.refuse_ordinary_keys(settings, jobs)
    rows = [planned(job) for job in jobs]
    if form == "json":
        plan_of: list[JsonValue] = [row.model_dump(mode="json", exclude_none=True) for row in rows]
        say_json({"plan": plan_of, "estimate": estimate(jobs).model_dump(mode="json")}, indent=2)
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
        say(estimate(jobs).text)
