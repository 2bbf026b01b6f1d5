"""What a verb would play, printed instead of played."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cli.estimate import estimate
from harness.cli.folder import planned
from harness.cli.output import say, say_json, table
from harness.schema.base import JsonValue
from harness.schema.run import EpisodeJob

__all__ = ["print_plan"]


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
