"""Whether actors do what a policy demands of them: shown, shown not to, or not to be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from statistics import median
from typing import Literal

from harness.qualification.demanding import (
    NOTHING,
    chance_of_drop,
    chance_of_fewer,
    chance_of_more,
    chance_within,
    rate_between,
    trials_to_tell,
)
from harness.qualification.difference import difference
from harness.qualification.figures import left_out
from harness.qualification.permutation import Stratum
from harness.qualification.planning import MOST_TRIALS, trials_needed
from harness.qualification.several import holm_levels
from harness.schema.comparison import Contender
from harness.schema.decision import Answer, Decision, Demand, Evidence, Finding, Reason, SetAside
from harness.schema.name import ScenarioId
from harness.schema.policy import Policy
from harness.schema.qualification import Trial
from harness.schema.verdict import JUDGED

__all__ = ["Candidate", "decide"]

#: How trials count that were not judged.
_Counting = Literal["exclude", "fail"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One actor of one run: its trials, what is demanded of it, and whom it is held against with the trials of that.

    Scenarios of ``set_aside``, each with its reason, are shown and count for nothing.
    """

    run: str
    actor: str
    trials: Sequence[Trial]
    demands: Sequence[Demand]
    against: Contender | None = None
    baseline: Sequence[Trial] = ()
    set_aside: Mapping[ScenarioId, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Count:
    passes: int = 0
    judged: int = 0
    planned: int = 0

    def of(self, counting: _Counting) -> tuple[int, int]:
        return self.passes, self.judged if counting == "exclude" else self.planned


@dataclass(frozen=True, slots=True)
class _Claim:
    """One demand on one candidate, with what there is of each of its scenarios that are not set aside."""

    demand: Demand
    own: Mapping[ScenarioId, _Count]
    baseline: Mapping[ScenarioId, _Count]

    def sums(self, counting: _Counting) -> tuple[int, int]:
        counts = [one.of(counting) for one in self.own.values()]
        return sum(passes for passes, _ in counts), sum(n for _, n in counts)

    def strata(self, counting: _Counting) -> list[Stratum]:
        """Trials of the baseline that were not judged are left out: as failures they would make it easier to match."""
        return [Stratum(*self.baseline[name].of("exclude"), *one.of(counting)) for name, one in self.own.items()]


def decide(candidates: Sequence[Candidate], policy: Policy) -> tuple[Decision, ...]:
    """For each candidate whether it meets all demands, has shown that it misses one, or neither.

    Nobody passes, of all who do not deserve it, more often than alpha says (each demand is to be met, and Holm over
    candidates), and in a night in which nothing is wrong nobody fails more often (Holm over all demands on all).
    """
    claims = [_claims(one) for one in candidates]
    counted = _evidence(claims, policy.not_judged.count, policy)
    otherwise = _evidence(claims, "fail" if policy.not_judged.count == "exclude" else "exclude", policy)
    return tuple(
        _decision(one, some, [_reason(*each, policy) for each in zip(some, first, second, strict=True)], policy)
        for one, some, first, second in zip(candidates, claims, counted, otherwise, strict=True)
    )


def _claims(candidate: Candidate) -> list[_Claim]:
    own, baseline = _counts(candidate.trials), _counts(candidate.baseline)
    found = []
    for demand in candidate.demands:
        names = tuple(name for name in demand.scenarios if name not in candidate.set_aside)
        sides = ({name: counts.get(name, _Count()) for name in names} for counts in (own, baseline))
        found.append(_Claim(demand.model_copy(update={"scenarios": names}) if names else demand, *sides))
    return found


def _counts(trials: Iterable[Trial]) -> dict[ScenarioId, _Count]:
    verdicts = Counter((trial.scenario, trial.verdict) for trial in trials)
    planned: Counter[ScenarioId] = Counter()
    for (name, _), times in verdicts.items():
        planned[name] += times
    return {
        name: _Count(verdicts[name, "pass"], sum(verdicts[name, verdict] for verdict in JUDGED), times)
        for name, times in planned.items()
    }


def _evidence(claims: Sequence[Sequence[_Claim]], counting: _Counting, policy: Policy) -> list[list[Evidence]]:
    """Of each claim on each candidate, all corrected for each other."""
    chances = [[_chances(claim, counting) for claim in some] for some in claims]
    # what is demanded together is met together: only the least sure demand of a candidate counts
    weakest = [max((met for met, _ in some), default=1.0) for some in chances]
    levels_met = holm_levels(weakest, policy.alpha)
    places = [
        (who, number)
        for who, some in enumerate(claims)
        for number, claim in enumerate(some)
        if claim.demand.kind != "every" and claim.own
    ]
    missed = holm_levels([chances[who][number][1] for who, number in places], policy.alpha)
    levels_missed = dict(zip(places, missed, strict=True))
    return [
        [
            _weighed(claim, counting, pair, (levels_met[who], levels_missed.get((who, number), policy.alpha)))
            for number, (claim, pair) in enumerate(zip(some, chances[who], strict=True))
        ]
        for who, some in enumerate(claims)
    ]


def _chances(claim: _Claim, counting: _Counting) -> tuple[float, float]:
    """How likely trials are that look as much as if the demand were met, and as if it were missed."""
    passes, n = claim.sums(counting)
    demand = claim.demand
    if not claim.own:
        return 0.0, 1.0
    if demand.kind == "every":
        return (0.0 if 0 < n == passes else 1.0), (0.0 if passes < n else 1.0)
    if demand.kind == "rate":
        return chance_of_more(passes, n, demand.wanted), chance_of_fewer(passes, n, demand.wanted)
    strata = claim.strata(counting)
    return chance_within(strata, demand.wanted), chance_of_drop(strata, demand.wanted)


def _weighed(claim: _Claim, counting: _Counting, chances: tuple[float, float], levels: tuple[float, float]) -> Evidence:
    passes, n = claim.sums(counting)
    is_drop = claim.demand.kind == "drop"
    baseline = [one.of("exclude") for one in claim.baseline.values()]
    met, missed = (chance <= level for chance, level in zip(chances, levels, strict=True))
    return Evidence(
        passes=passes,
        n=n,
        between=rate_between(passes, n, *levels),
        difference=difference(claim.strata(counting), confidence=1 - 2 * levels[0]) if is_drop else None,
        baseline_passes=sum(some for some, _ in baseline) if is_drop else None,
        baseline_n=sum(some for _, some in baseline) if is_drop else None,
        chance_met=chances[0],
        chance_missed=chances[1],
        level_met=levels[0],
        level_missed=levels[1],
        finding="met" if met else "missed" if missed else "undecided",
    )


def _reason(claim: _Claim, counted: Evidence, otherwise: Evidence, policy: Policy) -> Reason:
    demand = claim.demand
    short, short_baseline = (
        {name: one.judged for name, one in side.items() if one.judged < demand.trials}
        for side in (claim.own, claim.baseline if demand.kind == "drop" else {})
    )
    finding = _finding(counted, otherwise, policy)
    if not claim.own:
        finding = "empty"
    elif finding == "met" and (short or short_baseline):
        finding = "too_few"
    failed = {name: n - passes for name, one in claim.own.items() for passes, n in [one.of(policy.not_judged.count)]}
    total = _total(claim, counted, policy) if finding == "undecided" and demand.kind == "rate" else None
    trials = None if total is None else ceil(total / len(claim.own))
    if finding == "undecided" and demand.kind == "drop":
        trials = _of_each(claim, counted, policy)
    return Reason(
        demand=demand,
        finding=finding,
        counted=counted,
        otherwise=otherwise,
        trials=demand.trials if finding == "too_few" else trials,
        passes=total if counted.passes == counted.n else None,
        short=short,
        short_baseline=short_baseline,
        failed={name: times for name, times in failed.items() if times} if demand.kind == "every" else {},
    )


def _finding(counted: Evidence, otherwise: Evidence, policy: Policy) -> Finding:
    """Where trials are left out that were not judged, what they could turn is open."""
    if policy.not_judged.count == "fail" or counted.finding in {otherwise.finding, "undecided"}:
        return counted.finding
    return "open"


def _total(claim: _Claim, counted: Evidence, policy: Policy) -> int | None:
    """Trials in all that would tell the rate from the one that is wanted."""
    wanted = claim.demand.wanted
    is_above = counted.n == 0 or counted.passes / counted.n >= wanted
    return trials_to_tell(
        counted.passes,
        counted.n,
        wanted,
        counted.level_met if is_above else counted.level_missed,
        power=policy.power,
        most=MOST_TRIALS * len(claim.own),
    )


def _of_each(claim: _Claim, counted: Evidence, policy: Policy) -> int | None:
    """Trials of each scenario and model that tell a drop as large as this one, or as is tolerated where it is less."""
    margin, effect = claim.demand.wanted, counted.difference
    is_lost = effect is not None and effect.effect <= -margin
    gap = min(1.0, -effect.effect) if effect is not None and is_lost else margin
    played = [one for one in claim.strata(policy.not_judged.count) if one.first_n and one.second_n]
    # nothing tells whether a drop is more than it is
    if not played or (effect is not None and abs(effect.effect + margin) < NOTHING):
        return None
    rates = [max(gap, one.first_passes / one.first_n) for one in played]
    level = counted.level_missed if is_lost else counted.level_met
    found = trials_needed(rates, gap, alpha=level, power=policy.power)
    had = median(min(one.first_n, one.second_n) for one in played)
    return None if found is None else max(found, int(had) + 1)


def _decision(candidate: Candidate, claims: Sequence[_Claim], reasons: Sequence[Reason], policy: Policy) -> Decision:
    gated = {name for claim in claims for name in claim.own}
    trials = [trial for trial in candidate.trials if trial.scenario in gated]
    not_judged, allowed = left_out(trials), policy.not_judged.allowed
    # as the policy writes it: 0.29 of 100 trials are 29, and no less
    most = Decimal(repr(allowed)) * len(trials)
    counts = _counts(candidate.trials)
    return Decision(
        run=candidate.run,
        actor=candidate.actor,
        answer="not_judged" if sum(not_judged.values()) > most else _answer(reasons),
        planned=len(trials),
        not_judged=not_judged,
        allowed=allowed,
        against=candidate.against,
        models=_models(candidate.trials),
        models_before=_models(candidate.baseline),
        reasons=tuple(reasons),
        set_aside=tuple(
            SetAside(scenario=name, why=why, passes=counts[name].passes, n=counts[name].judged)
            for name, why in candidate.set_aside.items()
            if name in counts
        ),
    )


def _models(trials: Iterable[Trial]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(model for trial in trials for model in trial.models))


def _answer(reasons: Sequence[Reason]) -> Answer:
    found = {reason.finding for reason in reasons} - {"empty"}
    if "missed" in found:
        return "fail"
    return "pass" if found == {"met"} else "inconclusive"
