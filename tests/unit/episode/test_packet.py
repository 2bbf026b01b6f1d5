"""An episode about a packet: it is sound before anybody is asked, and what is graded stands nowhere beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from driving import Driving, Killed, kill_when
from toy import Played, ReplyActor, Stage, called, completed, said

from harness.schema.base import JsonValue
from harness.schema.judging import Classifier
from harness.schema.message import UserMessage
from harness.schema.packet import Preparation
from harness.schema.process import Completed
from harness.schema.script import Action, Script
from harness.wiring.judges import CLASSIFIERS
from harness.workspace import Workspace

PACKET: dict[str, JsonValue] = {
    "goal": {"id": "goal-alpha"},
    "mode": "run",
    "open": 2,
    "stamp": 17,
    "commands": ["cd {root}/a"],
}

SCENARIO: dict[str, JsonValue] = {
    "schema": 1,
    "id": "toy/decides",
    "asks": "Does it read the goal out of the packet?",
    "plane": "toy==1",
    "limits": {"model_turns": 1, "deadline_s": 60.0},
    "outcomes": {
        "limit_exceeded/model_turns": "called_a_tool",
        "failed/model_output_truncated": "cut_off",
    },
    "workspace": {"roots": ["project"]},
    "packet": {
        "plane": ["packet"],
        "at": "/packet",
        "without": ["/stamp"],
        "must": [
            {"code": "no_mode", "there": ["/mode"]},
            {"code": "no_count", "counts": ["/open"]},
            {"code": "stopped_but_open", "when": {"/mode": "stop"}, "holds": {"/open": 0}},
        ],
    },
    "prompt": {"system": "Answer in JSON.", "user": "Which goal, and what next? {packet}"},
    "classify": [
        {
            "by": "json_decision",
            "code": "not_aligned",
            "codes": {"/goal": "wrong_goal", "text_around": "chatty"},
            "settings": {
                "fields": {
                    "/goal": {"type": "token", "from": "/goal/id"},
                    "/next": {"type": "token", "route": True},
                    "/urgency": {"type": "token", "mapped": {"at": "/mode", "to": {"run": "high", "stop": "low"}}},
                },
                "route": [{"to": "go", "when": {"/mode": "run"}}, {"to": "stay"}],
            },
        }
    ],
    "script": {"reference": [{"content": "{}"}]},
}

RIGHT: dict[str, JsonValue] = {"goal": "goal-alpha", "next": "go", "urgency": "high"}


@pytest.fixture
def decides(stage: Stage) -> Stage:
    """A stage for decisions."""
    stage.scenario, stage.classifiers = SCENARIO, CLASSIFIERS
    return stage


def answers(*texts: str) -> Script:
    return tuple(Action(content=text) for text in texts)


def play(stage: Stage, packet: JsonValue = None, *, answer: JsonValue = None, **change: JsonValue) -> Played:
    """One episode about a packet (or a change of the plain one) with one answer."""
    shown: JsonValue = {**PACKET, **packet} if isinstance(packet, dict) else PACKET if packet is None else packet

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        assert args == ("packet",)
        return completed(json.dumps({"packet": shown}).replace("{root}", str(workspace.roots["project"])))

    script = answers(json.dumps(RIGHT if answer is None else answer))
    return stage.play(script, says=says, change=dict(change))


def shown(played: Played) -> str:
    """The user message that was sent."""
    assert played.trace is not None
    return next(one.text for one in played.trace.requests[0].messages if isinstance(one, UserMessage))


def codes(played: Played) -> list[str]:
    return [finding.code for finding in played.receipt.findings]


def test_the_right_decision_about_the_packet_that_was_shown_passes(decides: Stage) -> None:
    played = play(decides)
    assert played.ending == ("completed/final_response", "pass", None)
    assert len(played.plane[0].calls) == 1


def test_the_packet_is_shown_without_what_was_to_be_taken_out_and_without_places(decides: Stage) -> None:
    text = shown(play(decides, {"note": "see /home/u/x", "{weird": "{project_root}"}))
    packet = json.loads(text.removeprefix("Which goal, and what next? "))
    assert packet["commands"] == ["cd {project_root}/a"]
    assert packet["note"] == "see <local path>"
    assert packet["{weird"] == "{=project_root}"
    assert "stamp" not in packet
    assert str(decides.temporary) not in text


@pytest.mark.parametrize(
    ("packet", "found"),
    [
        ({"mode": ""}, ["no_mode"]),
        ({"open": -1}, ["no_count"]),
        ({"mode": None, "open": True}, ["no_mode", "no_count"]),
        ({"mode": "stop"}, ["stopped_but_open"]),
        ({"mode": "wait"}, ["packet_unfit"]),
        ({"goal": {"id": None}}, ["packet_unfit"]),
        ({"goal": {"id": "two words"}}, ["packet_unfit"]),
        ({"goal": {"id": 7}}, ["packet_unfit"]),
        ({"api_key": "x"}, ["packet_holds_credential"]),
        ({"note": "ghp_" + "a" * 36}, ["packet_holds_credential"]),
        ([], ["packet_absent"]),
        ({}, []),
    ],
)
def test_nobody_is_asked_about_a_broken_packet(decides: Stage, packet: JsonValue, found: list[str]) -> None:
    played = play(decides, packet)
    assert codes(played) == found
    if found:
        assert played.ending == ("rejected/setup_rejected", "not_judged", found[0])
        assert played.receipt.cause == "control_plane"
        assert played.receipt.counters.model_turns == 0
        assert {one.check for one in played.receipt.findings} == {"packet"}


def test_it_is_told_where_a_packet_is_broken_and_what_was_wanted(decides: Stage) -> None:
    told = play(decides, {"mode": "stop", "open": -1, "goal": "my-own-text"}).receipt.findings
    assert [(one.pointer, one.expected, one.got) for one in told] == [
        ("/open", '"a whole number from 0 on"', "-1"),
        ("/open", "0", "-1"),
    ]


def test_a_path_of_the_machine_is_refused_where_that_is_asked_for(decides: Stage) -> None:
    played = decides.play(
        answers(json.dumps(RIGHT)),
        says=lambda *_: completed(json.dumps({"packet": {**PACKET, "note": "see /home/u/x"}})),
        change={"packet": {"paths": "refuse"}},
    )
    assert played.ending == ("rejected/setup_rejected", "not_judged", "packet_holds_local_path")
    assert "/home/u" not in str(played.result.log.problem)


@pytest.mark.parametrize(
    ("said_", "code"),
    [
        (completed("{}", exit_code=3), "packet_unavailable"),
        (completed("", timed_out=True), "packet_unavailable"),
        (completed("no JSON"), "packet_unreadable"),
        (completed('{"packet": {"a": 1, "a": 2}}'), "packet_unreadable"),
        (completed('{"packet": ' + "[" * 3_000), "packet_unreadable"),
        (completed('{"other": 1}'), "packet_absent"),
        (completed('{"packet": {}}'), "packet_absent"),
        (completed("null"), "packet_absent"),
    ],
)
def test_a_packet_that_cannot_be_had_is_the_control_planes(decides: Stage, said_: Completed, code: str) -> None:
    played = decides.play(answers("{}"), says=lambda *_: said_)
    assert played.ending == ("rejected/setup_rejected", "not_judged", code)
    assert played.receipt.cause == "control_plane"


@pytest.mark.parametrize("told", ["for goal-alpha", "GOAL-ALPHA", "({goal_})"])
@pytest.mark.parametrize("place", ["system", "user"])
def test_what_is_graded_may_not_stand_beside_the_packet(decides: Stage, place: str, told: str) -> None:
    prompt = {"system": "Answer.", "user": "Decide: {packet}"}
    prompt[place] = f"{prompt[place]} {told}"
    played = play(decides, prompt=dict(prompt), values={"goal_": "goal-alpha"})
    assert played.ending == ("rejected/setup_rejected", "not_judged", "packet_given_away")
    assert played.receipt.cause == "scenario"
    assert [one.pointer for one in played.receipt.findings] == ["/goal"]
    assert played.receipt.counters.model_turns == 0


class Raising(Classifier):
    """Cannot say what it makes of a packet."""

    def prepare(self, packet: JsonValue) -> Preparation:
        raise ValueError(str(packet))


class Inventing(Classifier):
    """Names a place that its settings do not hold."""

    def prepare(self, packet: JsonValue) -> Preparation:
        return Preparation(unfit=(f"/{packet['goal']['id']}",))  # type: ignore[call-overload,index]


@dataclass(frozen=True)
class Only:
    """One classifier, whatever it is asked for by."""

    kind: type[Classifier]

    def names(self) -> tuple[str, ...]:
        return ("json_decision",)

    def find(self, name: str) -> type[Classifier]:
        return {"json_decision": self.kind}[name]


@pytest.mark.parametrize("kind", [Raising, Inventing])
def test_nobody_is_asked_where_a_classifier_cannot_say_what_it_makes_of_the_packet(
    decides: Stage, kind: type[Classifier]
) -> None:
    decides.classifiers = Only(kind)
    classify: list[JsonValue] = [{"by": "json_decision", "code": "not_aligned"}]
    played = play(decides, classify=classify)
    assert played.ending == ("rejected/setup_rejected", "not_judged", "classifier_failed")
    assert "goal-alpha" not in str(played.result.log.problem)


def test_a_longer_word_in_which_it_stands_is_another(decides: Stage) -> None:
    played = play(decides, prompt={"system": "Not goal-alphabet, nor my_goal-alpha.", "user": "{packet}"})
    assert played.receipt.verdict == "pass"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (json.dumps({**RIGHT, "goal": "goal-beta"}), "wrong_goal"),
        (json.dumps({**RIGHT, "next": "stay"}), "not_aligned"),
        (f"Well: {json.dumps(RIGHT)}", "chatty"),
        ("", "not_aligned"),
    ],
)
def test_another_decision_fails_with_its_code(decides: Stage, text: str, code: str) -> None:
    played = decides.play(answers(text), says=lambda *_: completed(json.dumps({"packet": PACKET})))
    assert (played.receipt.verdict, played.receipt.failure_code, played.receipt.cause) == ("fail", code, "model")


def test_an_answer_that_was_cut_off_is_never_read(decides: Stage) -> None:
    cut = (Action(content=json.dumps(RIGHT), finish="length"),)
    played = decides.play(cut, says=lambda *_: completed(json.dumps({"packet": PACKET})))
    assert played.ending == ("failed/model_output_truncated", "fail", "cut_off")


def test_a_call_where_there_is_no_tool_is_no_decision(decides: Stage) -> None:
    actor = ReplyActor([said(json.dumps(RIGHT), called("ls"))], kind="script")
    played = decides.play(actor=actor, says=lambda *_: completed(json.dumps({"packet": PACKET})))
    assert played.ending == ("limit_exceeded/model_turns", "fail", "called_a_tool")
    assert actor.requests[0].tools == ()


def test_what_was_answered_about_a_packet_is_not_in_the_receipt(decides: Stage) -> None:
    played = play(decides, answer={**RIGHT, "goal": "my-secret-goal", "mine": 1})
    assert played.receipt.failure_code == "not_aligned"
    assert [(one.code, one.pointer) for one in played.receipt.findings] == [
        ("not_aligned", ""),
        ("wrong_goal", "/goal"),
    ]
    assert "my-secret-goal" not in played.receipt.model_dump_json()


@pytest.mark.parametrize("kind", ["op_receipt", "input_delivered", "turn_opened", "turn_committed"])
def test_whoever_goes_on_with_an_episode_decides_about_the_packet_that_was_taken(
    decides: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    driving = Driving(decides, tmp_path / "episode")
    driving.provider.replies = (said(json.dumps(RIGHT)),)
    with monkeypatch.context() as patch:
        kill_when(patch, kind)
        with pytest.raises(Killed):
            driving.drive(says=lambda *_: completed(json.dumps({"packet": PACKET})))
    moved: JsonValue = {**PACKET, "goal": {"id": "goal-moved"}, "api_key": "x"}
    resumed = driving.drive(says=lambda *_: completed(json.dumps({"packet": moved})))
    assert resumed.ending == ("completed/final_response", "pass", None)
    assert driving.provider.asked == [1]
