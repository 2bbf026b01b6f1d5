"""``harness run``: play scenarios with an actor and write receipts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from harness import wiring
from harness.cli.answers import answer_option
from harness.cli.cast import Cast, cast, recorded_files
from harness.cli.ceilings import agreed
from harness.cli.damaged import replay_damaged_option, replays_damaged
from harness.cli.decisions import decide_option
from harness.cli.dry_run import look
from harness.cli.early import refuse_early
from harness.cli.episode_options import episode_options, options_of
from harness.cli.exit_codes import ExitCode
from harness.cli.folder import chosen_reporters
from harness.cli.judging import Judging, judging_options
from harness.cli.leaving_options import Leaving, leaving_options
from harness.cli.options import format_option
from harness.cli.order import Order
from harness.cli.plan_before import choose_again, keep_to_plan, plan_before
from harness.cli.play import play
from harness.cli.remembering import PLANNED, recalled, told
from harness.cli.responses import Responses
from harness.cli.resuming import ASKED, Asked, asked_of
from harness.cli.selection import choose
from harness.cli.spending_options import Spending, spending_options
from harness.cli.suite_options import Scale, part_of, suite_options
from harness.cli.versions import planes_of
from harness.errors import UsageError
from harness.receipt import locked
from harness.schema.run import EpisodeJob, EpisodeOptions, Shard
from harness.suite import plan
from harness.wiring.rehearsed import refuse_unplayed
from harness.wiring.sandboxing import confinement

__all__ = ["run"]

_EPILOG = """\b
Examples:
  harness run
  harness run 'loopx/*' --format jsonl
  harness run loopx/capability-repair --actor script:scripts.json --out mine
  harness run 'loopx/*' --plane loopx==0.4.8,1.4.2,2.1.1
  harness run tag:tier:pr --actor openai/MODEL --trials 5 --dry-run
  harness run tag:tier:pr --actor NAME --trials 5 --max-cost 2.50
  harness run tag:nightly --actor NAME --trials 20 --shard 2/5 --max-cost 5
  harness run --actor ONE --actor OTHER --trials 20 --early --max-cost 5
  harness run tag:nightly --actor NAME --trials 20 --max-cost 5 --policy FILE
  harness run --resume reports/RUN-ID --max-cost 5

\b
Actors: script, script:NAME, script:FILE.json, recorded, recorded:ID,
recorded:FILE, PROVIDER/MODEL[@BASE_URL], or a NAME of harness.toml.
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("selection", nargs=-1, metavar="[SCENARIO|GLOB|tag:TAG]...")
@click.option("--actor", "actors", multiple=True, default=("script",), show_default=True, help="Who plays; repeatable.")
@click.option(
    "--plane",
    "planes",
    multiple=True,
    metavar="NAME==VERSION[,VERSION...]",
    help="Play on these versions of a control plane, instead of the one that scenarios name; repeatable.",
)
@click.option("--trials", type=click.IntRange(1, 10_000), default=1, show_default=True, help="Episodes per actor.")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="A generation setting of live actors.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run: new or empty.  [default: reports/RUN-ID]",
)
@format_option("What is printed; jsonl is one receipt a line, in plan order.")
@episode_options
@click.option("-n", "--jobs", "at_once", type=click.IntRange(1, 256), help="Episodes at a time.  [default: processors]")
@suite_options
@spending_options
@leaving_options
@judging_options
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
    planes: tuple[str, ...],
    trials: int,
    sets: tuple[str, ...],
    out: Path | None,
    form: str,
    at_once: int | None,
    resume: Path | None,
    answers: tuple[str, ...],
    decisions: tuple[str, ...],
) -> ExitCode:
    """Play scenarios (default: all) and write receipts and reports into a run folder.

    With scripted and recorded actors every episode must pass, and a recording must still fit. With live actors the
    exit code only says whether every episode left a receipt that is judged: 0, 2 where one is not, 3 where one waits.
    With a policy its decisions say it, whoever plays.
    """
    settings, judging = wiring.settings(), Judging.of(context)
    responses, spending = Responses.of(resume, answers, decisions), Spending.of(context)
    asked = Asked(
        selection=selection, actors=actors, planes=planes, sets=sets, trials=trials, said=told(context)
    ).model_copy(update=Scale.of(context).asked)
    lock = _claimed(context, resume, spending)
    if resume is not None:
        asked = _asked_before(context, resume, asked)
    options, scale = options_of(context), Scale.of(context)
    settings, leaving = scale.over(settings), Leaving.of(context)
    reporters = chosen_reporters(wiring.reporters(), leaving.reports)
    care = scale.care(settings)
    playing, jobs, shard = _planned(settings, asked, options, resume)
    _refuse(settings, jobs, spending, judging=judging, shard=shard)
    processors = os.cpu_count() or 1
    jobs_at_once = at_once or min(processors, 8)
    order = Order(
        options=options,
        reporters=reporters,
        form=form,
        jobs_at_once=jobs_at_once,
        out=out,
        keep=leaving.keep,
        tolerate_stale=leaving.tolerates_stale,
        playing=playing,
        resume=resume,
        asked=asked,
        care=care,
        shard=shard,
        ceilings=spending.ceilings,
        responses=responses,
        pool=scale.pool_for(jobs, jobs_at_once, processors),
        replay_damaged=replays_damaged(context, resume),
        lock=lock,
        confinement=confinement(options.sandbox),
        judging=judging,
    )
    return look(settings, jobs, order) if spending.dry_run else play(settings, jobs, order)


def _refuse(
    settings: wiring.Settings,
    jobs: Sequence[EpisodeJob],
    spending: Spending,
    *,
    judging: Judging | None,
    shard: Shard | None,
) -> None:
    """Raise InputError for a run that nobody agreed to pay for, that cannot be played, or not be judged."""
    if judging is not None and shard is not None:
        raise UsageError("a shard is part of a plan: merge all of them, then judge them with harness qualify --policy")
    agreed(settings, [job.actor for job in jobs], spending.ceilings, yes_spend=spending.yes_spend)
    refuse_unplayed(settings, jobs)


def _claimed(context: click.Context, run: Path | None, spending: Spending) -> int | None:
    """The folder of a run that is gone on with, locked to the end of the command; None where nothing is written there.

    Nobody else may read what is there to go on with it: what was read could be older than what is there. Raises
    StoreError where another process has it.
    """
    if run is None or spending.dry_run or not run.is_dir():
        return None
    return context.with_resource(locked(run))


def _asked_before(context: click.Context, run: Path, asked: Asked) -> Asked:
    """What a run was asked for that is gone on with, with what is said now. Raises UsageError and StoreError."""
    before = asked_of(run, asked if _says_what(context) else None)
    return before.model_copy(update={"said": recalled(context, before.holds, str(run / ASKED))})


def _planned(
    settings: wiring.Settings, asked: Asked, options: EpisodeOptions, resume: Path | None
) -> tuple[Cast, tuple[EpisodeJob, ...], Shard | None]:
    """Who plays what, or this shard of it; of a run that is gone on with what it was to play, and no more.

    Raises InputError, and NothingSelectedError for nobody and nothing.
    """
    before = None if resume is None else plan_before(resume)
    if before is None:
        chosen = choose(settings, asked.selection or _of_recordings(settings, asked.actors))
    else:
        chosen = choose_again(settings, asked.selection, before)
    playing = cast(settings, chosen, asked.actors, asked.sets, selection=asked.selection)
    planes = planes_of(settings, chosen, asked.planes)
    playing.refuse_nobody()
    whole = plan(chosen, playing.actors, planes, trials=asked.trials, options=options)
    if asked.early:
        refuse_early(whole, shard=asked.shard)
    if before is not None:
        whole = keep_to_plan(whole, before)
    return playing, *part_of(whole, asked.shard)


def _of_recordings(settings: wiring.Settings, actors: Sequence[str]) -> tuple[str, ...]:
    """The scenarios that recordings hold where nobody but such files plays; nothing where somebody else does."""
    files = recorded_files(settings, actors)
    return tuple(dict.fromkeys(files.values())) if len(files) == len(set(actors)) else ()


def _says_what(context: click.Context) -> bool:
    """Whether the command line itself says what is played, or where."""
    by_hand = click.core.ParameterSource.COMMANDLINE
    return any(context.get_parameter_source(name) is by_hand for name in PLANNED - {"selection"}) or bool(
        context.params["selection"]
    )
