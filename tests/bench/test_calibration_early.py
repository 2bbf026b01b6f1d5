"""Nights of runs that may end early: how often equal actors are told apart, and how much is saved where they differ."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from nights import at_least, rates

from harness.qualification.comparing import ALPHA
from harness.qualification.stopping import Stopping

#: Share of trials that are not judged, whoever plays.
LEFT_OUT = 0.05

pytestmark = pytest.mark.slow


def night(draws: np.random.Generator, gaps: list[float], scenarios: int, trials: int) -> tuple[Stopping, int]:
    """A run of one actor for each gap, which passes so much less often; what looked at it, and episodes played.

    Episodes of two trials end in any order, as they do where the next trial begins before the last one is over.
    """
    shared = rates(draws, scenarios)
    actors = [f"actor-{number}" for number in range(len(gaps))]
    stopping = Stopping(product(map(str, range(scenarios)), actors, range(1, trials + 1)), ALPHA)
    played = 0
    for first in range(1, trials + 1, 2):
        window = list(product(range(scenarios), range(len(actors)), range(first, min(first + 2, trials + 1))))
        for place in draws.permutation(len(window)):
            scenario, who, trial = window[place]
            if not stopping.needs(actors[who], trial):
                continue
            played += 1
            passes = draws.random() < max(0.0, shared[scenario] - gaps[who])
            judged = draws.random() >= LEFT_OUT
            stopping.over(str(scenario), actors[who], trial, ("pass" if passes else "fail") if judged else "not_judged")
    return stopping, played


@pytest.mark.parametrize(("actors", "scenarios"), [(2, 12), (3, 6)])
def test_equal_actors_are_told_apart_no_more_often_than_was_said(actors: int, scenarios: int) -> None:
    draws = np.random.default_rng([11, actors, scenarios])
    nights = 1000
    told = [night(draws, [0.0] * actors, scenarios, 8)[0].told for _ in range(nights)]
    false = sum(any(pair.finding is not None for pair in one.pairs) for one in told)
    assert false > 0
    assert at_least(false, nights) <= ALPHA


@pytest.mark.parametrize("gap", [0.2, 0.3])
def test_two_fifths_of_the_trials_are_saved_where_actors_clearly_differ(gap: float) -> None:
    draws = np.random.default_rng([12, round(100 * gap)])
    scenarios, trials, nights = 12, 20, 100
    found = [night(draws, [0.0, gap], scenarios, trials) for _ in range(nights)]
    right = sum(stopping.told.pairs[0].finding == "worse" for stopping, _ in found)
    assert right / nights >= 0.95
    assert sum(played for _, played in found) / (nights * 2 * scenarios * trials) <= 0.6
