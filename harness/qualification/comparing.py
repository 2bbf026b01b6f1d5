"""Which of several models passes more often, and whether that can be told at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from statistics import median

from harness.qualification.cut_short import difference_early, found_early
from harness.qualification.difference import difference
from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.planning import trials_needed
from harness.qualification.sequential import course
from harness.qualification.several import benjamini_hochberg, holm, holm_levels
from harness.schema.comparison import Comparison, Contender, Pair, PairFinding, ScenarioPair
from harness.schema.qualification import ActorFigures, Difference, ScenarioFigures, Trial

__all__ = ["ALPHA", "MARGIN", "compare"]

#: How often, of all comparisons of equal models, one of them may be taken for the better one.
ALPHA = 0.05
#: Rates that are no further apart than this are alike for whoever chooses.
MARGIN = 0.05


def compare(
    figures: Sequence[ActorFigures],
    *,
    margin: float = MARGIN,
    alpha: float = ALPHA,
    trials: Sequence[Sequence[Trial]] | None = None,
    planned: int | None = None,
) -> Comparison:
    """Each of two or more contenders with each other; ``margin`` and ``alpha`` in (0, 1).

    With the ``trials`` of each contender every pair has its course; pairs share ``alpha`` evenly there. Of a run that
    looks could end, after so many ``planned`` ones, the course decides, and the interval holds whenever it ended.

    A difference is found where the permutation of labels within scenarios says so, corrected for all pairs, both
    without the trials that were not judged and with these as failures. Raises ValueError.
    """
    if len(figures) < 2 or not 0 < margin < 1 or not 0 < alpha < 1:  # noqa: PLR2004  (a pair)
        raise ValueError("two or more are compared, with a margin and an alpha between 0 and 1")
    places = list(combinations(range(len(figures)), 2))
    both = [_shared(figures[first], figures[second]) for first, second in places]
    judged = [[_stratum(*scenario) for scenario in shared] for shared in both]
    failed = [[_stratum(*scenario, is_failed=True) for scenario in shared] for shared in both]
    chances = [permutation_test(strata) for strata in judged]
    corrected, as_failures = holm(chances), holm([permutation_test(strata) for strata in failed])
    levels = holm_levels(chances, alpha) if planned is None else [alpha / len(places)] * len(places)
    pairs = []
    for number, (first, second) in enumerate(places):
        effects = difference(judged[number]), difference(failed[number])
        finding = _finding(effects, (corrected[number], as_failures[number]), margin, alpha)
        gap, told = effects[0], None
        if trials is not None:
            share = alpha / len(places)
            told = course(trials[first], trials[second], alpha=share, planned=planned)
            if planned is not None and told is not None:
                finding = found_early(finding, told)
                gap = difference_early(trials[first], trials[second], told, alpha=share)
        pairs.append(
            Pair(
                first=first,
                second=second,
                finding=finding,
                difference=gap,
                chance=chances[number],
                corrected=corrected[number],
                as_failures=as_failures[number],
                trials=_more(judged[number], effects[0], margin, levels[number]) if finding == "undecided" else None,
                scenarios=_scenarios(both[number], judged[number]),
                course=told,
            )
        )
    contenders = tuple(Contender(run=one.run, actor=one.actor) for one in figures)
    return Comparison(
        contenders=contenders, pairs=tuple(pairs), margin=margin, alpha=alpha, order=_order(len(figures), pairs)
    )


def _shared(first: ActorFigures, second: ActorFigures) -> list[tuple[ScenarioFigures, ScenarioFigures]]:
    others = {one.scenario: one for one in second.scenarios}
    return [(one, others[one.scenario]) for one in first.scenarios if one.scenario in others]


def _stratum(first: ScenarioFigures, second: ScenarioFigures, *, is_failed: bool = False) -> Stratum:
    one, other = (side.as_failures if is_failed else side.judged for side in (first, second))
    return Stratum(one.passes, one.n, other.passes, other.n)


def _finding(
    effects: tuple[Difference | None, Difference | None], chances: tuple[float, float], margin: float, alpha: float
) -> PairFinding:
    if effects[0] is None or effects[1] is None:
        return "apart"
    without, with_failures = (
        _side(effect, chance, margin, alpha) for effect, chance in zip(effects, chances, strict=True) if effect
    )
    if without == with_failures:
        return without
    # what only widens the interval leaves a tie a tie for want of trials, and no more
    return "undecided" if {without, with_failures} <= {"alike", "undecided"} else "open"


def _side(effect: Difference, chance: float, margin: float, alpha: float) -> PairFinding:
    if -margin < effect.low and effect.high < margin:
        return "alike"
    if chance <= alpha:
        return "worse" if effect.effect < 0 else "better"
    return "undecided"


def _more(strata: Sequence[Stratum], effect: Difference | None, margin: float, alpha: float) -> int | None:
    """Trials of each scenario that tell a gap as wide as this one, or the margin, eight times of ten.

    ``alpha`` is what this pair is held against, of what all pairs have together.
    """
    gap = max(margin, abs(effect.effect) if effect else 0)
    # where nothing passes there is room for a gap upwards only
    rates = [
        max(gap, one.first_passes / one.first_n, one.second_passes / one.second_n) for one in strata if _is_played(one)
    ]
    # that a model may be better or worse costs half of alpha for each
    found = trials_needed(rates, min(1.0, gap), alpha=alpha / 2)
    had = median(min(one.first_n, one.second_n) for one in strata if _is_played(one))
    return None if found is None else max(found, int(had) + 1)


def _is_played(stratum: Stratum) -> bool:
    return stratum.first_n > 0 and stratum.second_n > 0


def _scenarios(
    shared: Sequence[tuple[ScenarioFigures, ScenarioFigures]], strata: Sequence[Stratum]
) -> tuple[ScenarioPair, ...]:
    chances = [permutation_test([stratum]) for stratum in strata]
    return tuple(
        ScenarioPair(
            scenario=first.scenario,
            first_passes=stratum.first_passes,
            first_n=stratum.first_n,
            second_passes=stratum.second_passes,
            second_n=stratum.second_n,
            chance=chance,
            corrected=adjusted,
        )
        for (first, _), stratum, chance, adjusted in zip(
            shared, strata, chances, benjamini_hochberg(chances), strict=True
        )
    )


def _order(count: int, pairs: Sequence[Pair]) -> tuple[int, ...] | None:
    """From the best on, where each is better than the next one, and none is worse than one that follows."""
    wins = [0] * count
    decided = {}
    for pair in pairs:
        winner = {"worse": pair.first, "better": pair.second}.get(pair.finding)
        if winner is not None:
            wins[winner] += 1
            decided[winner, pair.first + pair.second - winner] = True
    order = sorted(range(count), key=lambda place: -wins[place])
    # where not all play the same scenarios one may be better than the next, and so on, and the last than the first
    is_turned = any((later, earlier) in decided for earlier, later in combinations(order, 2))
    return tuple(order) if all(step in decided for step in pairwise(order)) and not is_turned else None
