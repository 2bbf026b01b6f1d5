from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from harness.errors import ProviderCategory
from harness.reporters._evidence import _ADVICE, Told, ending, evidence, told
from harness.reporters._rows import Episode
from harness.schema.outcome import Outcome
from harness.schema.receipt import Finding, Receipt, RedactedText
from harness.schema.run import AttemptRow, RunLogEntry, RunView


def row(receipt: Receipt, log: RunLogEntry | None = None) -> Episode:
    return Episode(1, receipt, log)


def only(receipt: Receipt, **changes: object) -> Told:
    """What is told of the first finding with these changes."""
    finding = receipt.findings[0].model_copy(update=changes)
    return told(row(receipt.model_copy(update={"findings": (finding,)})))[0]


def test_a_finding_tells_step_place_expected_and_got(view: RunView) -> None:
    assert evidence(told(row(view.receipts[2]))[1]) == (
        "step 4, quota_reentry: the answer at /capability_gate/action",
        'expected "run"',
        "got      nothing",
    )


def test_a_finding_with_a_code_of_its_own_names_it(view: RunView) -> None:
    assert evidence(told(row(view.receipts[6]))[1]) == ("the workspace changed where it must not (unexpected_change)",)


def test_a_pointer_to_the_whole_document_is_told(view: RunView) -> None:
    assert evidence(only(view.receipts[2], pointer="", step=99))[0] == "the answer at /"


def test_a_classifier_that_says_no_more_than_its_code_is_told_without_values(view: RunView) -> None:
    said = {"check": "classifier", "step": None, "expected": "null", "got": "null"}
    assert evidence(only(view.receipts[2], **said, pointer=None)) == ("what a classifier found",)
    assert evidence(only(view.receipts[2], **said, pointer="/owner")) == (
        "what a classifier found at /owner",
        "expected null",
        "got      null",
    )


def test_a_refused_call_tells_what_was_true_before_it(view: RunView) -> None:
    assert evidence(told(row(view.receipts[1]))[0]) == (
        "step 2, quota_reentry: a call that the rules refuse here; true by then: informed",
    )
    assert only(view.receipts[1], step=1).what.endswith("; no fact was true by then")


def test_calls_that_were_turned_away_are_told_where_the_episode_did_not_pass(view: RunView) -> None:
    failed = view.receipts[4]
    steps = (replace(failed.steps[0], result="unknown_tool", kind=None), *failed.steps[1:])
    turned = failed.model_copy(update={"steps": steps})
    assert evidence(told(row(turned))[-1]) == ("step 1, no kind: did not run, there is no such tool",)
    assert len(told(row(turned))) == len(told(row(failed))) + 1
    passed = turned.model_copy(update={"verdict": "pass", "findings": ()})
    assert told(row(passed)) == ()


def test_silence_tells_what_was_true_at_the_end(view: RunView) -> None:
    assert evidence(told(row(view.receipts[4]))[0]) == ("the actor stopped calling; true by then: informed, verified",)


@pytest.mark.parametrize(
    ("check", "written", "shown"),
    [
        ("answer", r'"contains \"x\""', 'contains "x"'),
        ("answer", r'"no command contains \"x\""', 'no command contains "x"'),
        ("answer", '"2 of kind quota_reentry"', "2 of kind quota_reentry"),
        ("answer", '"the value at #/a"', "the value at #/a"),
        ("answer", '"empty"', "empty"),
        ("answer", '"absent"', "absent"),
        ("answer", '"bounded_delivery"', '"bounded_delivery"'),
        ("answer", '"emptied"', '"emptied"'),
        ("answer", "true", "true"),
        ("content", '"a read that ran"', "a read that ran"),
        ("execution", '"a JSON object"', "a JSON object"),
        ("execution", '"torn', '"torn'),
    ],
)
def test_words_lose_the_quotes_of_json_and_values_keep_them(
    view: RunView, check: str, written: str, shown: str
) -> None:
    assert only(view.receipts[2], check=check, expected=RedactedText(written)).expected == shown


def test_what_an_answer_held_is_never_taken_for_our_words(view: RunView) -> None:
    assert only(view.receipts[2], got=RedactedText('"empty"')).got == '"empty"'


def test_exit_codes_are_called_so(view: RunView) -> None:
    failed = only(view.receipts[2], check="execution", expected=RedactedText("0"), got=RedactedText("2"))
    assert (failed.expected, failed.got) == ("exit code 0", "exit code 2")
    late = only(view.receipts[2], check="execution", expected=RedactedText("0"), got=RedactedText('"timed out"'))
    assert (late.expected, late.got) == ("exit code 0", "timed out")


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (
            AttemptRow(operation="turn-1/main", attempt=1, status="not_sent", usage=None, seconds=0, error="timeout"),
            "model call turn-1/main: timeout, nothing was sent; try again, or give the scenario a longer deadline",
        ),
        (
            AttemptRow(
                operation="turn-2/main",
                attempt=3,
                status="failed",
                usage=None,
                seconds=0,
                error="rate_limited",
                http_status=429,
            ),
            "model call turn-2/main, attempt 3: rate_limited, HTTP 429; try again later, or fewer at a time with -n",
        ),
        (
            AttemptRow(operation="turn-1/main", attempt=1, status="unknown", usage=None, seconds=0, error="odd"),
            "model call turn-1/main: odd, whether it was answered is unknown",
        ),
        (
            AttemptRow(operation="turn-1/main", attempt=2, status="unknown", usage=None, seconds=0, error="decided"),
            "model call turn-1/main, attempt 2: a person decided that it failed (--decide record_failure)",
        ),
    ],
)
def test_an_outage_tells_the_model_call_that_failed(view: RunView, attempt: AttemptRow, said: str) -> None:
    log = view.log[3].model_copy(update={"attempts": (*view.log[3].attempts, attempt), "problem": None})
    assert [evidence(piece) for piece in told(row(view.receipts[3], log))] == [(said,)]


@pytest.mark.parametrize(
    ("ref", "where"),
    [
        ("deepseek/m-1", " in DEEPSEEK_API_KEY"),
        ("candidate", " (DEEPSEEK_API_KEY where harness.toml gives candidate no key_env)"),
    ],
)
def test_a_refused_key_is_named_by_its_variable(view: RunView, ref: str, where: str) -> None:
    call = AttemptRow(operation="t", attempt=1, status="failed", usage=None, seconds=0, error="auth", http_status=401)
    actor = view.receipts[3].actor.model_copy(update={"provider": "deepseek", "model": "m-1", "ref": ref})
    log = view.log[3].model_copy(update={"attempts": (call,), "problem": None})
    (piece,) = told(row(view.receipts[3].model_copy(update={"actor": actor}), log))
    assert evidence(piece) == (f"model call t: auth, HTTP 401; check the API key{where}",)


def test_an_episode_that_was_given_up_says_by_whom(view: RunView) -> None:
    outcome = Outcome(status="failed", reason="operator_abort")
    receipt = view.receipts[3].model_copy(update={"outcome": outcome, "cause": "harness", "findings": ()})
    log = view.log[3].model_copy(update={"problem": None})
    assert [evidence(piece) for piece in told(row(receipt, log))] == [
        ("a person decided to give the episode up (--decide abort)",)
    ]


def test_every_outage_has_advice_of_its_own_or_none_to_give() -> None:
    judged = {"content_filter", "malformed_tool_call"}
    elsewhere = {"server_error", "stream_incomplete"}
    assert set(_ADVICE) == set(get_args(ProviderCategory)) - judged - elsewhere


def test_an_outage_without_a_failed_call_tells_the_problem_alone(view: RunView) -> None:
    assert told(row(view.receipts[3], view.log[3])) == (Told("", "the provider was overloaded (HTTP 529) three times"),)
    assert told(row(view.receipts[3])) == ()


def test_that_the_loop_ended_is_no_evidence_of_its_own(view: RunView) -> None:
    finding = Finding(code="model_error", check="outcome")
    assert told(row(view.receipts[3].model_copy(update={"findings": (finding,)}))) == ()


def test_an_ending_tells_detail_and_limit_but_no_code_twice(view: RunView) -> None:
    assert ending(view.receipts[3]) == "failed/model_error, overloaded"
    assert ending(view.receipts[1]) == "failed/scenario_violation"
    limit = Outcome(status="limit_exceeded", reason="model_turns", limit=6, observed=7)
    assert ending(view.receipts[0].model_copy(update={"outcome": limit})) == (
        "limit_exceeded/model_turns, limit 6, observed 7"
    )


def test_an_ending_below_its_limit_tells_what_would_have_gone_beyond(view: RunView) -> None:
    limit = Outcome(status="limit_exceeded", reason="tool_calls", limit=16, observed=0, attempted=17, overshoot=1)
    assert ending(view.receipts[0].model_copy(update={"outcome": limit})) == (
        "limit_exceeded/tool_calls, limit 16, observed 0, attempted 17"
    )
