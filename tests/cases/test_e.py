"""Statistics, as they went wrong elsewhere; each test is named by its case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from judged import Played, view_of, write_run

from harness.classifiers._expecting import expectation_problems
from harness.errors import StoreError
from harness.qualification import actor_figures, estimate, in_a_row, mean_in_a_row, pass_at_k, trials_of, wilson
from harness.qualification.comparing import compare
from harness.qualification.permutation import Stratum, permutation_test
from harness.receipt import last_attempts, read_run
from harness.rules import examine
from harness.schema.comparison import Pair
from harness.schema.outcome import Outcome
from harness.schema.qualification import Trial
from harness.schema.rules import AnswerCheck, Near

E001_N, E001_K = 99, 100
E003 = {"pack/t1": (6, 8), "pack/t2": (8, 8), "pack/t3": (3, 8)}
E003_K, E003_EACH, E003_MEAN, E003_PLUG_IN = 4, (0.214285714, 1.0, 0.0), 0.404761905, 0.44539388
E005_REWARDS, E005_MEAN = (0.5, 0.5, 1.0, 0.9999995), 0.749999875
E007, E007_WALD_UPPER = (0.763868807, 0.991118551), 1.045516829
SPENT = Outcome(status="limit_exceeded", reason="duration")
NEVER_BEGUN = Outcome(status="rejected", reason="setup_rejected")
BROKEN_CHECK = Outcome(status="failed", reason="tool_error")


def test_e001_fewer_trials_than_k_have_no_pass_at_k_and_a_reason() -> None:
    assert pass_at_k(0, E001_N, E001_K) is None
    row = in_a_row(0, E001_N, E001_K)
    assert (row.pass_at_k, row.pass_hat_k) == (None, None)
    assert row.reason is not None
    assert row.reason.startswith("k > n")


def test_e003_pass_hat_k_is_unbiased_for_each_scenario_and_then_the_mean() -> None:
    rows = {name: in_a_row(passes, n, E003_K) for name, (passes, n) in E003.items()}
    assert [row.pass_hat_k for row in rows.values()] == pytest.approx(E003_EACH, abs=1e-6)
    mean = mean_in_a_row(rows, E003_K).pass_hat_k
    assert mean == pytest.approx(E003_MEAN, abs=1e-6)
    assert mean != pytest.approx(E003_PLUG_IN, abs=1e-3)


def test_e005_a_trial_passes_or_not_and_a_mean_of_scores_is_no_rate() -> None:
    success = AnswerCheck(near=Near(to=1, within=1e-6))
    passes = sum(not examine({"reward": reward}, "/reward", success) for reward in E005_REWARDS)
    found = estimate(passes, len(E005_REWARDS))
    assert (found.passes, found.n, found.rate) == (2, 4, 0.5)
    assert found.rate != pytest.approx(E005_MEAN, abs=0.1)
    assert not list(expectation_problems(success, ()))


def test_e007_an_interval_stays_below_one() -> None:
    found = wilson(19, 20)
    assert (found.low, found.high) == pytest.approx(E007, abs=1e-6)
    assert found.low >= 0
    assert found.high <= 1 < E007_WALD_UPPER
    assert estimate(19, 20).wilson == found


#: The trials of the case: what became of the agent and of whoever judged it, as this harness says it.
E009 = [
    Played("pack/a", 1, "not_judged", cause="harness", outcome=BROKEN_CHECK),
    Played("pack/a", 2, "fail", cause="model", code="duration", outcome=SPENT),
    Played("pack/a", 3, "pass", outcome=SPENT),
    Played("pack/a", 4, "not_judged", cause="harness", outcome=NEVER_BEGUN),
    Played("pack/a", 5, "fail", cause="model"),
    Played("pack/a", 6, "not_judged", cause="scenario", outcome=BROKEN_CHECK),
]


def test_e009_only_a_finished_verdict_counts_and_a_timeout_with_one_does() -> None:
    view = view_of(E009)
    ((actor, trials),) = trials_of(view, last_attempts(view.receipts)).items()
    found = actor_figures("run", actor, "live", trials, most=1)
    assert (found.judged.passes, found.judged.n) == (1, 3)
    assert found.failure_codes == {"duration": 1, "wrong": 1}
    assert found.not_judged == {"harness": 2, "scenario": 1}
    assert (found.as_failures.passes, found.as_failures.n) == (1, 6)


#: Scenarios of one trial each, by whether A and B passed them.
E011 = {(True, True): 150, (True, False): 22, (False, True): 8, (False, False): 40}
E011_DIFFERENCE, E011_CHANCE = 0.063636364, 0.016124802
E013_BASELINE = [1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1]
E013_CANDIDATE = [1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0]


def paired(first: Sequence[bool | int], second: Sequence[bool | int]) -> Pair:
    """What is found of two models that played each scenario once."""
    sides = [
        [Trial(scenario=f"pack/s{at}", verdict="pass" if passed else "fail") for at, passed in enumerate(side)]
        for side in (first, second)
    ]
    (pair,) = compare(
        [actor_figures("run", name, "live", side, most=1) for name, side in zip("AB", sides, strict=True)]
    ).pairs
    return pair


def test_e011_scenarios_that_both_played_are_pairs() -> None:
    places = [both for both, count in E011.items() for _ in range(count)]
    first, second = zip(*places, strict=True)
    pair = paired(first, second)

    assert pair.difference is not None
    assert pair.difference.effect == pytest.approx(-E011_DIFFERENCE, abs=1e-6)
    assert pair.chance == pytest.approx(E011_CHANCE, abs=1e-6)
    assert pair.finding == "worse"
    # as if the scenarios were not the same ones, in one heap: another number, which tells nothing
    assert permutation_test([Stratum(sum(first), len(first), sum(second), len(second))]) > 0.1


def test_e013_one_lost_scenario_and_ties_are_no_regression() -> None:
    pair = paired(E013_BASELINE, E013_CANDIDATE)
    sides = [(one.first_passes, one.second_passes) for one in pair.scenarios]

    assert (sides.count((0, 1)), sides.count((1, 0)), len([one for one in sides if one[0] == one[1]])) == (0, 1, 11)
    assert pair.chance == 1.0
    assert pair.finding == "undecided"
    assert pair.trials is not None


@pytest.mark.parametrize("verdict", ["2", "-1", "null", "NaN", '"yes"'])
def test_e015_a_verdict_that_is_none_is_an_error_of_the_run_and_never_left_out(tmp_path: Path, verdict: str) -> None:
    run = write_run(tmp_path / "run", [Played("pack/a", 1, "pass"), Played("pack/a", 2, "fail")])
    receipts = run / "receipts.jsonl"
    receipts.write_text(receipts.read_text().replace('"verdict":"fail"', f'"verdict":{verdict}'))
    with pytest.raises(StoreError, match=r"receipts\.jsonl:2: cannot be used: verdict"):
        read_run(run)
