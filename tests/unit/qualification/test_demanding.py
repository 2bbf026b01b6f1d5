"""Whether a rate reaches what is wanted: chances and trials against numbers that are known."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification.demanding import (
    chance_of_drop,
    chance_of_fewer,
    chance_of_more,
    chance_within,
    rate_between,
    trials_to_tell,
)
from harness.qualification.difference import difference
from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.several import holm, holm_levels


def tail(passes: int, n: int, rate: float) -> float:
    return sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(passes, n + 1))


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.02, 0.98))
def test_chances_are_those_of_coins(counts: tuple[int, int], rate: float) -> None:
    passes, n = counts
    assert chance_of_more(passes, n, rate) == pytest.approx(tail(passes, n, rate), abs=1e-12)
    assert chance_of_fewer(passes, n, rate) == pytest.approx(1 - tail(passes + 1, n, rate), abs=1e-12)


@pytest.mark.parametrize(
    ("n", "low"), [(5, 0.549280), (10, 0.741134), (20, 0.860892), (30, 0.904966), (59, 0.950492), (299, 0.990031)]
)
def test_where_all_pass_the_rate_is_surely_above(n: int, low: float) -> None:
    found = rate_between(n, n, 0.05, 0.05)
    assert found is not None
    assert found.low == pytest.approx(low, abs=5e-7)
    assert found.high == 1.0
    assert chance_of_more(n, n, found.low) == pytest.approx(0.05)


def test_without_a_trial_nothing_is_known() -> None:
    assert rate_between(0, 0, 0.05, 0.05) is None
    assert (chance_of_more(0, 0, 0.9), chance_of_fewer(0, 0, 0.9)) == (1.0, 1.0)
    assert (chance_within([Stratum(0, 0, 1, 1)], 0.1), chance_of_drop([Stratum(0, 0, 1, 1)], 0.1)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("passes", "n", "rate", "level", "trials"),
    [
        (5, 5, 0.95, 0.05, 59),
        (0, 0, 0.95, 0.05, 59),
        (5, 5, 0.99, 0.05, 299),
        (5, 5, 0.95, 0.025, 72),
        (0, 3, 0.5, 0.05, 5),
        (19, 20, 0.95, 0.05, None),
        (0, 0, 0.5, 1e-9, 30),
    ],
)
def test_so_many_trials_tell(passes: int, n: int, rate: float, level: float, trials: int | None) -> None:
    assert trials_to_tell(passes, n, rate, level, power=0.8, most=1000) == trials


@pytest.mark.parametrize(("passes", "rate"), [(18, 0.7), (12, 0.8)])
def test_trials_that_tell_do_so_as_often_as_was_said(passes: int, rate: float) -> None:
    n = trials_to_tell(passes, 20, rate, 0.05, power=0.8, most=10_000)
    assert n is not None
    above = passes / 20 > rate
    chance = chance_of_more if above else chance_of_fewer
    telling = [k for k in range(n + 1) if chance(k, n, rate) <= 0.05]
    seen = passes / 20
    assert sum(comb(n, k) * seen**k * (1 - seen) ** (n - k) for k in telling) >= 0.8


def test_what_is_out_of_reach_is_told() -> None:
    assert trials_to_tell(91, 100, 0.9, 0.05, power=0.8, most=100) is None


STRATA = [Stratum(9, 10, 9, 10), Stratum(10, 10, 10, 10), Stratum(7, 12, 8, 9)]


@pytest.mark.parametrize("level", [0.2, 0.05, 0.01])
def test_the_chance_of_a_drop_within_the_margin_is_where_its_interval_ends(level: float) -> None:
    found = difference(STRATA, confidence=1 - 2 * level)
    assert found is not None
    assert chance_within(STRATA, -found.low) == pytest.approx(level, abs=1e-6)


def test_a_drop_is_looked_for_only_where_more_is_lost_than_may_be() -> None:
    worse = [Stratum(10, 10, 7, 10)] * 3
    assert chance_of_drop(worse, 0.2) == permutation_test(worse, "less")
    assert chance_of_drop(worse, 0.31) == 1.0
    assert chance_within(worse, 0.3) == 1.0
    assert 0 < chance_within([Stratum(0, 400, 400, 400)], 0.05) <= 1e-9


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.001, 0.2))
def test_levels_say_the_same_as_corrected_chances(chances: list[float], alpha: float) -> None:
    levels = holm_levels(chances, alpha)
    for chance, level, corrected in zip(chances, levels, holm(chances), strict=True):
        if abs(corrected - alpha) > 1e-12:
            assert (chance <= level) == (corrected <= alpha)


@pytest.mark.parametrize(
    ("before", "now", "margin", "is_more"),
    [
        pytest.param(50, 25, 0.25, False, id="in binary it is the margin"),
        pytest.param(60, 50, 0.1, False, id="in binary it is less"),
        pytest.param(90, 60, 0.3, False, id="in binary it is more"),
        pytest.param(60, 49, 0.1, True, id="it is more"),
    ],
)
def test_a_drop_of_just_the_margin_is_no_larger_one(before: int, now: int, margin: float, *, is_more: bool) -> None:
    chance = chance_of_drop([Stratum(10 * before, 1000, 10 * now, 1000)], margin)
    assert (chance < 1.0) == is_more
