"""Whatever the trials were, rates and their intervals are in order."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification import (
    actor_figures,
    clopper_pearson,
    clustered_error,
    estimate,
    pass_at_k,
    pass_hat_k,
    wilson,
)
from harness.schema.qualification import Trial

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CLUSTERS = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=12
)
#: What floating point may be off by.
TINY = 1e-9


@given(COUNTS)
def test_an_interval_lies_between_0_and_1_and_holds_the_rate(counts: tuple[int, int]) -> None:
    found = estimate(*counts)
    assert found.rate is not None
    for one in (found.wilson, found.clopper_pearson):
        assert one is not None
        assert 0 <= one.low <= found.rate <= one.high <= 1
        assert one.low < one.high


@given(COUNTS)
def test_one_more_pass_moves_no_bound_down(counts: tuple[int, int]) -> None:
    passes, n = counts
    for interval in (wilson, clopper_pearson):
        before, after = interval(passes, n), interval(min(passes + 1, n), n)
        assert before.low <= after.low
        assert before.high <= after.high


@given(COUNTS, st.floats(0.5, 0.98), st.floats(0.001, 0.019))
def test_more_confidence_is_never_narrower(counts: tuple[int, int], confidence: float, more: float) -> None:
    for interval in (wilson, clopper_pearson):
        inner, outer = interval(*counts, confidence=confidence), interval(*counts, confidence=confidence + more)
        assert outer.low <= inner.low + TINY
        assert inner.high <= outer.high + TINY


@given(COUNTS)
def test_failures_are_the_mirror_image_of_passes(counts: tuple[int, int]) -> None:
    passes, n = counts
    for interval in (wilson, clopper_pearson):
        one, other = interval(passes, n), interval(n - passes, n)
        assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=TINY)


@given(COUNTS, st.integers(1, 60))
def test_all_of_k_pass_no_oftener_than_one_of_k(counts: tuple[int, int], k: int) -> None:
    passes, n = counts
    every, one = pass_hat_k(passes, n, k), pass_at_k(passes, n, k)
    if k > n:
        assert (every, one) == (None, None)
        return
    assert every is not None
    assert one is not None
    assert 0 <= every <= passes / n + TINY
    assert passes / n - TINY <= one <= 1
    assert every <= float(Fraction(passes, n) ** k) + TINY


@given(CLUSTERS)
def test_the_order_of_scenarios_changes_no_error(clusters: list[tuple[int, int]]) -> None:
    error = clustered_error(clusters)
    assert error == pytest.approx(clustered_error(clusters[::-1]))


VERDICTS = st.sampled_from(["pass", "fail", "not_judged", "pending", "not_played"])
TRIALS = st.lists(
    st.builds(Trial, scenario=st.sampled_from(["pack/a", "pack/b"]), verdict=VERDICTS, seconds=st.floats(0, 1e4)),
    max_size=30,
)


@given(TRIALS, st.integers(1, 4))
def test_every_trial_is_somewhere_and_the_worst_rate_is_the_lowest(trials: list[Trial], most: int) -> None:
    found = actor_figures("run", "actor", "live", trials, most=most)
    assert found.judged.n + sum(found.not_judged.values()) == found.planned == len(trials)
    assert sum(one.planned for one in found.scenarios) == found.planned
    assert sum(one.judged.passes for one in found.scenarios) == found.judged.passes
    assert sum(found.failure_codes.values()) == found.judged.n - found.judged.passes
    if found.judged.rate is not None and found.as_failures.rate is not None:
        assert found.as_failures.rate <= found.judged.rate
    assert found == type(found).model_validate_json(found.model_dump_json())
