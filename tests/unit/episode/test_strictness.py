"""A call that cannot run: answered and seen by the model, or the end, as the scenario chose by class."""

from __future__ import annotations

import json

import pytest
from numbered import case
from toy import ReplyActor, Stage, called, completed, said

from harness.journal import Journal
from harness.schema.base import JsonValue
from harness.schema.message import ToolMessage
from harness.schema.process import Completed
from harness.schema.record import CallResulted, Classified, OpStarted
from harness.schema.script import Action
from harness.schema.tool import ToolCall
from harness.workspace import Workspace

ODD = ToolCall(id="odd", name="exec", arguments_raw="{}", arguments={"cmd": 1})


def started(journal: Journal) -> list[str]:
    """The operations of calls that were started."""
    told = (record.payload for record in journal.records)
    return [one.operation for one in told if isinstance(one, OpStarted) and "/call-" in one.operation]


def batch(first: str) -> Action:
    """One answer as a provider sends it: a call with this text as its arguments, then one that can run."""
    texts = (first, '{"cmd": "ls"}')
    calls: list[JsonValue] = [
        {"id": str(at), "type": "function", "function": {"name": "exec", "arguments": text}}
        for at, text in enumerate(texts)
    ]
    return Action(raw_message={"role": "assistant", "content": None, "tool_calls": calls})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"cmd": "touch x', marks=case(91)),
        pytest.param('{"cmd": "touch x"} and more', marks=case(91)),
        pytest.param('["touch x"]', marks=case(92)),
        pytest.param('"touch x"', marks=case(92)),
        pytest.param("7", marks=case(92)),
        pytest.param("null", marks=case(92)),
    ],
)
def test_arguments_that_are_no_json_object_never_start_and_their_neighbours_run(stage: Stage, text: str) -> None:
    journal = Journal()
    played = stage.play((batch(text), Action(content="Done.")), journal=journal)
    assert [(step.result, step.executed) for step in played.receipt.steps] == [
        ("parse_error", False),
        ("succeeded", True),
    ]
    assert started(journal) == ["turn-1/call-2"]
    ended = stage.play((batch(text),), change={"strict": {"parse": "fail"}}).receipt
    assert (ended.outcome.name, ended.outcome.detail) == ("failed/invalid_model_response", "arguments")
    assert [step.result for step in ended.steps if step.executed] == []


@pytest.mark.parametrize(
    ("call", "code", "strict", "ending"),
    [
        pytest.param(
            called("ls", name="other"),
            "unknown_tool",
            "unknown_tool",
            ("failed/invalid_model_response", "undeclared"),
            marks=case(93),
        ),
        pytest.param(
            called("ls", name="EXEC"),
            "unknown_tool",
            "unknown_tool",
            ("failed/invalid_model_response", "undeclared"),
            marks=case(93),
        ),
        pytest.param(ODD, "invalid_arguments", "arguments", ("failed/invalid_arguments", "type"), marks=case(94)),
    ],
)
def test_a_call_that_fits_no_declaration_never_starts(
    stage: Stage, call: ToolCall, code: str, strict: str, ending: tuple[str, str]
) -> None:
    journal = Journal()
    actor = ReplyActor([said("", call, called("ls", id_="next")), said("Done.")])
    played = stage.play(actor=actor, journal=journal)
    assert [step.result for step in played.receipt.steps] == [code, "succeeded"]
    assert started(journal) == ["turn-1/call-2"]
    told = [message for message in actor.requests[1].messages if isinstance(message, ToolMessage)]
    assert [message.failed for message in told] == [True, False]
    journal = Journal()
    ended = stage.play(
        actor=ReplyActor([said("", call, called("ls", id_="next"))]),
        journal=journal,
        change={"strict": {strict: "fail"}},
    ).receipt
    assert (ended.outcome.name, ended.outcome.detail, ended.verdict) == (*ending, "fail")
    assert started(journal) == []


@pytest.mark.parametrize(
    ("policy", "source"),
    [
        pytest.param({"allowed": ["exec"], "denied": ["exec"]}, "denied_list", marks=case(95)),
        ({"denied": ["exec"]}, "denied_list"),
        ({"allowed": ["other"]}, "allowed_list"),
    ],
)
def test_a_denied_call_never_starts_and_the_record_says_by_what(
    stage: Stage, policy: dict[str, JsonValue], source: str
) -> None:
    journal = Journal()
    actor = ReplyActor([said("", called("ls")), said("Done.")])
    played = stage.play(actor=actor, journal=journal, change={"policy": policy})
    assert [(step.result, step.executed) for step in played.receipt.steps] == [("denied_policy", False)]
    kept = [record.payload for record in journal.records if isinstance(record.payload, CallResulted)]
    assert [one.source for one in kept] == [source]
    assert started(journal) == []


@case(213)
@pytest.mark.parametrize(
    ("policy", "source"), [({"denied": ["exec"]}, "denied_list"), ({"allowed": ["other"]}, "allowed_list")]
)
def test_a_denied_call_ends_a_strict_episode(stage: Stage, policy: dict[str, JsonValue], source: str) -> None:
    journal = Journal()
    change: dict[str, JsonValue] = {"policy": policy, "strict": {"policy": "fail"}}
    played = stage.play(actor=ReplyActor([said("", called("ls"))]), journal=journal, change=change)
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("failed/permission_denied", source)
    assert (played.receipt.verdict, played.receipt.cause) == ("fail", "model")
    assert started(journal) == []


@case(100)
def test_a_call_that_breaks_a_rule_never_runs_nor_does_any_after_it(stage: Stage) -> None:
    journal = Journal()
    calls = (called("cat notes/a.json", id_="1"), called("ls", id_="2"))
    played = stage.play(actor=ReplyActor([said("", *calls)]), journal=journal)
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == (
        "failed/scenario_violation",
        "read_before_ask",
    )
    assert [step.result for step in played.receipt.steps] == ["skipped_due_to_stop"] * 2
    assert started(journal) == []


@case(101)
def test_a_right_call_that_is_answered_wrongly_did_run(stage: Stage) -> None:
    def says(_: Workspace, args: tuple[str, ...]) -> Completed:
        text = {"text": "Hello"} if args == ("greet",) else {"target": "elsewhere"}
        return completed(json.dumps(text))

    journal = Journal()
    calls = (called("toy ask plane", id_="1"), called("ls", id_="2"))
    played = stage.play(actor=ReplyActor([said("", *calls)]), says=says, journal=journal)
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("failed/scenario_violation", "ask_failed")
    assert (played.receipt.verdict, played.receipt.cause) == ("fail", "control_plane")
    assert [(step.result, step.executed) for step in played.receipt.steps] == [
        ("succeeded", True),
        ("skipped_due_to_stop", False),
    ]
    assert started(journal) == ["turn-1/call-1"]
    told = [record.payload for record in journal.records if isinstance(record.payload, Classified)]
    assert [(one.point, one.code) for one in told] == [("proposal", None), ("result", "ask_failed")]
