"""The closing turn: its own allowance, no tool, and a text that is judged."""

from __future__ import annotations

import pytest
from toy import Played, ReplyActor, Stage, called, said

from harness.journal import Journal
from harness.schema.base import JsonValue
from harness.schema.message import Reply, UserMessage
from harness.schema.record import InputDelivered
from harness.schema.tool import ToolCall

CLOSING: dict[str, JsonValue] = {
    "limits": {"model_turns": 2, "tool_calls": 2},
    "closing": {"ask": "Say what was done.", "text_bytes": 12, "failed": "said_nothing", "called": "went_on_calling"},
}
ASK, READ = called("toy ask plane", id_="a"), called("cat notes/a.json", id_="b")


def play(stage: Stage, *replies: Reply, change: dict[str, JsonValue] | None = None) -> tuple[Played, ReplyActor]:
    actor = ReplyActor(list(replies))
    return stage.play(actor=actor, change=CLOSING | (change or {})), actor


def test_the_closing_turn_is_beyond_all_limits_and_no_tool_may_be_chosen_in_it(stage: Stage) -> None:
    played, actor = play(stage, said("", ASK), said("", READ), said("Read."))
    assert played.ending == ("completed/final_response", "pass", None)
    before, last = actor.requests[1:]
    assert (before.settings.tool_choice, last.settings.tool_choice) == (None, "none")
    assert last.messages[-1] == UserMessage(text="Say what was done.")
    assert played.receipt.counters.tool_calls == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "said_nothing"), (" \n", "said_nothing"), ("twelve chars", None), ("é" * 6, None), ("é" * 7, "said_nothing")],
)
def test_its_text_is_there_and_within_its_bytes(stage: Stage, text: str, code: str | None) -> None:
    played, _ = play(stage, said("", ASK), said("", READ), said(text))
    assert played.receipt.failure_code == code


@pytest.mark.parametrize(
    ("text", "pointer", "got"), [(" \n", "/answer", "nothing"), ("é" * 7, None, "14")], ids=("blank", "long")
)
def test_what_is_wrong_with_its_text_is_told_by_its_size(
    stage: Stage, text: str, pointer: str | None, got: str
) -> None:
    (finding,) = play(stage, said("", ASK), said("", READ), said(text))[0].receipt.findings
    assert (finding.pointer, finding.expected, finding.got) == (pointer, '"a text of at most 12 bytes"', got)


def test_a_call_in_it_breaks_its_rule_and_does_not_run(stage: Stage) -> None:
    played, _ = play(stage, said("", ASK), said("", READ), said("Read.", called("toy ask plane", id_="c")))
    assert played.ending == ("failed/scenario_violation", "fail", "went_on_calling")
    assert played.kinds == ["ask", "read"]
    assert played.receipt.cause == "model"


def test_calls_beside_the_one_that_ends_the_calling_do_not_run(stage: Stage) -> None:
    later: ToolCall = called("toy ask plane", id_="c")
    played, _ = play(stage, said("", ASK), said("", READ, later), said("Read."), change={"limits": {"tool_calls": 9}})
    assert [step.result for step in played.receipt.steps] == ["succeeded", "succeeded", "skipped_due_to_finish"]
    assert played.receipt.verdict == "pass"


@pytest.mark.parametrize("policy", ["continue", "wait_user"])
def test_its_reply_is_final_whatever_a_reply_without_a_call_means_before(stage: Stage, policy: str) -> None:
    played, actor = play(stage, said("", ASK), said("", READ), said("Read."), change={"control": {"no_call": policy}})
    assert (played.ending, len(actor.requests)) == (("completed/final_response", "pass", None), 3)


def test_checks_of_the_end_look_at_it(stage: Stage) -> None:
    holds: JsonValue = {"code": "not_told", "holds": {"/answer": {"matches": "(?i)\\bread\\b"}}}
    spared: JsonValue = {"code": "waits", "holds": {"/answer": {"avoids": "\\bwait"}}}
    change: dict[str, JsonValue] = {
        "end": {"accept": ["done"], "silence": [{"code": "did_nothing"}], "check": [holds, spared]}
    }
    told = [play(stage, said("", ASK), said("", READ), said(text), change=change)[0] for text in ("Read.", "Go.", "")]
    assert [played.receipt.failure_code for played in told] == [None, "not_told", "said_nothing"]
    waits, _ = play(stage, said("", ASK), said("", READ), said("Read, wait"), change=change)
    assert [finding.code for finding in waits.receipt.findings] == ["waits"]


def test_it_is_named_in_the_journal(stage: Stage) -> None:
    journal = Journal()
    stage.play(actor=ReplyActor([said("", ASK), said("", READ), said("Read.")]), change=CLOSING, journal=journal)
    named = [one.input for one in journal.payloads if isinstance(one, InputDelivered)]
    assert named[-1] == "closing.turn-3"


def test_who_stops_before_is_silent_and_not_asked(stage: Stage) -> None:
    played, actor = play(stage, said("", ASK), said("Done."))
    assert (played.receipt.failure_code, len(actor.requests)) == ("stopped_early", 2)
