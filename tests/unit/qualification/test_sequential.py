"""Several looks: by counting all that can happen, none of it ends with a difference too often."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.sequential import looks, spent

WON, LOST, TIE = Stratum(0, 1, 1, 1), Stratum(1, 1, 0, 1), Stratum(1, 1, 1, 1)


@pytest.mark.parametrize(("stages", "scenarios", "alpha"), [(3, 3, 0.05), (4, 2, 0.2), (9, 1, 0.05)])
def test_equal_models_are_told_apart_no_more_often_than_alpha(stages: int, scenarios: int, alpha: float) -> None:
    """Every pair that differs is as likely won as lost, so each course of them is as likely."""
    ends = []
    for course in product((WON, LOST), repeat=stages * scenarios):
        cut = [course[place : place + scenarios] for place in range(0, len(course), scenarios)]
        ends.append(looks(cut, stages, alpha=alpha)[-1].found)
    for side in ("worse", "better"):
        assert 0 < ends.count(side) / len(ends) <= alpha / 2


def test_a_clear_difference_ends_it_early_and_a_tie_never_does() -> None:
    worse = looks([[LOST] * 6] * 10, 10)
    assert worse[-1].found == "worse"
    assert len(worse) <= 4
    assert looks([[WON] * 6] * 10, 10)[-1].found == "better"
    assert [look.found for look in looks([[TIE, WON, LOST]] * 10, 10)] == [None] * 10


@given(st.lists(st.sampled_from([WON, LOST, TIE]), min_size=1, max_size=12), st.floats(0.01, 0.3))
def test_one_look_is_the_permutation_test(pairs: list[Stratum], alpha: float) -> None:
    found = looks([pairs], 1, alpha=alpha)[0].found
    sides = {side: permutation_test(pairs, side) <= alpha / 2 for side in ("less", "greater")}
    assert (found == "worse", found == "better") == (sides["less"], sides["greater"])


def test_little_is_spent_at_first_and_all_at_the_end() -> None:
    shares = [spent(number / 10, 0.05) for number in range(1, 11)]
    assert shares == sorted(shares)
    assert shares[0] < 1e-6
    assert shares[-1] == pytest.approx(0.05)
    assert spent(0.5, 0.05) == pytest.approx(0.00557, abs=1e-5)


def test_more_looks_than_were_planned_are_refused() -> None:
    with pytest.raises(ValueError, match="3 looks of 2"):
        looks([[TIE]] * 3, 2)
    with pytest.raises(ValueError, match="share"):
        spent(0, 0.05)
