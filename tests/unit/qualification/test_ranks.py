"""Numbers that moved beyond what chance and scenarios explain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm

from harness.qualification.ranks import BEYOND, rank_test, shift

NUMBERS = st.lists(st.integers(0, 6).map(float), min_size=2, max_size=12)


@given(before=NUMBERS, now=NUMBERS)
def test_in_one_scenario_it_is_wilcoxons_rank_sum_test(before: list[float], now: list[float]) -> None:
    if len({*before, *now}) == 1:
        assert rank_test([(before, now)]) == 1.0
        return
    reference = mannwhitneyu(before, now, method="asymptotic", use_continuity=True).pvalue
    # at the very middle the reference goes half a step beyond it
    assert rank_test([(before, now)]) == pytest.approx(min(1.0, float(reference)), abs=1e-9)


@given(wins=st.integers(0, 30), losses=st.integers(0, 30))
def test_with_one_number_on_each_side_it_is_the_sign_test(wins: int, losses: int) -> None:
    strata = [([1.0], [2.0])] * wins + [([2.0], [1.0])] * losses
    if not strata:
        assert rank_test(strata) == 1.0
        return
    z = max(0, abs(wins - losses) - 1) / (wins + losses) ** 0.5
    assert rank_test(strata) == pytest.approx(2 * float(norm.sf(z)), abs=1e-9)


@pytest.mark.parametrize("scenarios", range(1, 12))
def test_a_few_trials_that_all_went_one_way_are_not_told_too_early(scenarios: int) -> None:
    told = rank_test([([1.0], [2.0])] * scenarios) <= BEYOND
    assert not told or 2 * 0.5**scenarios <= BEYOND
    assert told == (scenarios > 8)


@given(strata=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=5))
def test_it_knows_no_side_and_no_scale_of_a_scenario(strata: list[tuple[list[float], list[float]]]) -> None:
    found = rank_test(strata)
    assert 0 < found <= 1
    assert rank_test([(now, before) for before, now in strata]) == pytest.approx(found)
    scaled = [
        ([1e3 * place + 7 * n for n in a], [1e3 * place + 7 * n for n in b]) for place, (a, b) in enumerate(strata)
    ]
    assert rank_test(scaled) == pytest.approx(found)


def test_one_number_is_never_a_verdict_and_a_small_move_is_none_however_sure() -> None:
    assert shift([]) is None
    assert shift([([], [1.0])]) is None
    alone = shift([([1.0], [9.0])])
    assert alone is not None
    assert (alone.before, alone.now, alone.is_beyond) == (1.0, 9.0, False)
    sure = shift([([1.0] * 50, [1.2] * 50)])
    assert sure is not None
    assert (sure.chance < 1e-9, sure.is_beyond) == (True, False)
    wide = shift([([1.0] * 50, [1.3] * 50)])
    assert wide is not None
    assert wide.is_beyond
