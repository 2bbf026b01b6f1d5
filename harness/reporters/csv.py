"""CSV for a spreadsheet: a row for each trial of the plan, whatever came of it.

The last attempt is the trial. What earlier ones ended with stands in a column, and what all of them took is added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from harness.ports import Reporter
from harness.qualification.trials import trial_of
from harness.reporters._csv_text import Cell, csv_text
from harness.reporters._rows import Episode, by_trial, episodes, not_run, planned_who, steps_in_short
from harness.schema.money import dollars_of
from harness.schema.receipt import Receipt
from harness.schema.run import PlannedEpisode, RunLogEntry, RunView

__all__ = ["CsvReporter", "build"]

#: ``number`` is that of ``harness show RUN/NUMBER``; seconds are of the last attempt, money and tokens of all.
#: ``decision`` is what a policy says of the actor, where one was given.
_HEAD: Final = (
    *("run", "number", "scenario", "actor", "kind", "provider", "model"),
    *("recording", "plane", "plane_version", "trial", "verdict", "cause", "code"),
    *("outcome", "stale", "quarantine", "attempts", "earlier_attempts", "started_at", "seconds"),
    *("seconds_of_all", "model_turns", "tool_calls", "executed_calls", "refused_calls", "steps", "unexpected_changes"),
    *(
        "model_calls",
        "calls_of_unknown_cost",
        "usd",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
        "reasoning_tokens",
    ),
    *("answered_by", "fingerprints", "scenario_digest", "actor_digest", "decision"),
)
_TOKENS: Final = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class CsvReporter:
    """One CSV file. An empty cell is not known, or not there; unknown is never zero."""

    name = "csv"
    filename = "trials.csv"

    def render(self, view: RunView) -> str:
        """The whole file."""
        run: dict[str, Cell] = {"run": view.manifest.run_id}
        decided = {one.who: one.word for one in view.decisions}
        several = view.manifest.in_versions
        played = (
            {**run, **_played(tries), "decision": decided.get(tries[-1].who)} for tries in by_trial(episodes(view))
        )
        empty = (
            {**run, **_empty(place), "decision": decided.get(planned_who(place, several))} for place in not_run(view)
        )
        return csv_text(_HEAD, chain(played, empty))


def build() -> Reporter:
    """The entry of this file."""
    return CsvReporter()


def _played(tries: Sequence[Episode]) -> dict[str, Cell]:
    *earlier, row = tries
    logs = [one.log for one in tries if one.log is not None]
    receipt, counters, changes = row.receipt, row.receipt.counters, row.receipt.boundary
    actor = receipt.actor
    return {
        "number": row.number,
        "scenario": receipt.scenario,
        "actor": actor.ref,
        "kind": actor.kind,
        "provider": actor.provider,
        "model": actor.model,
        "recording": row.provenance,
        "plane": receipt.plane.name,
        "plane_version": receipt.plane.version,
        "trial": receipt.trial,
        "verdict": receipt.verdict,
        "cause": receipt.cause,
        "code": receipt.failure_code,
        "outcome": receipt.outcome.name,
        "stale": row.stale,
        "quarantine": None if row.quarantine is None else row.quarantine.terms,
        "attempts": len(tries),
        "earlier_attempts": "; ".join(one.receipt.failure_code or one.receipt.outcome.name for one in earlier),
        "started_at": None if row.log is None else row.log.started_at,
        "seconds": None if row.log is None else round(row.log.seconds, 3),
        "seconds_of_all": round(sum(log.seconds for log in logs), 3) if logs else None,
        "model_turns": counters.model_turns,
        "tool_calls": counters.tool_calls,
        "executed_calls": counters.executed_calls,
        "refused_calls": counters.refused_calls,
        "steps": steps_in_short(receipt),
        "unexpected_changes": changes.unexpected if changes.measured else None,
        "scenario_digest": receipt.scenario_digest,
        "actor_digest": actor.digest,
        **(_spent(receipt, logs) if actor.kind == "live" else {}),
    }


def _spent(receipt: Receipt, logs: Sequence[RunLogEntry]) -> dict[str, Cell]:
    """Money and tokens are empty where those of one call are unknown: a sum of the others would be too small."""
    trial = trial_of(receipt, logs)
    usd = dollars_of(trial.micro_usd)
    tokens = {
        name: None if untold else count for name, count, untold in zip(_TOKENS, trial.tokens, trial.untold, strict=True)
    }
    return {
        "model_calls": trial.calls,
        "calls_of_unknown_cost": trial.unknown_calls,
        "usd": None if trial.unknown_calls else usd,
        **(tokens if trial.calls else {}),
        "answered_by": "; ".join(trial.models),
        "fingerprints": "; ".join(trial.fingerprints),
    }


def _empty(place: PlannedEpisode) -> dict[str, Cell]:
    name, _, version = place.plane.partition("==")
    return {
        "scenario": place.scenario,
        "actor": place.actor,
        "recording": place.provenance,
        "plane": name,
        "plane_version": version,
        "trial": place.trial,
        "verdict": "not_run",
    }
