"""Nights of models as they may happen: how often a comparison or a policy takes chance for more, and misses what is.

Scenarios of different difficulty that both models share, trials that nobody judged, whatever the rates are.
"""

from __future__ import annotations

import numpy as np
import pytest
from nights import at_least, rates

from harness.qualification.deciding import Candidate, decide
from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.planning import trials_needed
from harness.qualification.sequential import Looks
from harness.schema.comparison import Contender
from harness.schema.decision import Demand
from harness.schema.policy import Policy
from harness.schema.qualification import Trial

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
        pair = Looks(len(stages), alpha=ALPHA)
        for stage in stages:
            if pair.found is None:
                pair.look(stage)
        return pair.found, pair.taken

    false = sum(course(0)[0] is not None for _ in range(NIGHTS))
    assert at_least(false, NIGHTS) <= ALPHA

    clear = [course(0.4) for _ in range(300)]
    assert sum(found == "worse" for found, _ in clear) / 300 >= 0.95
    assert sum(played for _, played in clear) / (300 * 16) <= 0.6


POLICY = Policy.model_validate({"schema": 1, "alpha": ALPHA, "not_judged": {"most": 1.0}})


def played(draws: np.random.Generator, shared: list[float], n: int) -> list[Trial]:
    """So many trials of each scenario, of which some are not judged."""
    found = []
    for number, rate in enumerate(shared):
        lots = draws.random((n, 2))
        found += [
            Trial(
                scenario=f"pack/s{number}",
                verdict="not_judged" if out < LEFT_OUT else "pass" if passed < rate else "fail",
            )
            for passed, out in lots
        ]
    return found


def demand(kind: str, scenarios: int, wanted: float) -> Demand:
    names = tuple(f"pack/s{number}" for number in range(scenarios))
    return Demand.model_validate({"tier": None, "kind": kind, "scenarios": names, "wanted": wanted, "trials": 1})


def test_in_nights_in_which_nothing_is_wrong_a_policy_fails_nobody_more_often_than_it_says() -> None:
    """Two actors, as good as their baseline, and of each the very rate is wanted that it has."""
    draws = np.random.default_rng(11)
    scenarios, trials, failed = 6, 10, 0
    for _ in range(NIGHTS):
        shared = rates(draws, scenarios)
        asked = (demand("drop", scenarios, 0.02), demand("rate", scenarios, sum(shared) / scenarios))
        baseline = played(draws, shared, trials)
        sides = [
            Candidate("night", actor, played(draws, shared, trials), asked, Contender(run="last", actor="o"), baseline)
            for actor in ("one", "other")
        ]
        failed += any(found.answer == "fail" for found in decide(sides, POLICY))
    assert failed > 0
    assert at_least(failed, NIGHTS) <= ALPHA


def test_an_actor_that_lost_just_what_may_not_be_lost_passes_no_more_often_than_was_said() -> None:
    draws = np.random.default_rng(13)
    scenarios, trials, margin, passed = 6, 20, 0.1, 0
    for _ in range(NIGHTS):
        shared = [max(margin, rate) for rate in rates(draws, scenarios)]
        own = played(draws, [rate - margin for rate in shared], trials)
        asked = (demand("drop", scenarios, margin),)
        side = Candidate("n", "one", own, asked, Contender(run="l", actor="o"), played(draws, shared, trials))
        (found,) = decide([side], POLICY)
        passed += found.answer == "pass"
    assert passed > 0
    assert at_least(passed, NIGHTS) <= ALPHA
