"""Trials of one scenario resemble each other: the error of a rate says so."""

from __future__ import annotations

from math import sqrt

import pytest

from harness.qualification import clustered_error, spread

#: Four scenarios of three trials, as (passes, trials): [111] [000] [101] [111].
FOUR = [(3, 3), (0, 3), (2, 3), (3, 3)]


def test_the_clustered_error_has_its_reference_value() -> None:
    assert clustered_error(FOUR) == pytest.approx(0.2357023, abs=5.1e-8)
    # without the factor for few clusters
    assert clustered_error(FOUR) / sqrt(4 / 3) == pytest.approx(0.2041241, abs=5.1e-8)


@pytest.mark.parametrize(("passes", "n", "error"), [(7, 10, 0.1527525), (8, 12, 0.1421338)])
def test_scenarios_of_one_trial_each_have_the_plain_error(passes: int, n: int, error: float) -> None:
    assert clustered_error([(1, 1)] * passes + [(0, 1)] * (n - passes)) == pytest.approx(error, abs=5.1e-8)


def test_a_spread_is_over_the_scenarios_that_were_judged() -> None:
    found = spread([*FOUR, (0, 0)])
    assert found.standard_error == pytest.approx(0.2357023, abs=5.1e-8)
    assert found.scenarios == 4


@pytest.mark.parametrize("clusters", [[], [(1, 2)], [(1, 2), (0, 0)]])
def test_one_scenario_says_nothing_of_others(clusters: list[tuple[int, int]]) -> None:
    found = spread(clusters)
    assert found.standard_error is None
    assert found.reason == "fewer than two scenarios have a judged trial"


@pytest.mark.parametrize("clusters", [[(1, 2)], [(1, 2), (0, 0)], [(1, 2), (3, 2)]])
def test_what_is_no_cluster_is_refused(clusters: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="there is no such error"):
        clustered_error(clusters)
