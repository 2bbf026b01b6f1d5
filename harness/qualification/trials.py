"""The trials of a run: one for each place of its plan, whatever came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from harness.schema.message import Usage, known_count
from harness.schema.paid import paid
from harness.schema.qualification import Trial
from harness.schema.receipt import Receipt
from harness.schema.run import AttemptRow, RunLogEntry, RunView

__all__ = ["trial_of", "trials_of"]

_UNTOLD: Final = Usage()


def trials_of(view: RunView, last: Iterable[Receipt]) -> dict[str, list[Trial]]:
    """By actor, in plan order; ``last`` are the receipts that count, one of each episode.

    An earlier attempt is no trial: only what it cost is added to that of its episode. Nor is a place that was not
    played because it was not needed any more.
    """
    logs: dict[str, list[RunLogEntry]] = defaultdict(list)
    for receipt, log in zip(view.receipts, view.log, strict=True):
        # to make a key takes a while, and there are as many as receipts
        logs[log.key if receipt.attempt == 1 else receipt.episode].append(log)
    own = {log.key: log for log in view.log}
    # every actor that is planned is told, though nothing of it was played
    found: dict[str, list[Trial]] = {place.actor: [] for place in view.manifest.plan}
    played: Counter[tuple[str, str, int]] = Counter()
    for receipt in last:
        played[receipt.scenario, receipt.actor.ref, receipt.trial] += 1
        key = receipt.key
        earlier = [log for log in logs[key if receipt.attempt == 1 else receipt.episode] if log.key != key]
        trial = trial_of(receipt, [*earlier, own[key]])
        found.setdefault(receipt.actor.ref, []).append(trial)
    needed = filter(view.manifest.needs, view.manifest.plan)
    planned = Counter((place.scenario, place.actor, place.trial) for place in needed)
    for (scenario, actor, number), count in (planned - played).items():
        found[actor] += [Trial(scenario=scenario, verdict="not_played", number=number)] * count
    return found


def trial_of(receipt: Receipt, logs: Sequence[RunLogEntry]) -> Trial:
    """What a receipt and the ``logs`` of all attempts say, its own last; without one nothing is known of its time."""
    rows = [row for log in logs for row in log.attempts if row.status != "not_sent"]
    spent, own = paid(logs), logs[-1].attempts if logs else ()
    tokens, untold = _tokens(rows, spent.damaged)
    return Trial(
        scenario=receipt.scenario,
        verdict=receipt.verdict,
        number=receipt.trial,
        cause=receipt.cause,
        code=receipt.failure_code,
        seconds=logs[-1].seconds if logs else None,
        attempts=max(1, len(logs)),
        calls=spent.calls + spent.damaged,
        unknown_calls=spent.unknown + spent.damaged,
        micro_usd=spent.micro_usd,
        tokens=(tokens[0], tokens[1], tokens[2], tokens[3]),
        untold=(untold[0], untold[1], untold[2], untold[3]),
        models=tuple(dict.fromkeys(row.model for row in own if row.model is not None)),
        fingerprints=tuple(dict.fromkeys(row.fingerprint for row in own if row.fingerprint is not None)),
    )


def _tokens(rows: Iterable[AttemptRow], hidden: int) -> tuple[list[int], list[int]]:
    """Tokens of input, of that from a cache, of output, of that for reasoning; of how many calls each is unknown.

    Of ``hidden`` calls, which have no row, all of them are.
    """
    tokens, untold = [0] * 4, [hidden] * 4
    for row in rows:
        one = _UNTOLD if row.usage is None or row.inconsistent else row.usage
        sorts = (one.input_tokens, one.cache_read_tokens, one.output_tokens, one.reasoning_tokens)
        for place, count in enumerate(sorts):
            if count is None or (known := known_count(count)) is None:
                untold[place] += 1
            else:
                tokens[place] += known
    return tokens, untold
