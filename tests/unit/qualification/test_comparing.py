"""What is found of a pair, and how many trials would tell, at the edges."""

from __future__ import annotations

from harness.qualification import actor_figures
from harness.qualification.comparing import compare
from harness.schema.qualification import ActorFigures, Trial


def played(actor: str, passes: int, failures: int, left_out: int = 0) -> ActorFigures:
    """One actor in one scenario."""
    verdicts = ["pass"] * passes + ["fail"] * failures + ["not_judged"] * left_out
    return actor_figures(
        "run",
        actor,
        "live",
        [Trial.model_validate({"scenario": "pack/a", "verdict": verdict}) for verdict in verdicts],
        most=1,
    )


def test_alike_of_what_was_judged_and_untold_with_the_rest_as_failures_wants_more_trials() -> None:
    (pair,) = compare([played("a", 200, 200), played("b", 200, 200, 40)], margin=0.1).pairs
    assert pair.difference is not None
    assert -0.1 < pair.difference.low < pair.difference.high < 0.1
    assert pair.as_failures > 0.05
    assert pair.finding == "undecided"


def test_alike_of_what_was_judged_and_worse_with_the_rest_as_failures_is_open() -> None:
    (pair,) = compare([played("a", 200, 200), played("b", 200, 200, 120)], margin=0.1).pairs
    assert pair.as_failures <= 0.05
    assert pair.finding == "open"


def test_more_trials_than_there_are_are_wanted_where_many_pairs_leave_one_undecided() -> None:
    """A pair by itself has enough; nobody is told to play no more."""
    actors = [*(played(f"a{number}", 80, 20) for number in range(9)), played("z", 60, 40)]
    undecided = [pair for pair in compare(actors).pairs if pair.second == 9]
    assert {(pair.finding, pair.trials) for pair in undecided} == {("undecided", 185)}
    (alone,) = compare([actors[0], actors[9]]).pairs
    assert alone.finding == "worse"
