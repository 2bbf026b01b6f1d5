"""What hangs on a call: a hint in place of it, options, proofs, help, and what the harness asks afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import REPLIES, Driving, Killed, kill_when, told, writes
from toy import SCENARIO, Played, ReplyActor, Stage, answer, called, completed, said

from harness.episode.open import turn_id
from harness.errors import ControlPlaneError
from harness.journal import Journal
from harness.schema.base import JsonValue
from harness.schema.process import Completed
from harness.schema.record import OpPlanned
from harness.workspace import Workspace

AFTER: JsonValue = [
    {
        "kind": "ask",
        "plane": ["look", "{turn_id}-after"],
        "failed": "nothing_came_of_it",
        "answer": {
            "/seen": {"from": {"answer": "ask", "at": "/target"}},
            "/a": {"from": {"file": "project/{file}", "at": "/a"}, "code": "other_content"},
        },
    }
]


def kinds(**changed: dict[str, JsonValue]) -> JsonValue:
    """The toy's kinds, some of them with more keys."""
    listed = SCENARIO["kind"]
    assert isinstance(listed, list)
    found: list[JsonValue] = []
    for one in listed:
        assert isinstance(one, dict)
        found.append({**one, **changed.get(str(one["name"]), {})})
    return found


def play(stage: Stage, *commands: str, change: dict[str, JsonValue], says: str | None = None) -> Played:
    """One command a turn, then a last word; the plane says ``says`` where the harness looks."""

    def looked(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed(says) if says is not None and args[0] == "look" else answer(workspace, args)

    replies = [said("", called(text, id_=str(number))) for number, text in enumerate(commands)]
    return stage.play(actor=ReplyActor([*replies, said("Bye.")]), says=looked, change=change)


def test_the_harness_looks_at_what_came_of_a_call_and_the_actor_is_not_told(stage: Stage) -> None:
    journal = Journal()
    actor = ReplyActor([said("", called("toy ask plane")), said("", called("cat notes/a.json", id_="b"))])

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed('{"seen": "notes/a.json", "a": 1}') if args[0] == "look" else answer(workspace, args)

    played = stage.play(actor=actor, says=says, change={"after": AFTER}, journal=journal)
    assert played.ending == ("completed/scenario_satisfied", "pass", None)
    assert played.receipt.counters.tool_calls == 2
    assert "look" not in str(actor.requests[1].messages)
    assert [one.operation for one in journal.payloads if isinstance(one, OpPlanned) and "after" in one.operation] == [
        "turn-1/call-1/after-1"
    ]
    assert [args[1] for args in played.plane[0].calls if args[0] == "look"] == [
        f"{turn_id('toy/ask-then-read', 1)}-after"
    ]


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ('{"seen": "notes/b.json", "a": 1}', "nothing_came_of_it"),
        ('{"seen": "notes/a.json", "a": 2}', "other_content"),
        ('{"a": 1}', "nothing_came_of_it"),
        ("no answer", "nothing_came_of_it"),
    ],
)
def test_what_did_not_come_of_it_fails_the_call(stage: Stage, says: str, code: str) -> None:
    played = play(stage, "toy ask plane", "cat notes/a.json", says=says, change={"after": AFTER})
    assert played.ending == ("failed/scenario_violation", "fail", code)
    assert (played.receipt.cause, played.receipt.facts, played.kinds) == ("control_plane", (), ["ask"])


def test_after_a_call_that_does_not_hold_nobody_looks(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"after": AFTER, "check": [{"kind": "ask", "answer": {"/target": "other"}}]}
    played = play(stage, "toy ask plane", says="{}", change=change)
    assert (played.receipt.failure_code, [args[0] for args in played.plane[0].calls]) == (
        "ask_failed",
        ["greet", "ask"],
    )


def test_a_plane_that_cannot_be_asked_afterwards_is_nobodys_answer(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args[0] == "look":
            raise ControlPlaneError("gone")
        return answer(workspace, args)

    played = stage.play(actor=ReplyActor([said("", called("toy ask plane"))]), says=says, change={"after": AFTER})
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert [step.result for step in played.receipt.steps] == ["succeeded"]


HINT: dict[str, JsonValue] = {
    "name": "clumsy",
    "programs": ["ls", "sort"],
    "never": {"hinted": "clumsy_again"},
    "hint": "Use cat, alone.",
    "sets": "hinted",
}


def test_a_hint_is_given_once_in_place_of_the_call(stage: Stage) -> None:
    listed = kinds()
    assert isinstance(listed, list)
    actor = ReplyActor([said("", called("ls | sort")), said("", called("ls | sort -r", id_="b"))])
    played = stage.play(actor=actor, change={"kind": [*listed, HINT]})
    assert [message.text for message in actor.requests[1].messages[-1:]] == ["Use cat, alone."]
    assert played.receipt.failure_code == "clumsy_again"
    first = played.receipt.steps[0]
    assert (first.kind, first.executed, first.refused, first.sets) == ("clumsy", False, "hinted", ("hinted",))


OPTIONS: JsonValue = [
    {"with": {"slow": ["1", "2"], "fast": True}, "code": "wrong_pace"},
    {"with": {"slow": {"file": "project/{file}", "at": "/a"}}, "code": "wrong_number"},
]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("toy ask plane", "wrong_pace"),
        ("toy ask plane --slow 3 --fast", "wrong_pace"),
        ("toy ask plane --slow 1", "wrong_pace"),
        ("toy ask plane --slow --fast", "wrong_pace"),
        ("toy ask plane --slow 2 --fast", "wrong_number"),
        ("toy ask plane --slow 1 --fast", "stopped_early"),
        ("toy ask plane --fast --slow=1", "stopped_early"),
        ("toy ask plane --slow 1 --fast --slow 2", "wrong_number"),
    ],
)
def test_a_call_must_say_what_its_kind_wants(stage: Stage, command: str, code: str) -> None:
    text = json.dumps({"a": "1"})
    space: JsonValue = {
        "roots": ["project", "runtime"],
        "absent": ["runtime"],
        "file": [{"at": ["project/{file}"], "text": text}],
    }
    played = play(stage, command, change={"kind": kinds(ask={"options": OPTIONS}), "workspace": space})
    assert played.receipt.failure_code == code
    assert (("ask", "plane") in {args[:2] for args in played.plane[0].calls}) is (code == "stopped_early")


def test_a_file_proves_its_fact_where_it_is_shown(stage: Stage) -> None:
    listed = kinds(
        read={"read": "any", "needs": {}, "sets": None, "proves": {"done": "project/{file}", "other": "project/b.json"}}
    )
    change: dict[str, JsonValue] = {
        "kind": listed,
        "end": {"accept": ["done", "other"], "silence": [{"code": "quiet"}]},
    }
    seen = play(stage, "cat notes/a.json && cat b.json", change=change)
    assert (seen.receipt.verdict, seen.receipt.facts) == ("pass", ("done", "other"))
    part = play(stage, "cat notes/a.json || cat b.json; head -n 0 b.json", change=change)
    assert (part.receipt.failure_code, part.receipt.facts) == ("quiet", ("done",))


def test_help_is_shown_as_far_as_it_is_asked_for(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed("usage\nsecond\nthird\n") if args[-1] == "--help" else answer(workspace, args)

    base = SCENARIO["call"]
    assert isinstance(base, dict)
    listed = kinds()
    assert isinstance(listed, list)
    asking: dict[str, JsonValue] = {"name": "help", "help": "ask plane", "once": "helped_twice"}
    change: dict[str, JsonValue] = {"kind": [*listed, asking], "call": {**base, "help": ["ask plane"]}}
    texts = ("toy ask plane --help 2>&1 | head -2", "toy ask plane --help")
    actor = ReplyActor([said("", called(text, id_=str(number))) for number, text in enumerate(texts)])
    played = stage.play(actor=actor, says=says, change=change)
    assert [message.text for message in actor.requests[1].messages[-1:]] == ["usage\nsecond\n"]
    assert (played.receipt.failure_code, played.kinds) == ("helped_twice", ["help", "help"])


def test_what_is_added_to_a_call_stands_in_front_of_it_unless_it_is_said(stage: Stage) -> None:
    base = SCENARIO["call"]
    assert isinstance(base, dict)
    change: dict[str, JsonValue] = {"call": {**base, "add": {"slow": "7"}}}
    one = play(stage, "toy ask plane", change=change)
    other = play(stage, "toy ask plane --slow 8", change=change)
    assert [played.plane[0].calls[1] for played in (one, other)] == [
        ("--slow", "7", "ask", "plane"),
        ("ask", "plane", "--slow", "8"),
    ]


def test_blanks_of_a_late_value_are_filled(stage: Stage) -> None:
    late: JsonValue = {
        "named": {"answer": "ask", "at": "/target", "replace": [["notes", "data"], ["a.json", "{file}"]]}
    }
    played = stage.play(("toy ask plane", "cat {named}"), change={"late": late})
    assert played.trace is not None
    assert played.trace.steps[1].command == "cat data/notes/a.json"


@pytest.mark.parametrize(
    ("kind", "operation", "after"),
    [
        ("op_started", "turn-1/call-1/after-1", True),
        ("op_receipt", "turn-1/call-1/after-1", False),
        ("op_receipt", "turn-1/call-1/after-1", True),
        ("call_result", None, True),
        ("input_delivered", None, True),
    ],
)
def test_after_a_kill_it_is_gone_on_with_as_if_nothing_had_been(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, operation: str | None, *, after: bool
) -> None:
    """A call of the harness's own, and the closing turn: the receipt is that of an undisturbed episode."""

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed('{"seen": "notes/a.json", "a": 1}') if args[0] == "look" else writes(workspace, args)

    change: dict[str, JsonValue] = {
        "after": AFTER,
        "closing": {"ask": "Well?", "failed": "no_word", "called": "went_on"},
    }
    undisturbed, killed = Driving(stage, tmp_path / "one"), Driving(stage, tmp_path / "other")
    for driving in (undisturbed, killed):
        driving.provider.replies = (*REPLIES, said("Read."))
    whole = undisturbed.drive(change=change, says=says)
    assert whole.ending == ("completed/final_response", "pass", None)
    with monkeypatch.context() as patch:
        kill_when(patch, kind, operation=operation, after=after)
        with pytest.raises(Killed):
            killed.drive(change=change, says=says)
    assert killed.drive(change=change, says=says).receipt == whole.receipt
    assert told(killed) == told(undisturbed)
    assert killed.provider.asked == [1, 2, 3, 4]
