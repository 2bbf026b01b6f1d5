"""Which of several models costs less, and whether chance explains it.

What an episode costs varies from trial to trial, often much. So what is asked is, scenario by scenario, how many trials
of each model are among the dearer ones of both: labels are exchanged there as they are for passes, in all ways. A model
costs less only where that says so and its mean says so too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations, pairwise

from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.several import holm
from harness.schema.comparison import CostGap
from harness.schema.qualification import Trial
from harness.schema.verdict import JUDGED

__all__ = ["cost_gaps"]

#: Of two models in one scenario, in millionths of a US dollar.
_Both = tuple[Sequence[Decimal], Sequence[Decimal]]


def cost_gaps(contenders: Sequence[Sequence[Trial]], *, alpha: float) -> tuple[CostGap, ...]:
    """One for each two contenders of whose judged trials all costs are known, in scenarios that both have.

    ``alpha`` in (0, 1) is how often, of all comparisons of models that cost the same, one is said to cost less.
    Raises ValueError.
    """
    if not 0 < alpha < 1:
        raise ValueError("alpha lies between 0 and 1")
    sides = [_by_scenario(trials) for trials in contenders]
    found: list[tuple[int, int, list[_Both]]] = []
    for first, second in combinations(range(len(sides)), 2):
        one, other = sides[first], sides[second]
        if one is not None and other is not None and one.keys() & other.keys():
            found.append((first, second, [(one[name], other[name]) for name in one if name in other]))
    strata = [[_dearer(*costs) for costs in both] for _, _, both in found]
    chances = [permutation_test(some) for some in strata]
    gaps = []
    for (first, second, both), some, chance, corrected in zip(found, strata, chances, holm(chances), strict=True):
        means = _means(both)
        side = _side(means, some) if corrected <= alpha else 0
        gaps.append(
            CostGap(
                first=first,
                second=second,
                times=None if means[0] == 0 else float(means[1] / means[0]),
                chance=chance,
                corrected=corrected,
                cheaper={-1: second, 1: first}.get(side),
            )
        )
    return tuple(gaps)


def _by_scenario(trials: Sequence[Trial]) -> dict[str, list[Decimal]] | None:
    """Costs of judged trials; None where no model was asked, or the cost of a call of one is unknown."""
    judged = [trial for trial in trials if trial.verdict in JUDGED]
    if not any(trial.calls for trial in judged) or any(trial.unknown_calls for trial in judged):
        return None
    found: defaultdict[str, list[Decimal]] = defaultdict(list)
    for trial in judged:
        found[trial.scenario].append(trial.micro_usd)
    return found


def _dearer(first: Sequence[Decimal], second: Sequence[Decimal]) -> Stratum:
    """How many of each cost more than where both together are cut into halves, as even as equal costs allow."""
    both = sorted((*first, *second))
    cuts = [place for place, (less, more) in enumerate(pairwise(both), 1) if less < more]
    if not cuts:
        return Stratum(0, len(first), 0, len(second))
    highest = both[min(cuts, key=lambda place: abs(2 * place - len(both))) - 1]
    return Stratum(
        sum(cost > highest for cost in first), len(first), sum(cost > highest for cost in second), len(second)
    )


def _means(both: Sequence[_Both]) -> tuple[Decimal, Decimal]:
    """Of an episode, scenarios weighted by n1 n2 / (n1 + n2) as their rates are."""
    weights = [Decimal(len(first) * len(second)) / (len(first) + len(second)) for first, second in both]
    first, second = (
        sum((weight * sum(some) / len(some) for weight, some in zip(weights, side, strict=True)), Decimal(0))
        / sum(weights)
        for side in zip(*both, strict=True)
    )
    return first, second


def _side(means: tuple[Decimal, Decimal], strata: Sequence[Stratum]) -> int:
    """-1 where the second costs less, 1 where the first does, 0 where mean and most trials do not say the same."""
    expected = sum(one.passes * one.second_n / (one.first_n + one.second_n) for one in strata)
    dearer = sum(one.second_passes for one in strata)
    sides = {(means[1] > means[0]) - (means[1] < means[0]), (dearer > expected) - (dearer < expected)}
    return sides.pop() if len(sides) == 1 else 0
