"""The planned number of trials is enough, and one that is much smaller is not: by counting all that can happen."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.planning import MOST_TRIALS, drop_found, trials_needed


def power(n: int, first: float, second: float, alpha: float) -> float:
    """Of one scenario, how often the second model is found to be worse."""
    chance = {rate: [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)] for rate in (first, second)}
    return sum(
        chance[first][a] * chance[second][b]
        for a, b in product(range(n + 1), repeat=2)
        if permutation_test([Stratum(a, n, b, n)], "less") <= alpha
    )


@pytest.mark.parametrize(("rate", "detect", "alpha"), [(0.9, 0.3, 0.05), (0.8, 0.4, 0.025), (1.0, 0.3, 0.05)])
def test_with_so_many_trials_the_drop_is_found_as_often_as_was_asked(rate: float, detect: float, alpha: float) -> None:
    n = trials_needed([rate], detect, alpha=alpha)
    assert n is not None
    assert 0.78 <= power(n, rate, rate - detect, alpha) <= 0.9
    assert power(n * 2 // 3, rate, rate - detect, alpha) < 0.75


def test_more_scenarios_need_fewer_trials_of_each_and_smaller_drops_more() -> None:
    needed = [trials_needed([0.8] * scenarios, detect) for scenarios, detect in ((30, 0.15), (6, 0.15), (6, 0.05))]
    assert needed == sorted(needed, key=lambda n: n or 0)
    assert needed[0] is not None
    assert 3 <= needed[0] <= 6


def test_a_drop_that_nobody_can_find_has_no_number() -> None:
    assert trials_needed([0.5], 0.001) is None
    assert trials_needed([0.0], 0.5) is None
    assert trials_needed([0.5], 0.02) is not None
    assert MOST_TRIALS == 10_000


@pytest.mark.parametrize(
    ("rates", "detect", "alpha"), [([], 0.1, 0.05), ([1.1], 0.1, 0.05), ([0.5], 0, 0.05), ([0.5], 0.1, 1)]
)
def test_what_cannot_be_planned_is_refused(rates: list[float], detect: float, alpha: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        trials_needed(rates, detect, alpha=alpha)


@pytest.mark.parametrize("detect", [0.05, 0.15, 0.4])
def test_the_smallest_drop_that_trials_find_needs_no_more_than_these(detect: float) -> None:
    needed = trials_needed([0.9, 0.8], detect)
    assert needed is not None
    found = drop_found([0.9, 0.8], needed)
    assert found is not None
    assert found <= detect
    fewer = drop_found([0.9, 0.8], needed - 1)
    assert fewer is None or fewer > detect


def test_trials_that_find_nothing_have_no_drop() -> None:
    assert drop_found([0.5], 1) is None
