"""What is said of two models whose number of trials hung on what came out."""

from __future__ import annotations

import pytest

from harness.qualification.cut_short import difference_early, found_early
from harness.qualification.difference import difference
from harness.qualification.permutation import Stratum
from harness.qualification.sequential import spent
from harness.schema.comparison import PairFinding, SequentialCourse
from harness.schema.qualification import Trial


def trials_of(passes: int, n: int, scenario: str = "pack/a") -> list[Trial]:
    return [
        Trial(scenario=scenario, verdict="pass" if number <= passes else "fail", number=number)
        for number in range(1, n + 1)
    ]


def course_of(after: int, planned: int, finding: str | None = None) -> SequentialCourse:
    return SequentialCourse.model_validate({"finding": finding, "after": after, "planned": planned, "saved": 0})


def test_only_what_was_looked_at_counts_and_the_interval_is_wider_than_of_a_fixed_number() -> None:
    first, second = trials_of(9, 12), trials_of(3, 12)
    found = difference_early(first, second, course_of(8, 12), alpha=0.05)
    fixed = difference([Stratum(8, 8, 3, 8)])
    assert found is not None
    assert fixed is not None
    assert found.effect == fixed.effect
    assert found.low < fixed.low < fixed.high < found.high


def test_the_interval_of_a_look_misses_as_often_as_that_look_spends() -> None:
    found = difference_early(trials_of(9, 12), trials_of(3, 12), course_of(8, 12), alpha=0.05)
    fixed = difference([Stratum(8, 8, 3, 8)], confidence=1 - (spent(8 / 12, 0.05) - spent(7 / 12, 0.05)))
    assert found == fixed


def test_a_single_look_has_the_interval_of_a_fixed_number() -> None:
    first, second = trials_of(1, 1), trials_of(0, 1)
    found = difference_early(first, second, course_of(1, 1), alpha=0.05)
    fixed = difference([Stratum(1, 1, 0, 1)])
    assert found is not None
    assert fixed is not None
    assert (found.low, found.high) == pytest.approx((fixed.low, fixed.high))


def test_the_first_of_many_looks_spends_next_to_nothing_and_still_has_an_interval() -> None:
    found = difference_early(trials_of(1, 1), trials_of(0, 1), course_of(1, 1000), alpha=0.01)
    assert found is not None
    assert -1 <= found.low < found.high <= 1


def test_without_a_look_or_a_judged_trial_there_is_no_difference() -> None:
    assert difference_early(trials_of(1, 1), trials_of(0, 1), course_of(0, 5), alpha=0.05) is None
    waits = [Trial(scenario="pack/a", verdict="not_judged", number=1)]
    assert difference_early(waits, trials_of(0, 1), course_of(1, 5), alpha=0.05) is None


@pytest.mark.parametrize(
    ("fixed", "looked", "said"),
    [
        ("better", None, "undecided"),
        ("worse", "better", "better"),
        ("open", None, "open"),
        ("alike", None, "alike"),
        ("apart", None, "apart"),
    ],
)
def test_the_looks_decide_and_no_other_test_adds_a_finding(fixed: PairFinding, looked: str, said: str) -> None:
    assert found_early(fixed, course_of(3, 5, looked)) == said
