"""What the trials of an actor come to."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harness.qualification import actor_figures, estimate, fewest_judged, latency
from harness.schema.qualification import ActorFigures, Trial


def trials(scenario: str, passes: int, n: int) -> list[Trial]:
    return [
        Trial(scenario=scenario, verdict="pass" if place < passes else "fail", code=None if place < passes else "wrong")
        for place in range(n)
    ]


def figures(some: list[Trial], most: int = 2) -> ActorFigures:
    return actor_figures("run", "openai/model", "live", some, most=most)


def test_only_judged_trials_are_in_the_rate_and_all_are_in_the_worst_one() -> None:
    left_out = [
        Trial(scenario="pack/a", verdict="not_judged", cause="provider"),
        Trial(scenario="pack/a", verdict="not_judged", cause="provider"),
        Trial(scenario="pack/a", verdict="not_judged", cause="harness"),
        Trial(scenario="pack/a", verdict="not_judged"),
        Trial(scenario="pack/a", verdict="pending", cause="model"),
        Trial(scenario="pack/a", verdict="not_played"),
    ]
    found = figures([*trials("pack/a", 3, 4), *left_out])
    assert (found.judged.passes, found.judged.n, found.judged.rate) == (3, 4, 0.75)
    assert (found.as_failures.passes, found.as_failures.n, found.as_failures.rate) == (3, 10, 0.3)
    assert found.planned == 10
    assert list(found.not_judged.items()) == [
        *(("provider", 2), ("harness", 1), ("not_played", 1), ("pending", 1), ("unknown", 1))
    ]


def test_each_scenario_is_told_apart_in_the_order_of_the_plan() -> None:
    found = figures([*trials("pack/b", 1, 2), *trials("pack/a", 2, 2)])
    assert [(one.scenario, one.judged.passes, one.judged.n) for one in found.scenarios] == [
        *(("pack/b", 1, 2), ("pack/a", 2, 2))
    ]
    assert found.spread.scenarios == 2
    assert [row.pass_hat_k for row in found.in_a_row] == [0.75, 0.5]
    assert [row.pass_at_k for row in found.in_a_row] == [0.75, 1.0]


def test_without_a_judged_trial_there_is_no_rate() -> None:
    found = figures([Trial(scenario="pack/a", verdict="not_judged", cause="provider")])
    assert (found.judged.rate, found.judged.wilson, found.judged.is_enough) == (None, None, False)
    assert found.in_a_row[0].reason == "pack/a: k > n: 0 judged"
    assert (found.latency.median_s, found.latency.p95_s) == (None, None)
    assert figures([]).in_a_row[0].reason == "no scenario"


@pytest.mark.parametrize(("passes", "n", "is_enough"), [(5, 5, False), (6, 6, True), (10, 20, False), (11, 22, True)])
def test_few_trials_are_not_enough_to_tell(passes: int, n: int, is_enough: bool) -> None:
    assert estimate(passes, n).is_enough is is_enough


def test_passes_without_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no such rate"):
        estimate(1, 0)


def test_costs_are_those_of_all_attempts_and_a_lower_bound_where_one_is_unknown() -> None:
    paid = [
        Trial(scenario="pack/a", verdict="pass", calls=2, micro_usd=Decimal(1_000_000), attempts=2),
        Trial(scenario="pack/a", verdict="fail", calls=1, micro_usd=Decimal(1)),
        Trial(scenario="pack/a", verdict="not_played"),
    ]
    found = figures(paid)
    assert found.costs is not None
    assert (found.costs.usd, found.costs.usd_per_episode, found.costs.usd_per_pass) == (
        *(Decimal("1.000001"), Decimal("0.500000"), Decimal("1.000001")),
    )
    assert (found.costs.is_lower_bound, found.retried) == (False, 1)
    unknown = figures([*paid, Trial(scenario="pack/a", verdict="fail", calls=3, unknown_calls=3)])
    assert unknown.costs is not None
    assert (unknown.costs.is_lower_bound, unknown.costs.calls_of_unknown_cost) == (True, 3)


def test_where_no_call_has_a_price_there_is_no_cost() -> None:
    found = figures([Trial(scenario="pack/a", verdict="fail", calls=3, unknown_calls=3)])
    assert found.costs is not None
    assert (found.costs.usd, found.costs.usd_per_episode, found.costs.usd_per_pass) == (None, None, None)
    assert actor_figures("run", "script", "script", trials("pack/a", 1, 1), most=1).costs is None


def test_tokens_are_told_an_episode_and_unknown_ones_are_never_zero() -> None:
    found = figures(
        [
            Trial(scenario="pack/a", verdict="pass", calls=2, tokens=(200, 0, 40, 0), untold=(0, 0, 0, 2)),
            Trial(scenario="pack/a", verdict="fail", calls=2, tokens=(70, 0, 9, 0), untold=(1, 0, 0, 2)),
            Trial(scenario="pack/a", verdict="not_played"),
        ]
    ).tokens
    assert found is not None
    counts = (found.input, found.cached, found.output, found.reasoning)
    assert [(one.total, one.per_episode, one.untold) for one in counts] == [
        *((270, 135.0, 1), (0, 0.0, 0), (49, 24.5, 0), (None, None, 4))
    ]
    assert figures(trials("pack/a", 1, 1)).tokens is None
    assert actor_figures("run", "script", "script", trials("pack/a", 1, 1), most=1).tokens is None


def test_nothing_passed_has_no_cost_of_a_pass() -> None:
    found = figures([Trial(scenario="pack/a", verdict="fail", calls=1, micro_usd=Decimal("5.9"))])
    assert found.costs is not None
    assert (found.costs.usd_per_episode, found.costs.usd_per_pass) == (Decimal("0.000005"), None)


def test_the_time_that_95_of_100_do_not_exceed_is_one_that_was_taken() -> None:
    assert latency([float(second) for second in range(100, 0, -1)]).model_dump() == {
        "episodes": 100,
        "median_s": 50.5,
        "p95_s": 95.0,
    }
    assert latency([3.0, 1.0, 2.0]).model_dump() == {"episodes": 3, "median_s": 2.0, "p95_s": 3.0}


def test_only_judged_episodes_are_timed() -> None:
    outage = Trial(scenario="pack/a", verdict="not_judged", cause="provider", seconds=600.0)
    found = figures([outage, Trial(scenario="pack/a", verdict="pass", seconds=2.0)])
    assert (found.latency.episodes, found.latency.p95_s) == (1, 2.0)


def test_the_most_frequent_code_and_model_come_first() -> None:
    failed = [Trial(scenario="pack/a", verdict="fail", code=code, models=("m-2",)) for code in ("b", "c", "a", "c")]
    found = figures([*failed, Trial(scenario="pack/a", verdict="fail", models=("m-1", "m-2"))])
    assert list(found.failure_codes.items()) == [("c", 2), ("a", 1), ("b", 1), ("unknown", 1)]
    assert list(found.models.items()) == [("m-2", 5), ("m-1", 1)]


def test_scenarios_that_nothing_was_judged_of_do_not_count_for_the_fewest() -> None:
    none = Trial(scenario="pack/c", verdict="pending")
    assert fewest_judged([*trials("pack/a", 0, 3), *trials("pack/b", 2, 2), none]) == 2
    assert fewest_judged([none]) == 0
