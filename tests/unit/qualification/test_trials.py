"""A trial is a place of the plan, whatever came of it."""

from __future__ import annotations

from decimal import Decimal

from judged import MODEL, Played, several, view_of

from harness.qualification import trials_of
from harness.receipt import last_attempts
from harness.schema.actor import ActorIdentity
from harness.schema.qualification import Trial


def read(played: list[Played]) -> dict[str, list[Trial]]:
    view = view_of(played)
    return trials_of(view, last_attempts(view.receipts))


def test_an_attempt_that_was_played_again_is_no_trial_but_was_paid_for() -> None:
    outage = Played("pack/a", 1, "not_judged", cause="provider", seconds=60, costs=(Decimal(5), None))
    (trial,) = read([outage, Played("pack/a", 1, "pass", attempt=2, seconds=2, costs=(Decimal(7),), model="m-1")])[
        MODEL.ref
    ]
    assert (trial.verdict, trial.attempts, trial.seconds) == ("pass", 2, 2.0)
    assert (trial.calls, trial.unknown_calls, trial.micro_usd) == (3, 1, Decimal(12))
    assert trial.models == ("m-1",)


def test_a_place_without_a_receipt_was_not_played() -> None:
    (first, second) = read([Played("pack/a", 1, "pass"), Played("pack/a", 2, None)])[MODEL.ref]
    assert (first.verdict, second.verdict, second.seconds) == ("pass", "not_played", None)


def test_an_actor_that_nothing_was_played_of_is_there() -> None:
    found = read([*several("pack/a", 1, 1), Played("pack/a", 1, None, ActorIdentity(ref="b", kind="live", digest="b"))])
    assert list(found) == [MODEL.ref, "b"]
    assert [trial.verdict for trial in found["b"]] == ["not_played"]


def test_what_a_damaged_journal_hides_is_a_call_of_unknown_cost() -> None:
    (trial,) = read([Played("pack/a", 1, "pass", costs=(Decimal(1),), is_damaged=True)])[MODEL.ref]
    assert (trial.calls, trial.unknown_calls) == (2, 1)
