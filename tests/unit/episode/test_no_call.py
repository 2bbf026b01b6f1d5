"""Replies without a call: the end, a nudge, or waiting for a person; and final texts of any size."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from numbered import case
from toy import FEW_TOKENS, SCENARIO, Played, ReplyActor, Stage, called, merged, said

from harness.journal import Journal
from harness.ports import TurnContext
from harness.schema.actor import ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.message import AssistantMessage, ModelRequest, Reply, UserMessage
from harness.schema.record import InputDelivered
from harness.schema.run import EpisodeResult
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.trace import EpisodeTrace
from harness.suite import IDLE_SCRIPTS, check_scenario

CONTINUE: dict[str, JsonValue] = {"control": {"no_call": "continue", "nudge": "Please call a tool."}}


def play(stage: Stage, *replies: Reply, change: dict[str, JsonValue]) -> tuple[Played, ReplyActor]:
    actor = ReplyActor(list(replies))
    return stage.play(actor=actor, change=change), actor


@case(79)
def test_prose_that_says_it_is_blocked_is_final_and_the_scenario_decides(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"control": {"offer": ["blocked"]}}
    played, _ = play(stage, said("I am blocked."), change=change)
    assert played.ending == ("completed/final_response", "fail", "did_nothing")


@case(84)
def test_one_nudge_while_there_are_turns_left(stage: Stage) -> None:
    played, actor = play(
        stage, said("Hm."), said("", called("toy ask plane")), said("Bye."), said("!"), change=CONTINUE
    )
    assert [(m.role, m.text) for m in actor.requests[1].messages[-2:]] == [
        ("assistant", "Hm."),
        ("user", "Please call a tool."),
    ]
    assert played.ending == ("completed/final_response", "fail", "stopped_early")
    assert [message.role for message in actor.requests[3].messages[2:]] == [
        *("assistant", "user", "assistant", "tool", "assistant", "user"),
    ]
    assert len(actor.requests) == 4


@case(84)
def test_a_last_turn_gets_no_nudge(stage: Stage) -> None:
    journal = Journal()
    actor = ReplyActor([said("Hm.")])
    played = stage.play(actor=actor, change=CONTINUE | {"limits": {"model_turns": 1}}, journal=journal)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.limit, outcome.observed) == ("limit_exceeded/model_turns", 1, 1)
    inputs = [record.payload.input for record in journal.records if isinstance(record.payload, InputDelivered)]
    assert inputs == ["prompt.system", "prompt.user"]


def test_a_reply_that_says_nothing_is_nudged_and_does_not_join_the_conversation(stage: Stage) -> None:
    empty = Reply(text=" ", finish="stop", usage=FEW_TOKENS)
    _, actor = play(stage, empty, said("Bye."), change=CONTINUE)
    added = actor.requests[1].messages[2:]
    assert [isinstance(message, UserMessage) for message in added] == [True]


def test_the_nudge_has_a_text_of_its_own(stage: Stage) -> None:
    _, actor = play(stage, said("Hm."), said("Bye."), change={"control": {"no_call": "continue"}})
    assert "tool was called" in (actor.requests[1].messages[-1].text or "")


@case(85)
def test_an_actor_that_calls_nothing_may_wait_for_a_person(stage: Stage) -> None:
    waits: dict[str, JsonValue] = {"control": {"no_call": "wait_user"}}
    played, _ = play(stage, said("Shall I?"), change=waits)
    assert played.receipt.outcome.name == "suspended/needs_user_input"
    assert (played.receipt.outcome.detail, played.receipt.verdict) == ("no_tool_wait", "pending")


def test_a_person_who_is_waited_for_answers_as_the_user(stage: Stage) -> None:
    waits: dict[str, JsonValue] = {"control": {"no_call": "wait_user", "answers": ["Yes.", "Go on."]}}
    played, actor = play(stage, said("Shall I?"), said("Now?"), said("And now?"), change=waits)
    assert played.receipt.outcome.detail == "no_tool_wait"
    added = actor.requests[2].messages[2:]
    assert [(type(message), message.text) for message in added] == [
        (AssistantMessage, "Shall I?"),
        (UserMessage, "Yes."),
        (AssistantMessage, "Now?"),
        (UserMessage, "Go on."),
    ]


@case(89)
@pytest.mark.parametrize(("size", "detail"), [(65_536, "inline"), (65_537, "artifact"), (70_000, "artifact")])
def test_a_large_final_text_is_an_artifact(stage: Stage, size: int, detail: str) -> None:
    text = "é" * (size // 2) + "a" * (size % 2)
    played, _ = play(stage, said(text), change={})
    assert played.receipt.outcome.name == "completed/final_response"
    assert played.receipt.outcome.detail == detail
    told = played.result.log.output
    if detail == "inline":
        assert told is None
    else:
        assert told is not None
        assert (told.bytes, told.sha256) == (size, "sha256:" + sha256(text.encode()).hexdigest())


def test_a_large_final_text_is_kept_without_the_paths_of_its_workspace(stage: Stage) -> None:
    kept: list[bytes] = []

    def keep(data: bytes) -> str:
        kept.append(data)
        return "outputs/1.txt"

    def reply(request: ModelRequest, _: TurnContext) -> Reply:
        return said(str(request.messages[1].text).partition(" ")[2])

    change: dict[str, JsonValue] = {
        "limits": {"output_inline_bytes": 3},
        "prompt": {"user": "{greeting} {project_root}"},
    }
    played = stage.play(actor=ReplyActor([reply]), change=change, keep_output=keep)
    assert played.result.log.output is not None
    assert (played.result.log.output.kept, played.result.log.output.bytes) == ("outputs/1.txt", len(kept[0]))
    assert b"{project_root}" in kept[0]
    assert str(stage.temporary).encode() not in kept[0]


@case(90)
def test_a_final_text_above_the_bound_is_an_exceeded_limit(stage: Stage) -> None:
    most = 16 * 1024 * 1024
    assert play(stage, said("a" * most), change={})[0].receipt.outcome.detail == "artifact"
    played, _ = play(stage, said("a" * (most + 1)), change={})
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.limit, outcome.overshoot) == ("limit_exceeded/output_size", most, 1)
    assert (played.receipt.verdict, played.result.log.output) == ("fail", None)


@pytest.mark.parametrize(
    ("control", "outcome"),
    [
        ({}, "completed/final_response"),
        ({"no_call": "continue"}, "completed/final_response"),
        ({"no_call": "wait_user"}, "suspended/needs_user_input"),
        ({"no_call": "wait_user", "answers": ["Yes.", "No."]}, "suspended/needs_user_input"),
    ],
)
def test_whoever_does_nothing_does_it_to_the_end_and_a_check_takes_it_for_that(
    stage: Stage, control: dict[str, JsonValue], outcome: str
) -> None:
    change: dict[str, JsonValue] = {"control": control}
    scenario = Scenario.model_validate_json(json.dumps(merged(SCENARIO, change)))
    played: list[str] = []

    def play(_: LoadedScenario, actor: ActorSpec) -> tuple[EpisodeResult, EpisodeTrace | None]:
        one = stage.play(actor.script, change=change)
        if actor.identity.ref in {f"script:{name}" for name in IDLE_SCRIPTS}:
            played.append(one.receipt.outcome.name)
        return one.result, one.trace

    loaded = LoadedScenario(scenario=scenario, digest=digest_json("toy"), path="toy.toml")
    findings = check_scenario(loaded, play=play).findings
    assert played == [outcome] * len(IDLE_SCRIPTS)
    assert [finding.where for finding in findings if finding.where.startswith("idle actor")] == []
