"""A trial is a place of the plan, whatever came of it."""

from __future__ import annotations

from decimal import Decimal

from judged import MODEL, Played, several, view_of

from harness.qualification import trials_of
from harness.receipt import last_attempts
from harness.schema.actor import ActorIdentity
from harness.schema.early import EarlyStop
from harness.schema.message import Usage
from harness.schema.metric import COUNT_MAX
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


def test_a_place_that_was_not_needed_any_more_is_no_trial() -> None:
    view = view_of([Played("pack/a", 1, "pass"), Played("pack/a", 2, None), Played("pack/a", 3, None)])
    early = EarlyStop(alpha=0.05, planned=3, until={MODEL.ref: 2})
    view = view.model_copy(update={"manifest": view.manifest.model_copy(update={"early": early})})
    found = trials_of(view, last_attempts(view.receipts))[MODEL.ref]
    assert [(trial.number, trial.verdict) for trial in found] == [(1, "pass"), (2, "not_played")]


def test_an_actor_that_nothing_was_played_of_is_there() -> None:
    found = read([*several("pack/a", 1, 1), Played("pack/a", 1, None, ActorIdentity(ref="b", kind="live", digest="b"))])
    assert list(found) == [MODEL.ref, "b"]
    assert [trial.verdict for trial in found["b"]] == ["not_played"]


def test_what_a_damaged_journal_hides_is_a_call_of_unknown_cost() -> None:
    (trial,) = read([Played("pack/a", 1, "pass", costs=(Decimal(1),), is_damaged=True)])[MODEL.ref]
    assert (trial.calls, trial.unknown_calls) == (2, 1)


def test_tokens_are_those_of_all_calls_and_what_is_unknown_is_counted() -> None:
    told = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=80)
    played = [
        Played("pack/a", 1, "not_judged", cause="provider", costs=(None,), fingerprint="fp-0"),
        Played("pack/a", 1, "pass", attempt=2, costs=(Decimal(7), Decimal(7)), usage=told, fingerprint="fp-1"),
    ]
    (trial,) = read(played)[MODEL.ref]
    assert (trial.calls, trial.tokens, trial.untold) == (3, (200, 160, 40, 0), (1, 1, 1, 3))
    assert trial.fingerprints == ("fp-1",)


def test_a_count_beyond_what_can_be_counted_is_unknown_and_so_is_that_of_a_damaged_journal() -> None:
    beyond = Usage(input_tokens=COUNT_MAX + 1, output_tokens=1)
    (trial,) = read([Played("pack/a", 1, "pass", costs=(Decimal(7),), usage=beyond, is_damaged=True)])[MODEL.ref]
    assert (trial.calls, trial.tokens, trial.untold) == (2, (0, 0, 1, 0), (2, 2, 1, 2))
