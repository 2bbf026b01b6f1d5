"""A scenario says what ends its episodes: a file that tells that the task is done, or a call of a tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numbered import case
from toy import Played, ReplyActor, Stage, answer, called, said

from harness.episode import DurablePlace
from harness.journal import Journal, JournalFile
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import Completed
from harness.schema.record import Closed, Record, TurnCommitted
from harness.workspace import Workspace

WHEN: dict[str, JsonValue] = {"file": "runtime/log/task.json", "at": "/status", "value": "done"}
DONE: dict[str, JsonValue] = {"control": {"completed_when": WHEN}}


def marks(workspace: Workspace, text: str = '{"status": "done"}') -> None:
    """What the control plane does between two turns."""
    path = workspace.roots["runtime"] / "log" / "task.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def outside(stage: Stage, text: str, change: dict[str, JsonValue]) -> tuple[Played, ReplyActor]:
    """After the first turn the control plane writes ``text`` into the file that tells of the task."""
    workspaces: list[Workspace] = []

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        workspaces.append(workspace)
        return answer(workspace, args)

    def between(record: Record) -> None:
        if isinstance(record.payload, TurnCommitted):
            marks(workspaces[0], text)

    actor = ReplyActor([said("", called("ls")), said("Bye.")])
    return stage.play(actor=actor, says=says, change=change, journal=Journal(observers=[between])), actor


@case(215)
def test_a_task_that_was_done_outside_ends_the_episode_before_the_next_call(stage: Stage) -> None:
    played, actor = outside(stage, '{"status": "done"}', DONE)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("completed/external_completion", "control_plane")
    assert len(actor.requests) == 1
    assert played.receipt.boundary.unexpected == 0


def test_a_scenario_says_what_a_task_done_outside_proves(stage: Stage) -> None:
    passes: dict[str, JsonValue] = {"outcomes": {"completed/external_completion": {"verdict": "pass"}}}
    assert outside(stage, '{"status": "done"}', DONE | passes)[0].receipt.verdict == "pass"
    assert outside(stage, '{"status": "done"}', DONE)[0].ending == (
        "completed/external_completion",
        "fail",
        "did_nothing",
    )


@pytest.mark.parametrize("text", ['{"status": "open"}', "{}", "no json", "[" * 100_000, '{"status": ["done"]}'])
def test_a_task_that_is_not_done_goes_on(stage: Stage, text: str) -> None:
    played, actor = outside(stage, text, DONE)
    assert played.receipt.outcome.name == "completed/final_response"
    assert len(actor.requests) == 2


def test_a_world_in_which_the_task_is_done_from_the_start_judges_nobody(stage: Stage) -> None:
    when: JsonValue = {"file": "project/{file}", "at": "/a", "value": {"equals": 1}}
    actor = ReplyActor([said("never asked")])
    played = stage.play(actor=actor, change={"control": {"completed_when": when}})
    assert (played.receipt.outcome.name, actor.requests) == ("rejected/setup_rejected", [])
    assert played.result.log.problem == "control.completed_when: holds before the first turn"


def test_killed_after_it_was_done_outside_it_ends_the_same(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next driver builds the workspace anew, in which nobody marks the task again."""
    folder = tmp_path / "episode"
    workspaces: list[Workspace] = []
    asked: list[int] = []
    write = JournalFile.write

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        workspaces.append(workspace)
        return answer(workspace, args)

    def dies(self: JournalFile, record: Record) -> None:
        if isinstance(record.payload, Closed):
            raise KeyboardInterrupt
        write(self, record)
        if isinstance(record.payload, TurnCommitted):
            marks(workspaces[-1])

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        asked.append(context.turn)
        return said("", called("ls"))

    def drive(token: str) -> Played:
        place = DurablePlace(folder, token, sync=False)
        return stage.play(actor=ReplyActor([reply]), says=says, change=DONE, durable=place)

    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            drive("first")
    played = drive("second")
    assert (played.receipt.outcome.name, asked) == ("completed/external_completion", [1])
    assert played.receipt == outside(stage, '{"status": "done"}', DONE)[0].receipt


TOOL: JsonValue = {"about": "Run one command.", "argument": "cmd", "grammar": "loopx-0.4"}
TOOLS: dict[str, JsonValue] = {"tool": {"look": TOOL, "submit": TOOL}}


def stopping(stage: Stage, control: dict[str, JsonValue], *calls: tuple[str, str]) -> Played:
    """One reply with these calls (tool, command), and a last one."""
    made = [called(command, name=name, id_=f"c{index}") for index, (name, command) in enumerate(calls)]
    actor = ReplyActor([said("", *made), said("Bye.")])
    return stage.play(actor=actor, change=TOOLS | {"control": control})


def results(played: Played) -> list[str]:
    return [step.result for step in played.receipt.steps]


@case(218)
def test_the_first_call_that_succeeds_may_be_the_end(stage: Stage) -> None:
    played = stopping(stage, {"stop_on_first_tool": True}, ("look", "ls"), ("look", "pwd"))
    assert results(played) == ["succeeded", "skipped_due_to_finish"]
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("completed/stop_on_first_tool", "look")


@case(131)
def test_a_first_call_that_fails_is_not_the_end(stage: Stage) -> None:
    played = stopping(stage, {"stop_on_first_tool": True}, ("look", "ls missing"), ("look", "ls"), ("look", "pwd"))
    assert results(played) == ["error_recoverable", "succeeded", "skipped_due_to_finish"]
    failing = stopping(stage, {"stop_on_first_tool": True}, ("look", "ls missing"))
    assert failing.receipt.outcome.name == "completed/final_response"


@case(219)
def test_a_call_of_a_named_tool_may_be_the_end(stage: Stage) -> None:
    stop: dict[str, JsonValue] = {"stop_at_tools": ["submit"]}
    played = stopping(stage, stop, ("look", "ls"), ("submit", "pwd"), ("look", "ls"))
    assert results(played) == ["succeeded", "succeeded", "skipped_due_to_finish"]
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("completed/stop_at_tool_name", "submit")
    assert results(stopping(stage, stop, ("submit", "ls missing"), ("look", "ls"))) == [
        "error_recoverable",
        "succeeded",
    ]


def test_what_satisfies_or_breaks_the_scenario_comes_before_a_directive(stage: Stage) -> None:
    stop: dict[str, JsonValue] = {"stop_on_first_tool": True}
    played = stopping(stage, stop, ("look", "toy ask plane"), ("look", "ls"))
    assert played.receipt.outcome.name == "completed/stop_on_first_tool"
    assert json.loads(played.receipt.model_dump_json())["failure_code"] == "stopped_early"
    broken = stopping(stage, stop, ("look", "cat notes/a.json"))
    assert broken.receipt.outcome.name == "failed/scenario_violation"
