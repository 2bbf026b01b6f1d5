"""Differences and corrections have the values of the textbooks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification.difference import difference, mcnemar
from harness.qualification.permutation import Stratum
from harness.qualification.several import benjamini_hochberg, holm

CHANCES = st.lists(st.floats(0, 1), max_size=8)


@pytest.mark.parametrize(
    ("stratum", "low", "high"),
    [(Stratum(48, 80, 56, 70), 0.052431, 0.333873), (Stratum(15, 20, 20, 20), 0.037765, 0.468701)],
)
def test_with_one_scenario_the_interval_is_newcombes(stratum: Stratum, low: float, high: float) -> None:
    found = difference([stratum])
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=5.1e-7)


def test_more_scenarios_narrow_the_interval_and_those_of_one_model_alone_do_not_count() -> None:
    one, several = difference([Stratum(8, 10, 7, 10)]), difference([Stratum(8, 10, 7, 10)] * 9)
    assert one is not None
    assert several is not None
    assert several.effect == pytest.approx(one.effect) == pytest.approx(-0.1)
    assert (several.high - several.low) * 2 < one.high - one.low
    assert difference([Stratum(8, 10, 7, 10), Stratum(1, 3, 0, 0)]) == one
    assert difference([Stratum(1, 3, 0, 0)]) is None


def test_scenarios_weigh_by_what_they_tell() -> None:
    found = difference([Stratum(0, 30, 30, 30), Stratum(1, 1, 0, 1)])
    assert found is not None
    assert found.effect == pytest.approx((15 * 1 + 0.5 * -1) / 15.5)


@pytest.mark.parametrize(
    ("lost", "won", "exact", "mid"),
    [
        *((1, 8, 0.0390625, 0.02148437), (5, 15, 0.04138947, 0.02660370), (6, 0, 0.03125, 0.015625)),
        *((5, 0, 0.0625, 0.03125), (10, 2, 0.03857422, 0.02246094), (25, 40, 0.08168153, 0.06401750)),
    ],
)
def test_mcnemars_test_has_its_reference_values(lost: int, won: int, exact: float, mid: float) -> None:
    assert mcnemar(lost, won) == pytest.approx(exact, abs=1e-8)
    assert mcnemar(won, lost, mid_p=True) == pytest.approx(mid, abs=1e-8)


def test_no_pair_that_differs_is_no_evidence() -> None:
    assert mcnemar(0, 0) == 1.0
    with pytest.raises(ValueError, match="there are no such counts"):
        mcnemar(-1, 2)


def test_corrections_have_their_reference_values() -> None:
    chances = (0.01, 0.04, 0.03, 0.005)
    assert holm(chances) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(chances) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(CHANCES)
def test_a_correction_never_makes_evidence_and_keeps_the_order(chances: list[float]) -> None:
    for correction in (holm, benjamini_hochberg):
        found = correction(chances)
        assert all(before <= after <= 1 for before, after in zip(chances, found, strict=True))
        order = sorted(range(len(chances)), key=lambda place: chances[place])
        assert [found[place] for place in order] == sorted(found)
    assert all(b <= h for b, h in zip(benjamini_hochberg(chances), holm(chances), strict=True))


@pytest.mark.parametrize("correction", [holm, benjamini_hochberg])
def test_what_is_no_chance_is_refused(correction: object) -> None:
    assert callable(correction)
    with pytest.raises(ValueError, match="between 0 and 1"):
        correction([0.5, float("nan")])
