"""What trials come to: of one scenario, and of an actor over all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import ceil
from statistics import median

from harness.qualification.clustering import spread
from harness.qualification.intervals import clopper_pearson, wilson
from harness.qualification.repetition import in_a_row, mean_in_a_row
from harness.schema.actor import ActorKind
from harness.schema.money import dollars_of
from harness.schema.qualification import (
    ActorFigures,
    Costs,
    Estimate,
    Figures,
    InARow,
    Latency,
    ScenarioFigures,
    TokenCount,
    Tokens,
    Trial,
)
from harness.schema.verdict import JUDGED

__all__ = ["WIDEST", "actor_figures", "estimate", "fewest_judged", "latency", "left_out"]

#: An interval that spans more of the scale than this does not tell a good actor from a bad one.
WIDEST = 0.4


def estimate(passes: int, n: int) -> Estimate:
    """The rate of ``passes`` in ``n`` trials with its intervals. Raises ValueError where there can be no such rate."""
    if n == 0 and passes == 0:
        return Estimate(passes=0, n=0, rate=None, wilson=None, clopper_pearson=None, is_enough=False)
    score = wilson(passes, n)
    return Estimate(
        passes=passes,
        n=n,
        rate=passes / n,
        wilson=score,
        clopper_pearson=clopper_pearson(passes, n),
        is_enough=score.high - score.low <= WIDEST,
    )


def latency(seconds: Sequence[float]) -> Latency:
    """Of these episodes; the 95th hundredth is a time that one of them really took."""
    if not seconds:
        return Latency(episodes=0, median_s=None, p95_s=None)
    in_order = sorted(seconds)
    return Latency(
        episodes=len(in_order), median_s=median(in_order), p95_s=in_order[ceil(len(in_order) * 95 / 100) - 1]
    )


def fewest_judged(trials: Iterable[Trial]) -> int:
    """How many judged trials the scenario with the fewest of them has, of those that have any; 0 without one."""
    counts = Counter(trial.scenario for trial in trials if trial.verdict in JUDGED)
    return min(counts.values(), default=0)


def left_out(trials: Iterable[Trial]) -> dict[str, int]:
    """Trials that were not judged by cause, the most frequent first; ``pending`` and ``not_played`` are such."""
    return _by_frequency(
        trial.cause or "unknown" if trial.verdict == "not_judged" else trial.verdict
        for trial in trials
        if trial.verdict not in JUDGED
    )


def actor_figures(run: str, actor: str, kind: ActorKind, trials: Sequence[Trial], *, most: int) -> ActorFigures:
    """What the ``trials`` of one actor in one run come to; in a row are told for 1 to ``most`` of them."""
    by_scenario: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_scenario[trial.scenario].append(trial)
    scenarios = tuple(_scenario(name, some, most) for name, some in by_scenario.items())
    whole = _figures(trials, _means(scenarios, most))
    judged = [trial for trial in trials if trial.verdict in JUDGED]
    more = {
        "run": run,
        "actor": actor,
        "kind": kind,
        "spread": spread([(one.judged.passes, one.judged.n) for one in scenarios]),
        "costs": _costs(trials, whole) if kind == "live" else None,
        "tokens": _tokens(trials) if kind == "live" else None,
        "latency": latency([trial.seconds for trial in judged if trial.seconds is not None]),
        "failure_codes": _by_frequency(trial.code or "unknown" for trial in judged if trial.verdict == "fail"),
        "models": _by_frequency(model for trial in trials for model in trial.models),
        "fingerprints": _by_frequency(one for trial in trials for one in trial.fingerprints),
        "scenarios": scenarios,
    }
    return ActorFigures.model_validate({**dict(whole), **more})


def _scenario(name: str, trials: Sequence[Trial], most: int) -> ScenarioFigures:
    passes, n = _counts(trials)
    rows = tuple(in_a_row(passes, n, k) for k in range(1, most + 1))
    return ScenarioFigures.model_validate({**dict(_figures(trials, rows)), "scenario": name})


def _means(scenarios: Sequence[ScenarioFigures], most: int) -> tuple[InARow, ...]:
    return tuple(mean_in_a_row({one.scenario: one.in_a_row[k - 1] for one in scenarios}, k) for k in range(1, most + 1))


def _figures(trials: Sequence[Trial], rows: tuple[InARow, ...]) -> Figures:
    passes, n = _counts(trials)
    return Figures(
        planned=len(trials),
        judged=estimate(passes, n),
        as_failures=estimate(passes, len(trials)),
        not_judged=left_out(trials),
        retried=sum(trial.attempts - 1 for trial in trials),
        in_a_row=rows,
    )


def _counts(trials: Iterable[Trial]) -> tuple[int, int]:
    """Passes and judged trials."""
    verdicts = [trial.verdict for trial in trials]
    return verdicts.count("pass"), sum(verdict in JUDGED for verdict in verdicts)


def _costs(trials: Sequence[Trial], whole: Figures) -> Costs | None:
    calls, unknown = sum(trial.calls for trial in trials), sum(trial.unknown_calls for trial in trials)
    if calls == 0:
        return None
    episodes = _episodes(trials)
    spent = sum((trial.micro_usd for trial in trials), Decimal(0))
    known = spent if unknown < calls else None
    return Costs(
        calls=calls,
        calls_of_unknown_cost=unknown,
        is_lower_bound=unknown > 0,
        usd=_share(known, 1),
        usd_per_episode=_share(known, episodes),
        usd_per_pass=_share(known, whole.judged.passes),
    )


def _tokens(trials: Sequence[Trial]) -> Tokens | None:
    calls, episodes = sum(trial.calls for trial in trials), _episodes(trials)
    if calls == 0:
        return None

    def count(place: int) -> TokenCount:
        untold = sum(trial.untold[place] for trial in trials)
        if untold >= calls:
            return TokenCount(total=None, per_episode=None, untold=untold)
        total = sum(trial.tokens[place] for trial in trials)
        return TokenCount(total=total, per_episode=total / episodes, untold=untold)

    return Tokens(calls=calls, input=count(0), cached=count(1), output=count(2), reasoning=count(3))


def _episodes(trials: Iterable[Trial]) -> int:
    return sum(trial.verdict != "not_played" for trial in trials)


def _share(micro_usd: Decimal | None, parts: int) -> Decimal | None:
    """Dollars of each part; rounded down, so that a lower bound stays one."""
    return None if micro_usd is None or parts == 0 else dollars_of(micro_usd / parts)


def _by_frequency(names: Iterable[str]) -> dict[str, int]:
    counts: Mapping[str, int] = Counter(names)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
