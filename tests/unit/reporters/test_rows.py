from __future__ import annotations

from harness.reporters._rows import counts, episodes, headline, not_run, plain, steps_in_short
from harness.schema.receipt import Receipt
from harness.schema.run import RunView
from harness.schema.verdict import Verdict


def with_verdict(receipt: Receipt, verdict: Verdict, attempt: int) -> Receipt:
    return receipt.model_copy(update={"verdict": verdict, "attempt": attempt})


def test_the_headline_counts_every_place_of_the_plan(view: RunView) -> None:
    assert headline(view) == "2 of 8 passed, 4 failed, 1 not judged, 1 not run"


def test_large_numbers_are_told_in_thousands(view: RunView) -> None:
    place = view.manifest.plan[-1]
    plan = tuple(place.model_copy(update={"trial": trial}) for trial in range(2, 12_002))
    manifest = view.manifest.model_copy(update={"plan": plan})
    assert headline(view.model_copy(update={"receipts": (), "manifest": manifest})) == (
        "0 of 12,000 passed, 12,000 not run"
    )


def test_the_headline_leaves_out_what_did_not_happen(view: RunView) -> None:
    passed = view.receipts[:1]
    only = view.model_copy(
        update={
            "receipts": passed,
            "manifest": view.manifest.model_copy(update={"plan": view.manifest.plan[:1]}),
        }
    )
    assert headline(only) == "1 of 1 passed"


def test_of_several_attempts_the_last_one_counts_whatever_their_order(view: RunView) -> None:
    first = view.receipts[0]
    tried = (with_verdict(first, "pass", 2), with_verdict(first, "not_judged", 1))
    assert counts(view.model_copy(update={"receipts": tried})) == {"pass": 1, "fail": 0, "not_judged": 0, "pending": 0}


def test_places_without_a_receipt_are_not_run(view: RunView) -> None:
    assert [(place.actor, place.trial) for place in not_run(view)] == [("ark/doubao-seed-2", 2)]
    assert not_run(view)[0].scenario == "loopx/selected-todo"


def test_an_episode_is_joined_to_its_log_by_key_and_lives_without_one(view: RunView) -> None:
    turned = view.model_copy(update={"log": tuple(reversed(view.log))})
    assert [row.seconds for row in episodes(turned)] == [0.25 + number for number in range(7)]
    assert episodes(view.model_copy(update={"log": ()}))[0].seconds == 0.0


def test_the_trial_is_named_where_there_are_several_and_the_attempt_where_it_is_another(view: RunView) -> None:
    rows = episodes(view.model_copy(update={"receipts": (with_verdict(view.receipts[3], "fail", 2),)}))
    assert rows[0].actor == "ark/doubao-seed-2, trial 2, attempt 2"
    rows = episodes(view)
    assert rows[0].actor == "script"
    assert next(row.actor for row in rows if row.who == "ark/doubao-seed-2") == "ark/doubao-seed-2, trial 1"


def test_steps_are_told_in_order_with_repetitions_counted_and_the_broken_one_marked(view: RunView) -> None:
    assert steps_in_short(view.receipts[5]) == (
        "quota_should_run → workspace_read x2 → source_read → todo_claim → refresh_state"
    )
    assert steps_in_short(view.receipts[6]) == "quota_should_run → todo_claim → no kind ✗"
    assert steps_in_short(view.receipts[0].model_copy(update={"steps": ()})) == "no call"


def test_characters_that_act_or_hide_become_one_visible_mark() -> None:
    assert plain("a\x1b[0m\x00\u202e\ud800é→") == "a\ufffd[0m\ufffd\ufffd\ufffdé→"


def test_an_attempt_that_another_one_followed_is_told_as_such_and_the_last_one_by_its_verdict(view: RunView) -> None:
    first = view.receipts[0]
    other = with_verdict(view.receipts[3], "pass", 1)
    tried = (with_verdict(first, "not_judged", 1), with_verdict(first, "fail", 2), other)
    rows = episodes(view.model_copy(update={"receipts": tried}))
    assert [(row.followed, row.word) for row in rows] == [(True, "tried again"), (False, "failed"), (False, "passed")]
