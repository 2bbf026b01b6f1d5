"""Nights of two models as they may happen: how often a comparison takes chance for a difference, and misses one.

Scenarios of different difficulty that both models share, trials that nobody judged, whatever the rates are.
"""

from __future__ import annotations

import numpy as np
import pytest
from nights import at_least, rates

from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.planning import trials_needed
from harness.qualification.sequential import looks

ALPHA, NIGHTS = 0.05, 2000
SIZES = [(scenarios, trials) for scenarios in (6, 12, 30) for trials in (5, 10)]
#: Share of trials that are not judged, whoever plays.
LEFT_OUT = 0.05

pytestmark = pytest.mark.slow


def stratum(draws: np.random.Generator, rate: float, drop: float, trials: int) -> Stratum:
    first, second = (int(draws.binomial(trials, 1 - LEFT_OUT)) for _ in range(2))
    lower = max(0.0, rate - drop)
    return Stratum(int(draws.binomial(first, rate)), first, int(draws.binomial(second, lower)), second)


def night(draws: np.random.Generator, scenarios: int, trials: int, drop: float) -> list[Stratum]:
    return [stratum(draws, rate, drop, trials) for rate in rates(draws, scenarios)]


@pytest.mark.parametrize(("scenarios", "trials"), SIZES)
def test_equal_models_are_told_apart_no_more_often_than_was_said(scenarios: int, trials: int) -> None:
    draws = np.random.default_rng([scenarios, trials])
    false = sum(permutation_test(night(draws, scenarios, trials, 0), "two-sided") <= ALPHA for _ in range(NIGHTS))
    assert false > 0
    assert at_least(false, NIGHTS) <= ALPHA


@pytest.mark.parametrize("scenarios", [6, 12, 30])
def test_a_drop_of_15_points_is_found_with_the_trials_that_were_planned(scenarios: int) -> None:
    draws = np.random.default_rng([7, scenarios])
    planned = trials_needed([4 / 5.2] * scenarios, 0.15, alpha=ALPHA)
    assert planned is not None
    played = round(planned / (1 - LEFT_OUT))
    found = sum(permutation_test(night(draws, scenarios, played, 0.15), "less") <= ALPHA for _ in range(1000))
    assert found / 1000 >= 0.8


@pytest.mark.parametrize("scenarios", [6, 12, 30])
def test_several_looks_keep_to_alpha_and_save_trials_where_models_clearly_differ(scenarios: int) -> None:
    draws = np.random.default_rng([9, scenarios])

    def course(drop: float) -> tuple[str | None, int]:
        shared = rates(draws, scenarios)
        stages = [[stratum(draws, rate, drop, 1) for rate in shared] for _ in range(16)]
        found = looks(stages, len(stages), alpha=ALPHA)
        return found[-1].found, len(found)

    false = sum(course(0)[0] is not None for _ in range(NIGHTS))
    assert at_least(false, NIGHTS) <= ALPHA

    clear = [course(0.4) for _ in range(300)]
    assert sum(found == "worse" for found, _ in clear) / 300 >= 0.95
    assert sum(played for _, played in clear) / (300 * 16) <= 0.6
