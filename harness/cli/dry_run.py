"""What a verb would play, printed instead of played."""

from __future__ import annotations

from collections.abc import Sequence

from harness import wiring
from harness.cli.ceilings import refuse_too_small
from harness.cli.early import stopping_of
from harness.cli.estimate import estimate
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.folder import planned, starting_manifest
from harness.cli.order import Order
from harness.cli.output import say, say_json, table
from harness.cli.resuming import kept, resumed
from harness.config.quarantine_file import QUARANTINE, load_quarantine
from harness.receipt import refuse_taken
from harness.schema.base import JsonValue
from harness.schema.run import EpisodeJob

__all__ = ["look", "print_plan"]


def look(settings: wiring.Settings, jobs: Sequence[EpisodeJob], order: Order) -> ExitCode:
    """What ``harness run`` would play: whatever it would refuse to begin with is refused, and nothing is done.

    Raises InputError and StoreError.
    """
    wiring.refuse_ordinary_keys(settings, jobs)
    load_quarantine(settings.cwd / QUARANTINE)
    if order.judging is not None:
        early = stopping_of(jobs).told if order.early else None
        begun = starting_manifest(jobs, order.options, run_id="", created_at="", early=early)
        order.judging.refuse("the run", begun, jobs)
    before = None
    if order.resume is not None:
        before = resumed(order.resume, jobs, retries=order.care.retries, replay_damaged=order.replay_damaged)
        jobs = tuple(job for _, job in before.left.jobs)
    elif order.out is not None:
        refuse_taken(order.out, kept(order.asked))
    with order.responses.held(order.resume) as held:
        held.refuse_left_out({job.key for job in jobs})
    refuse_too_small(jobs, order.ceilings, order.resume)
    if before is not None:
        before.tell()
    print_plan(jobs, order.form)
    if order.early and order.form == "text":
        say("that is the most: --early begins nothing more once it is known who passes more often")
    return gravest(order.playing.tell(tolerate_strays=order.tolerate_stale))


def print_plan(jobs: Sequence[EpisodeJob], form: str) -> None:
    """Every episode, and what they may ask and cost together; ``jsonl`` is one episode a line."""
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
