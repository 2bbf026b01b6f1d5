"""Which model costs less: not where chance explains it, and not where a few dear episodes do."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification.costing import cost_gaps
from harness.schema.comparison import CostGap
from harness.schema.qualification import Trial

COSTS = st.lists(st.integers(0, 9), min_size=1, max_size=6)


def costing(costs: Sequence[int], scenario: str = "pack/a") -> list[Trial]:
    return [Trial(scenario=scenario, verdict="pass", calls=1, micro_usd=Decimal(cost)) for cost in costs]


def gap(first: list[Trial], second: list[Trial]) -> CostGap:
    (found,) = cost_gaps([first, second], alpha=0.05)
    return found


def test_whoever_always_costs_less_costs_less() -> None:
    found = gap(costing([30] * 10), costing([10] * 10))
    assert found.times == pytest.approx(1 / 3)
    assert found.cheaper == 1
    assert gap(costing([10] * 30), costing([30] * 5)).cheaper == 0


def test_few_or_uneven_trials_do_not_tell_who_costs_less() -> None:
    few = gap(costing([30] * 3), costing([10] * 3))
    assert few.chance == pytest.approx(0.1)
    assert few.cheaper is None
    assert gap(costing([10, 90, 15, 80, 20]), costing([12, 70, 11, 60, 14])).cheaper is None


def test_one_dear_episode_makes_nobody_dear() -> None:
    # nine of ten cost more, and the mean says the opposite
    found = gap(costing([10] * 9 + [1000]), costing([20] * 10))
    assert found.chance < 0.05
    assert found.times is not None
    assert found.times < 1
    assert found.cheaper is None


def test_trials_are_cut_where_both_halves_are_as_large_as_they_can_be() -> None:
    found = gap(costing([1, *[5] * 9]), costing([9] * 10))
    assert found.chance == pytest.approx(2 / 184_756), "10 of 20 in one way"
    assert found.cheaper == 0


def test_scenarios_are_not_mixed_up() -> None:
    """Of one scenario many trials were played of the first, of the other of the second: each costs what it costs."""
    first = [*costing([10] * 20, "pack/a"), *costing([90] * 4, "pack/b")]
    second = [*costing([10] * 4, "pack/a"), *costing([90] * 20, "pack/b")]
    found = gap(first, second)
    assert (found.chance, found.times, found.cheaper) == (1.0, 1.0, None)


def test_what_costs_the_same_or_nothing_is_no_cheaper() -> None:
    assert gap(costing([5] * 9), costing([5] * 9)).cheaper is None
    free = gap(costing([0] * 9), costing([5] * 9))
    assert (free.times, free.cheaper) == (None, 0)


def test_where_a_cost_is_unknown_there_is_no_gap() -> None:
    unknown = Trial(scenario="pack/a", verdict="fail", calls=2, unknown_calls=1, micro_usd=Decimal(1))
    scripted = [Trial(scenario="pack/a", verdict="pass")]
    for other in ([*costing([1]), unknown], scripted, costing([1], "pack/b"), []):
        assert cost_gaps([costing([1]), other], alpha=0.05) == ()


def test_what_was_not_judged_says_nothing_about_what_an_episode_costs() -> None:
    outage = Trial(scenario="pack/a", verdict="not_judged", cause="provider", calls=1, unknown_calls=1)
    assert gap([*costing([30] * 10), outage], costing([10] * 10)).cheaper == 1


def test_several_pairs_need_more_than_one() -> None:
    """Six trials each tell two apart; of three models no pair is told apart by as few as four."""
    one, other, third = costing([30] * 4), costing([10] * 4), costing([10] * 4)
    assert gap(one, other).cheaper == 1
    assert [found.cheaper for found in cost_gaps([one, other, third], alpha=0.05)] == [None, None, None]


@given(COSTS, COSTS)
def test_models_that_change_places_cost_as_much_less_the_other_way(first: list[int], second: list[int]) -> None:
    found, turned = gap(costing(first), costing(second)), gap(costing(second), costing(first))
    assert found.chance == pytest.approx(turned.chance)
    assert turned.cheaper == (None if found.cheaper is None else 1 - found.cheaper)


@pytest.mark.parametrize("alpha", [0.0, 1.0, float("nan")])
def test_what_is_no_share_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        cost_gaps([costing([1]), costing([1])], alpha=alpha)
