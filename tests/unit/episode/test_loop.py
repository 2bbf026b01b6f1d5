"""One loop: every episode ends for one reason of the closed list, in a receipt, and leaves nothing behind."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from numbered import case
from toy import Answer, ReplyActor, Stage, called, completed, said

from harness.episode.world import World
from harness.journal import Journal
from harness.schema.message import Usage
from harness.schema.process import Completed
from harness.schema.record import Record
from harness.schema.script import Action, Script
from harness.workspace import Workspace

OK = ("completed/scenario_satisfied", "pass", None)


def test_the_reference_script_satisfies_the_scenario(stage: Stage) -> None:
    played = stage.play()
    assert played.ending == OK
    assert played.kinds == ["ask", "read"]
    assert played.receipt.facts == ("asked", "done")
    assert played.receipt.outcome.detail == "read"


def test_the_workspace_is_gone_afterwards(stage: Stage) -> None:
    stage.play()
    assert list(stage.temporary.iterdir()) == []


def test_its_memory_is_free_at_once(stage: Stage) -> None:
    gc.disable()  # what only a search for cycles would find stays
    try:
        before = {id(one) for one in gc.get_objects() if isinstance(one, World)}
        stage.play()
        assert {id(one) for one in gc.get_objects() if isinstance(one, World)} <= before
    finally:
        gc.enable()


def test_the_episode_ends_with_the_call_that_satisfies_it(stage: Stage) -> None:
    played = stage.play(("toy ask plane", "cat notes/a.json", "touch never"))
    assert played.ending == OK
    assert played.receipt.counters.tool_calls == 2


@pytest.mark.parametrize(
    ("script", "code", "kinds"),
    [
        ((Action(content="Nothing."),), "did_nothing", []),
        ((Action(content=""),), "did_nothing", []),
        (("toy ask plane", Action(content="Later.")), "stopped_early", ["ask"]),
        (("cat notes/a.json",), "read_before_ask", ["read"]),
        (("toy ask plane", "toy ask plane"), "asked_twice", ["ask", "ask"]),
        (("toy ask plane --nope",), "ask_failed", ["ask"]),
        (("toy ask plane", "head -n 0 notes/a.json"), "read_failed", ["ask", "read"]),
        (("touch x",), "unexpected_command", ["unexpected_command"]),
        (("cat b.json",), "unexpected_command", ["unexpected_command"]),
        (("date", "date -u", "ls", "pwd"), "ran_out_of_turns", ["clock", "clock", "look", "look"]),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_broken_rule_ends_with_its_code(stage: Stage, script: Script, code: str, kinds: list[str]) -> None:
    played = stage.play(script)
    assert (played.receipt.verdict, played.receipt.failure_code) == ("fail", code)
    assert [step.kind or step.code for step in played.receipt.steps] == kinds
    assert played.receipt.cause == "model"


def test_a_violating_call_is_never_run(stage: Stage) -> None:
    played = stage.play(("cat notes/a.json",))
    assert [step.executed for step in played.receipt.steps] == [False]
    assert played.plane[0].calls == [("greet",)]


def test_an_answer_that_breaks_the_contract_is_the_control_planes_fault(stage: Stage) -> None:
    def wrong(_: Workspace, args: tuple[str, ...]) -> Completed:
        return completed('{"text": "Good morning"}' if args == ("greet",) else '{"target": "secret-elsewhere"}')

    played = stage.play(says=wrong)
    assert played.ending == ("failed/scenario_violation", "fail", "ask_failed")
    assert played.receipt.cause == "control_plane"
    finding = played.receipt.findings[0]
    assert (finding.step, finding.pointer, finding.expected) == (1, "/target", '"notes/a.json"')
    assert finding.got is not None
    assert "secret-elsewhere" not in finding.got


@pytest.mark.parametrize("broken", ["not json", "[1]", ""], ids=["text", "array", "nothing"])
def test_a_plane_that_prints_no_json_object_fails_the_call(stage: Stage, broken: str) -> None:
    played = stage.play(says=lambda _, args: completed('{"text": "Hi"}' if args == ("greet",) else broken))
    assert played.receipt.failure_code == "ask_failed"


def test_a_plane_that_cannot_be_started_says_nothing_about_the_model(stage: Stage) -> None:
    played = stage.play(broken_plane=True)
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert played.receipt.cause == "control_plane"
    assert played.result.log.problem == "the plane cannot be started"
    assert list(stage.temporary.iterdir()) == []


def test_a_script_that_runs_out_is_not_judged(stage: Stage) -> None:
    played = stage.play(("ls",))
    assert played.ending == ("failed/script_exhausted", "not_judged", "script_exhausted")


def test_a_late_value_that_is_not_there_yet_exhausts_the_script(stage: Stage) -> None:
    assert stage.play(("cat {named}",)).receipt.outcome.reason == "script_exhausted"


def test_a_skipped_read_proves_nothing(stage: Stage) -> None:
    played = stage.play(("toy ask plane", "ls nowhere && cat notes/a.json; pwd"))
    assert played.receipt.failure_code == "read_failed"


def test_a_read_after_or_counts_when_it_ran(stage: Stage) -> None:
    assert stage.play(("toy ask plane", "ls nowhere || cat notes/a.json")).ending == OK


def test_what_the_plane_changes_where_it_may_is_shown_and_allowed(stage: Stage) -> None:
    played = stage.play(says=_writing("runtime/log/one.txt"))
    assert played.ending == OK
    changes = [(change.path, change.by, change.allowed) for change in played.receipt.boundary.changes]
    assert changes == [
        ("runtime", "control_plane", True),
        ("runtime/log", "control_plane", True),
        (changes[2][0], "control_plane", True),
    ]
    assert changes[2][0].startswith("runtime/log/sha256:")


def test_any_other_change_fails_an_episode_that_would_pass(stage: Stage) -> None:
    played = stage.play(says=_writing("project/intruder-name.txt"))
    assert played.ending == ("completed/scenario_satisfied", "fail", "unexpected_workspace_change")
    assert played.receipt.cause == "control_plane"
    assert played.receipt.boundary.unexpected == 1
    assert "intruder-name" not in played.receipt.model_dump_json()


def test_a_change_never_hides_the_code_that_came_first(stage: Stage) -> None:
    played = stage.play(("toy ask plane", Action(content="Later.")), says=_writing("project/x"))
    assert played.receipt.failure_code == "stopped_early"
    assert [finding.code for finding in played.receipt.findings] == ["stopped_early", "unexpected_workspace_change"]


def _writing(path: str) -> Answer:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return completed('{"text": "Good morning"}')
        place: Path = workspace.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("written", encoding="utf-8")
        return completed('{"target": "notes/a.json"}')

    return says


def test_two_calls_of_one_reply_are_both_answered_in_order(stage: Stage) -> None:
    actor = ReplyActor([said("", called("toy ask plane", id_="1"), called("cat notes/a.json", id_="2"))], kind="script")
    played = stage.play(actor=actor)
    assert played.ending == OK
    assert [(step.turn, step.result) for step in played.receipt.steps] == [(1, "succeeded"), (1, "succeeded")]


def test_calls_after_an_ending_are_answered_as_skipped(stage: Stage) -> None:
    actor = ReplyActor([said("", called("touch x", id_="1"), called("ls", id_="2"), called("pwd", id_="3"))])
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["skipped_due_to_stop"] * 3
    assert played.receipt.counters.executed_calls == 0
    assert played.receipt.failure_code == "unexpected_command"


def test_usage_goes_to_the_log_and_never_into_the_receipt(stage: Stage) -> None:
    actor = ReplyActor([said("", called("toy ask plane"), usage=Usage(input_tokens=987_654)), said("Bye.")])
    played = stage.play(actor=actor)
    assert "987654" not in played.receipt.model_dump_json()
    assert played.result.log.attempts[0].usage == Usage(input_tokens=987_654)


@case(196)
def test_an_observer_that_raises_is_told_in_the_log_and_changes_no_receipt(stage: Stage) -> None:
    def broken(_: Record) -> None:
        raise RuntimeError("canary")

    watched = stage.play(journal=Journal(observers=(broken,)))
    plain = stage.play()
    assert watched.receipt == plain.receipt
    assert watched.result.log.dropped_observers == ("an observer was dropped at record 1: it raised RuntimeError",)
    assert plain.result.log.dropped_observers == ()
