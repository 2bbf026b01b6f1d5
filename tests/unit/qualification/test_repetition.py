"""pass@k and pass^k are the unbiased estimators, and undefined where there are too few trials."""

from __future__ import annotations

import pytest

from harness.qualification import in_a_row, mean_in_a_row, pass_at_k, pass_hat_k

#: trials, passes, k, pass@k, pass^k.
REFERENCE = [
    (10, 3, 5, 0.91666667, 0.0),
    (10, 9, 3, 1.0, 0.7),
    (10, 9, 5, 1.0, 0.5),
    (8, 6, 4, 1.0, 0.21428571),
    (4, 2, 2, 0.83333333, 0.16666667),
    (20, 19, 5, 1.0, 0.75),
    (100, 95, 10, 1.0, 0.58375237),
    (200, 40, 10, 0.89871059, 4e-8),
]
#: tau-bench, gpt-4o on 50 airline tasks of four trials each: how many tasks succeeded how often.
AIRLINE = {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}
AIRLINE_PASS_HAT = {1: 0.42, 2: 0.273333, 3: 0.22, 4: 0.20}


@pytest.mark.parametrize(("n", "passes", "k", "at_least_one", "all_of_them"), REFERENCE)
def test_the_estimators_have_their_reference_values(
    n: int, passes: int, k: int, at_least_one: float, all_of_them: float
) -> None:
    assert pass_at_k(passes, n, k) == pytest.approx(at_least_one, abs=5.1e-9)
    assert pass_hat_k(passes, n, k) == pytest.approx(all_of_them, abs=5.1e-9)


@pytest.mark.parametrize("k", AIRLINE_PASS_HAT)
def test_the_published_numbers_of_tau_bench_come_out(k: int) -> None:
    tasks = [passes for passes, count in AIRLINE.items() for _ in range(count)]
    rows = {f"airline/task-{number}": in_a_row(passes, 4, k) for number, passes in enumerate(tasks)}
    assert mean_in_a_row(rows, k).pass_hat_k == pytest.approx(AIRLINE_PASS_HAT[k], abs=5.1e-7)


def test_a_scenario_without_enough_trials_leaves_no_mean() -> None:
    rows = {"pack/a": in_a_row(4, 4, 3), "pack/b": in_a_row(2, 2, 3)}
    found = mean_in_a_row(rows, 3)
    assert (found.pass_at_k, found.pass_hat_k, found.reason) == (None, None, "pack/b: k > n: 2 judged")
    assert mean_in_a_row({}, 1).reason == "no scenario"


@pytest.mark.parametrize(("passes", "n", "k"), [(1, 2, 0), (3, 2, 1), (-1, 2, 1)])
def test_what_is_no_chance_is_refused(passes: int, n: int, k: int) -> None:
    for estimator in (pass_at_k, pass_hat_k, in_a_row):
        with pytest.raises(ValueError, match="there is no such chance"):
            estimator(passes, n, k)


def test_what_is_nearly_all_or_nearly_none_is_never_that() -> None:
    at, hat = pass_at_k(5_000, 10_000, 1_000), pass_hat_k(5_000, 10_000, 2_000)
    assert at is not None
    assert hat is not None
    assert 0.999 < at < 1
    assert 0 < hat < 0.001
    rows = {"a": in_a_row(5_000, 10_000, 1_000), "b": in_a_row(10_000, 10_000, 1_000)}
    mean = mean_in_a_row(rows, 1_000)
    assert mean.pass_at_k is not None
    assert mean.pass_at_k < 1
    assert mean_in_a_row({"b": rows["b"]}, 1_000).pass_at_k == 1
