"""Several looks: by counting all that can happen, none of it ends with a difference too often."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.sequential import Looks, spent

WON, LOST, TIE = Stratum(0, 1, 1, 1), Stratum(1, 1, 0, 1), Stratum(1, 1, 1, 1)


def looked(stages: Sequence[Sequence[Stratum]], planned: int, alpha: float = 0.05) -> Looks:
    """All looks up to the one that ended it."""
    pair = Looks(planned, alpha=alpha)
    for stage in stages:
        pair.look(stage)
        if pair.found is not None:
            break
    return pair


@pytest.mark.parametrize(("stages", "scenarios", "alpha"), [(3, 3, 0.05), (4, 2, 0.2), (2, 4, 0.3), (9, 1, 0.3)])
def test_equal_models_are_told_apart_no_more_often_than_alpha(stages: int, scenarios: int, alpha: float) -> None:
    """Every pair that differs is as likely won as lost, so each course of them is as likely."""
    ends = []
    for course in product((WON, LOST), repeat=stages * scenarios):
        cut = [course[place : place + scenarios] for place in range(0, len(course), scenarios)]
        ends.append(looked(cut, stages, alpha).found)
    for side in ("worse", "better"):
        assert 0 < ends.count(side) / len(ends) <= alpha / 2


def test_a_clear_difference_ends_it_early_and_a_tie_never_does() -> None:
    worse = looked([[LOST] * 6] * 10, 10)
    assert worse.found == "worse"
    assert worse.taken <= 4
    assert looked([[WON] * 6] * 10, 10).found == "better"
    tied = looked([[TIE, WON, LOST]] * 10, 10)
    assert (tied.found, tied.taken) == (None, 10)


@given(st.lists(st.sampled_from([WON, LOST, TIE]), min_size=1, max_size=12), st.floats(0.01, 0.3))
def test_one_look_is_the_permutation_test(pairs: list[Stratum], alpha: float) -> None:
    found = looked([pairs], 1, alpha).found
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
        looked([[TIE]] * 3, 2)
    ended = looked([[LOST] * 20], 5, 0.2)
    assert ended.found == "worse"
    with pytest.raises(ValueError, match="after the end"):
        ended.look([TIE])
    with pytest.raises(ValueError, match="share"):
        spent(0, 0.05)
