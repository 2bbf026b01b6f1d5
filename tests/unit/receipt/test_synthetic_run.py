"""Runs that nobody played are such as harness writes itself, and their numbers are those that were asked for."""

from __future__ import annotations

from pathlib import Path

from synthetic_run import Synthetic

from harness.receipt import last_attempts, read_run, verify_run


def test_a_synthetic_run_is_read_back_as_it_was_made_and_nothing_is_wrong_with_it(tmp_path: Path) -> None:
    made = Synthetic(trials=3, scenarios=5, versions=("0.4.7", "0.4.8"), cut=0.3)
    view = made.view()
    assert verify_run(made.write(tmp_path / "run")).flaws == ()
    read = read_run(tmp_path / "run")
    assert (read.receipts, read.log) == (view.receipts, view.log)
    assert (read.manifest.state, read.manifest.verdicts) == ("complete", view.manifest.verdicts)
    assert len(last_attempts(view.receipts)) == made.size == len(view.manifest.plan) == 3 * 5 * 4 * 2
    assert len(view.receipts) > made.size
    assert {"pass", "fail", "not_judged"} == {receipt.verdict for receipt in view.receipts}


def test_the_same_numbers_make_the_same_run_and_another_seed_another() -> None:
    assert Synthetic(trials=2).view() == Synthetic(trials=2).view() != Synthetic(trials=2, seed=2).view()
