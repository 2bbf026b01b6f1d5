"""The trials of a run: one for each place of its plan, whatever came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal

from harness.schema.qualification import Trial
from harness.schema.receipt import Receipt
from harness.schema.run import AttemptRow, RunLogEntry, RunView

__all__ = ["trials_of"]


def trials_of(view: RunView, last: Iterable[Receipt]) -> dict[str, list[Trial]]:
    """By actor, in plan order; ``last`` are the receipts that count, one of each episode.

    An earlier attempt is no trial: only what it cost is added to that of its episode. Nor is a place that was not
    played because it was not needed any more.
    """
    logs: dict[str, list[RunLogEntry]] = defaultdict(list)
    for receipt, log in zip(view.receipts, view.log, strict=True):
        logs[receipt.episode].append(log)
    own = {log.key: log for log in view.log}
    # every actor that is planned is told, though nothing of it was played
    found: dict[str, list[Trial]] = {place.actor: [] for place in view.manifest.plan}
    played: Counter[tuple[str, str, int]] = Counter()
    for receipt in last:
        played[receipt.scenario, receipt.actor.ref, receipt.trial] += 1
        trial = _trial(receipt, own[receipt.key], logs[receipt.episode])
        found.setdefault(receipt.actor.ref, []).append(trial)
    needed = filter(view.manifest.needs, view.manifest.plan)
    planned = Counter((place.scenario, place.actor, place.trial) for place in needed)
    for (scenario, actor, number), count in (planned - played).items():
        found[actor] += [Trial(scenario=scenario, verdict="not_played", number=number)] * count
    return found


def _trial(receipt: Receipt, own: RunLogEntry, logs: list[RunLogEntry]) -> Trial:
    rows = [row for log in logs for row in log.attempts if row.status != "not_sent"]
    damaged = sum(log.at_least for log in logs)
    known = [row.cost_micro_usd for row in rows if row.cost_micro_usd is not None]
    return Trial(
        scenario=receipt.scenario,
        verdict=receipt.verdict,
        number=receipt.trial,
        cause=receipt.cause,
        code=receipt.failure_code,
        seconds=own.seconds,
        attempts=len(logs),
        calls=len(rows) + damaged,
        unknown_calls=len(rows) - len(known) + damaged,
        micro_usd=sum(known, Decimal(0)),
        models=_models(own.attempts),
    )


def _models(rows: Iterable[AttemptRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.model for row in rows if row.model is not None))
