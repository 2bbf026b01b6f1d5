"""Control calls: an actor that is blocked, asks, or says that it is done."""

from __future__ import annotations

import json
import threading

import pytest
from numbered import case
from toy import Played, ReplyActor, Stage, called, said

from harness.journal import Journal
from harness.schema.base import JsonValue
from harness.schema.message import Reply, ToolMessage
from harness.schema.record import OpParked, OpReceipt, Record, Suspended
from harness.schema.tool import ToolCall

ALL: dict[str, JsonValue] = {"control": {"offer": ["blocked", "request_user_input", "finalize"]}}
DONE: dict[str, JsonValue] = {"summary": "It is done.", "completion": ["The notes are complete"]}


def control(name: str, arguments: dict[str, JsonValue], id_: str = "k1") -> ToolCall:
    """A call of a control tool."""
    return ToolCall(id=id_, name=name, arguments_raw=json.dumps(arguments), arguments=arguments)


def blocked(**changed: JsonValue) -> ToolCall:
    plain: dict[str, JsonValue] = {"code": "external_dependency", "text": "The server is down."}
    return control("blocked", plain | changed)


def finalized(id_: str = "k1", /, **changed: JsonValue) -> ToolCall:
    return control("finalize", DONE | changed, id_)


def play(stage: Stage, *replies: Reply, change: dict[str, JsonValue] | None = None) -> tuple[Played, ReplyActor]:
    """Replies to a scenario that offers all control tools."""
    actor = ReplyActor(list(replies))
    return stage.play(actor=actor, change=ALL | (change or {})), actor


def ended(played: Played) -> tuple[str, str | None]:
    return played.receipt.outcome.name, played.receipt.outcome.detail


CODES = [
    ("blocked", "external_dependency", "blocked"),
    ("blocked", "environment_unavailable", "blocked"),
    ("blocked", "policy_restriction", "blocked"),
    ("blocked", "resource_unavailable", "blocked"),
    ("request_user_input", "decision_required", "needs_user_input"),
    ("request_user_input", "information_required", "needs_user_input"),
]


@pytest.mark.parametrize(("name", "code", "reason"), CODES)
@case(74, 225)
def test_an_actor_that_cannot_go_on_is_pending_by_its_code(stage: Stage, name: str, code: str, reason: str) -> None:
    played, actor = play(stage, said("", control(name, {"code": code, "text": "Help."})))
    assert ended(played) == (f"suspended/{reason}", code)
    assert (played.receipt.verdict, played.receipt.steps) == ("pending", ())
    assert (played.receipt.counters.model_turns, played.receipt.counters.tool_calls) == (1, 0)
    assert [tool.name for tool in actor.requests[0].tools] == ["exec", "blocked", "request_user_input", "finalize"]


def test_a_scenario_may_judge_an_actor_that_waits(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"outcomes": {"suspended/blocked": "gave_up"}}
    played, _ = play(stage, said("", blocked()), change=change)
    assert (played.receipt.verdict, played.receipt.failure_code) == ("fail", "gave_up")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(blocked(extra=1), id="extra field"),
        pytest.param(blocked(text=" \n"), id="blank"),
        pytest.param(blocked(text=""), id="empty"),
        pytest.param(blocked(text="a" * 8_193), id="8193 bytes"),
        pytest.param(blocked(text="é" * 4_097), id="8194 bytes in fewer characters"),
        pytest.param(blocked(text=7), id="no text"),
        pytest.param(blocked(text="\ud800"), id="half a surrogate pair"),
        pytest.param(control("blocked", {"code": "external_dependency"}), id="no text at all"),
        pytest.param(blocked(code="information_required"), id="a code of another tool", marks=case(225)),
        pytest.param(blocked(code="tired"), id="an unknown code", marks=case(225)),
        pytest.param(
            ToolCall(id="k", name="blocked", arguments_raw="[", arguments=None, fault="malformed_arguments"),
            id="no object",
        ),
        pytest.param(control("request_user_input", {"code": "external_dependency", "text": "x"}), id="other schema"),
    ],
)
@case(75)
def test_a_control_call_that_does_not_fit_its_schema_ends_the_episode(stage: Stage, call: ToolCall) -> None:
    played, _ = play(stage, said("", call))
    assert ended(played) == ("failed/invalid_model_response", "control_shape")
    assert played.receipt.steps == ()


def test_the_longest_control_text_is_taken_and_the_bound_of_arguments_holds(stage: Stage) -> None:
    played, _ = play(stage, said("", blocked(text="a" * 8_192)))
    assert ended(played) == ("suspended/blocked", "external_dependency")
    played, _ = play(stage, said("", blocked()), change={"limits": {"argument_bytes": 30}})
    assert ended(played) == ("failed/invalid_model_response", "control_shape")


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param((blocked(), called("toy ask plane")), marks=case(76)),
        pytest.param((called("toy ask plane"), blocked()), marks=case(76)),
        pytest.param((blocked(), control("request_user_input", {}, "k2")), marks=case(77)),
        pytest.param((finalized("k1"), finalized("k2")), marks=case(77)),
        pytest.param((finalized("k0"), blocked(), called("ls")), marks=case(77)),
    ],
)
def test_a_control_call_beside_another_call_runs_nothing(stage: Stage, calls: tuple[ToolCall, ...]) -> None:
    played, _ = play(stage, said("", *calls))
    assert ended(played) == ("failed/invalid_model_response", "control_mixed")
    assert (played.receipt.steps, played.plane[0].calls) == ((), [("greet",)])


@case(83)
def test_finalize_beside_another_call_is_no_tool(stage: Stage) -> None:
    replies = (said("", called("toy ask plane"), finalized()), said("Bye."))
    played, actor = play(stage, *replies)
    assert [(step.tool, step.result) for step in played.receipt.steps] == [
        ("exec", "succeeded"),
        ("undeclared", "unknown_tool"),
    ]
    assert ended(played) == ("completed/final_response", "inline")
    told = [message.text for message in actor.requests[1].messages if isinstance(message, ToolMessage)]
    assert len(told) == 2
    assert told[1].endswith("there are: exec")
    strict, _ = play(stage, replies[0], change={"strict": {"control": "fail"}})
    assert ended(strict) == ("failed/invalid_model_response", "control_mixed")
    assert strict.plane[0].calls == [("greet",)]


@pytest.mark.parametrize(
    "claim",
    [
        {"completion": ["Ran the tests"]},
        {"completion": ["Notes are complete", "- I've successfully verified them"]},
        {"completion": ["I\N{RIGHT SINGLE QUOTATION MARK}ve re-ran it"]},
        {"completion": ["All tests were executed"]} | {"metrics": {"passed": 7}},
        {"metrics": {"passed": 7}},
        {"artifacts": ["report.txt"]},
    ],
)
@case(80)
def test_a_claim_without_any_deed_is_sent_back(stage: Stage, claim: dict[str, JsonValue]) -> None:
    journal = Journal()
    actor = ReplyActor([said("", finalized(**claim)), said("Bye.")])
    played = stage.play(actor=actor, change=ALL, journal=journal)
    assert ended(played) == ("completed/final_response", "inline")
    results = [message for message in actor.requests[1].messages if isinstance(message, ToolMessage)]
    assert [(message.name, message.failed) for message in results] == [("finalize", True)]
    assert "cannot be claimed" in results[0].text
    assert played.receipt.steps == ()
    told = [
        r.payload.detail
        for r in journal.records
        if isinstance(r.payload, OpReceipt) and "control" in r.payload.operation
    ]
    assert told == ["unsupported_claim"]


@case(81)
@pytest.mark.parametrize("status", ["completed", "partial", "blocked", "failed"])
def test_a_claim_after_a_deed_is_the_end(stage: Stage, status: str) -> None:
    claim = finalized(completion=["Ran the tests"], metrics={"passed": 7}, artifacts=["a"], status=status)
    played, actor = play(stage, said("", called("toy ask plane")), said("", claim))
    assert ended(played) == ("completed/finalized", status)
    assert (played.receipt.verdict, played.receipt.failure_code) == ("fail", "stopped_early")
    assert (len(actor.requests), played.receipt.counters.tool_calls) == (2, 1)


@case(82)
def test_a_call_that_was_refused_is_no_evidence(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"policy": {"denied": ["exec"]}}
    claim = finalized(completion=["Ran the tests"])
    played, actor = play(stage, said("", called("ls")), said("", claim), said("Bye."), change=change)
    assert ended(played) == ("completed/final_response", "inline")
    assert len(actor.requests) == 3


def test_a_call_that_failed_is_no_evidence(stage: Stage) -> None:
    claim = finalized(completion=["Looked at it", "Listed the files"])
    played, _ = play(stage, said("", called("ls missing")), said("", claim), said("Bye."))
    assert [step.result for step in played.receipt.steps] == ["error_recoverable"]
    assert ended(played) == ("completed/final_response", "inline")


def test_a_plain_claim_needs_no_deed(stage: Stage) -> None:
    played, _ = play(stage, said("", finalized()))
    assert ended(played) == ("completed/finalized", "completed")
    assert played.receipt.failure_code == "did_nothing"


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": ""},
        {"summary": "a" * 4_001},
        {"completion": []},
        {"completion": ["a"] * 5},
        {"findings": ["a"] * 51},
        {"limitations": ["a"] * 51},
        {"next_steps": ["a"] * 21},
        {"artifacts": ["a"] * 101},
        {"status": "great"},
        {"metrics": {"passed": [1]}},
        {"other": 1},
    ],
)
def test_a_misshapen_finalize_is_answered_or_where_it_is_strict_the_end(
    stage: Stage, wrong: dict[str, JsonValue]
) -> None:
    played, actor = play(stage, said("", finalized(**wrong)), said("Bye."))
    assert ended(played) == ("completed/final_response", "inline")
    last = actor.requests[1].messages[-1]
    assert isinstance(last, ToolMessage)
    assert last.failed
    strict, _ = play(stage, said("", finalized(**wrong)), change={"strict": {"control": "fail"}})
    assert ended(strict) == ("failed/invalid_model_response", "control_shape")


def test_the_largest_finalize_is_taken(stage: Stage) -> None:
    claim = finalized(
        summary="a" * 4_000, completion=["b"] * 4, findings=["c"] * 50, limitations=["d"] * 50, next_steps=["e"] * 20
    )
    played, _ = play(stage, said("", claim))
    assert ended(played) == ("completed/finalized", "completed")


def test_control_calls_use_no_budget_of_tools(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"limits": {"tool_calls": 0, "tool_calls_per_turn": 0}}
    played, _ = play(stage, said("", finalized()), change=change)
    assert ended(played) == ("completed/finalized", "completed")


def test_an_id_of_a_control_call_is_used_up(stage: Stage) -> None:
    claim = finalized(artifacts=["a"])
    played, _ = play(stage, said("", claim), said("", claim), change={"strict": {"ids": "fail"}})
    assert ended(played) == ("failed/invalid_model_response", "ids")


def test_a_control_tool_that_is_not_offered_is_an_unknown_tool(stage: Stage) -> None:
    actor = ReplyActor([said("", finalized()), said("Bye.")])
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["unknown_tool"]
    assert [tool.name for tool in actor.requests[0].tools] == ["exec"]


@case(2)
def test_a_tool_with_the_name_of_a_control_tool_is_never_opened(stage: Stage) -> None:
    tool: JsonValue = {"about": "Mine.", "argument": "cmd", "grammar": "loopx-0.4"}
    actor = ReplyActor([said("never asked")])
    played = stage.play(actor=actor, change={"tool": {"finalize": tool}})
    assert played.receipt.outcome.name == "rejected/setup_rejected"
    assert actor.requests == []


@case(78)
def test_a_scripted_answer_is_the_one_result_of_the_call(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"control": {"offer": ["request_user_input"], "answers": ["Yes, {file}."]}}
    asks = control("request_user_input", {"code": "decision_required", "text": "May I?"})
    again = control("request_user_input", {"code": "information_required", "text": "And now?"}, "k2")
    journal = Journal()
    actor = ReplyActor([said("Well.", asks), said("", again)])
    played = stage.play(actor=actor, change=change, journal=journal)
    assert ended(played) == ("suspended/needs_user_input", "information_required")
    last = actor.requests[1].messages[-2:]
    assert [message.role for message in last] == ["assistant", "tool"]
    assert isinstance(last[1], ToolMessage)
    assert (last[1].call_id, last[1].text, last[1].failed) == ("k1", "Yes, notes/a.json.", False)
    kinds = [record.payload.kind for record in journal.records]
    assert kinds.count("suspended") == 2
    first = kinds.index("suspended")
    assert kinds[first - 1 : first + 4] == [
        "turn_committed",
        "suspended",
        "input_delivered",
        "op_receipt",
        "turn_opened",
    ]


def test_somebody_who_is_blocked_gets_no_scripted_answer(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"control": {"offer": ["blocked"], "answers": ["Go on."]}}
    played = stage.play(actor=ReplyActor([said("", blocked())]), change=change)
    assert ended(played) == ("suspended/blocked", "external_dependency")


def test_a_cancellation_in_the_same_turn_comes_before_waiting(stage: Stage) -> None:
    stopped = threading.Event()

    def stops(record: Record) -> None:
        if isinstance(record.payload, OpParked):
            stopped.set()

    journal = Journal(observers=[stops])
    actor = ReplyActor([said("", blocked())])
    played = stage.play(actor=actor, change=ALL, cancelled=stopped.is_set, journal=journal)
    assert played.receipt.outcome.status == "cancelled"
    assert [record for record in journal.records if isinstance(record.payload, Suspended)] == []


@case(198)
def test_nothing_that_a_control_call_or_an_answer_says_is_told(stage: Stage) -> None:
    change: dict[str, JsonValue] = {
        "control": {"offer": ["request_user_input", "finalize"], "answers": ["canary-answer"], "nudge": "canary-nudge"}
    }
    asks = control("request_user_input", {"code": "decision_required", "text": "canary-question"}, "canary-id")
    claim = finalized("canary-2", summary="canary-summary", completion=["canary-done"], metrics={"canary": "canary"})
    journal = Journal()
    actor = ReplyActor([said("canary-said", asks), said("", claim), said("", finalized("canary-3"))])
    played = stage.play(actor=actor, change=change, journal=journal)
    assert ended(played) == ("completed/finalized", "completed")
    assert "canary" not in played.result.model_dump_json()
    assert "canary" not in "".join(record.model_dump_json() for record in journal.records)


def test_the_definition_of_a_receipt_is_the_same_whatever_was_answered(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"control": {"offer": ["request_user_input"], "answers": ["Yes."]}}
    asks = control("request_user_input", {"code": "decision_required", "text": "May I?"})
    asked = stage.play(actor=ReplyActor([said("", asks), said("Bye.")]), change=change).receipt
    plain = stage.play(actor=ReplyActor([said("Bye.")]), change=change).receipt
    assert asked.definition_digest == plain.definition_digest
