"""What ran is told apart from what did not, and reads are real processes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from cramped import small_files
from toy import SCENARIO, ReplyActor, Stage, answer, called, completed, said

from harness.errors import ControlPlaneError, MachineError
from harness.schema.base import JsonValue
from harness.schema.message import ToolMessage
from harness.schema.process import Completed, ProcessCommand
from harness.workspace import Workspace


def shown(stage: Stage, *commands: str) -> list[str]:
    """What the actor is shown for each command in turn."""
    replies = [said("", called(command, id_=str(number))) for number, command in enumerate(commands)]
    actor = ReplyActor([*replies, said("Bye.")])
    stage.play(actor=actor, change={"limits": {"model_turns": 20}})
    return [message.text for message in actor.requests[-1].messages if isinstance(message, ToolMessage)]


def test_reads_print_what_a_shell_would_print(stage: Stage) -> None:
    texts = shown(stage, "toy ask plane", "ls", "echo hello && ls notes", "cd . ; find notes -type f | head -1")
    assert texts[1] == "b.json\nnotes\n"
    assert texts[2] == "hello\na.json\n"
    assert texts[3].endswith("/project/notes/a.json\n")


def test_the_time_is_the_scenarios_own(stage: Stage) -> None:
    assert shown(stage, "date", "date -u") == ["2026-08-12T00:00:00+08:00\n", "2026-08-11T16:00:00Z\n"]


def test_a_scenario_without_a_clock_answers_no_time(stage: Stage) -> None:
    actor = ReplyActor([said("", called("date")), said("Bye.")])
    played = stage.play(actor=actor, change={"tool": {"exec": {"clock": None}}})
    assert [(step.result, step.refused) for step in played.receipt.steps] == [("denied_policy", "no_clock")]


def test_a_failed_read_shows_its_error_and_exit_code(stage: Stage) -> None:
    first, second = shown(stage, "ls nowhere", "ls nowhere 2>/dev/null")
    assert "nowhere" in first
    assert first.endswith("[exit code 2]\n")
    assert second == "[exit code 2]\n"


def test_the_exit_state_follows_the_last_command(stage: Stage) -> None:
    actor = ReplyActor(
        [said("", called("ls nowhere; pwd", id_="1")), said("", called("pwd; ls nowhere", id_="2")), said("x")]
    )
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["succeeded", "error_recoverable"]


def test_a_machine_that_lacks_a_program_is_never_held_against_the_model(stage: Stage) -> None:
    """A read may name a program that one machine has and another lacks: receipts must not differ by that."""

    class Bare:
        """An executor on a machine without any program."""

        def run(self, command: ProcessCommand) -> Completed:
            raise ControlPlaneError(f"no such program: {command.argv[0]}")

        def close(self) -> None:
            """Nothing is open."""

    stage.executor = Bare()
    played = stage.play(("toy ask plane", "cat notes/a.json"))
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert (played.receipt.cause, played.receipt.outcome.detail) == ("harness", "environment")
    assert played.result.log.problem == "no such program: cat"


def test_a_control_plane_that_crashes_is_never_held_against_the_model(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        return replace(completed(""), exit_code=None, signal=11)

    played = stage.play(says=says)
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert played.receipt.cause == "control_plane"


@pytest.mark.parametrize(
    ("number", "cause"),
    [(9, "harness"), (24, "harness"), (25, "harness"), (15, "harness"), (11, "control_plane"), (6, "control_plane")],
)
def test_a_signal_tells_who_ended_the_plane(stage: Stage, number: int, cause: str) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        return replace(completed(""), exit_code=None, signal=number)

    played = stage.play(says=says)
    assert (played.receipt.verdict, played.receipt.cause) == ("not_judged", cause)
    assert f"signal {number}" in (played.result.log.problem or "")


def test_a_refused_call_keeps_its_kind_and_says_why(stage: Stage) -> None:
    played = stage.play(("toy ask plane --slow 1 --slow 2",))
    step = played.receipt.steps[0]
    assert (step.kind, step.refused, step.executed, step.code) == ("ask", "repeated_option", False, "ask_failed")
    assert played.receipt.counters.refused_calls == 1


def test_a_failed_call_of_the_plane_shows_its_error(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed("out\n", 3, stderr="err\n") if args != ("greet",) else answer(workspace, args)

    actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
    stage.play(actor=actor, says=says, change={"kind": _without_failed()})
    assert actor.requests[1].messages[-1].text == "out\nerr\n[exit code 3]\n"


def _without_failed() -> list[JsonValue]:
    kinds = SCENARIO["kind"]
    assert isinstance(kinds, list)
    return [{key: value for key, value in kind.items() if key != "failed"} for kind in kinds if isinstance(kind, dict)]


def test_a_plane_that_cannot_be_run_in_the_middle_is_not_judged(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        raise ControlPlaneError("gone")

    played = stage.play(says=says)
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert [step.result for step in played.receipt.steps] == ["error_terminal"]
    assert played.receipt.cause == "control_plane"


def test_an_answer_is_digested_without_what_may_differ(stage: Stage) -> None:
    def stamped(stamp: str) -> str | None:
        def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
            if args == ("greet",):
                return answer(workspace, args)
            place = workspace.roots["project"] / "notes/a.json"
            return completed(f'{{"target": "notes/a.json", "stamp": "{stamp}", "at": "{place}"}}')

        return stage.play(says=says).receipt.steps[0].answer_digest

    assert stamped("one") == stamped("two")
    assert stamped("one") != stage.play().receipt.steps[0].answer_digest


def test_suggested_commands_are_read_by_their_kind(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        return completed('{"target": "notes/a.json", "next": ["cat notes/a.json", "rm -rf x"]}')

    checks: list[JsonValue] = [
        {"kind": "ask", "answer": {"/next": {"commands": {"read": 1}, "none_contains": "touch"}}}
    ]
    played = stage.play(says=says, change={"check": checks})
    assert played.receipt.facts[0] == "asked"
    assert played.trace is not None
    assert played.trace.kinds_of == {"cat notes/a.json": "read", "rm -rf x": None}


FEIGNED = "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device\n"


def fails(workspace: Workspace, args: tuple[str, ...]) -> Completed:
    if args == ("greet",):
        return answer(workspace, args)
    (workspace.roots["runtime"] / "log").mkdir(parents=True, exist_ok=True)
    return completed("", 1, stderr=FEIGNED)


def test_a_plane_that_fails_where_there_is_no_room_is_never_held_against_the_model(stage: Stage) -> None:
    with small_files(100_000):
        played = stage.play(says=fails)
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert (played.receipt.cause, played.receipt.outcome.detail) == ("harness", "environment")
    assert [finding.code for finding in played.receipt.findings] == ["tool_error"]
    assert "the command failed, and the machine lacks something: a file of 1048576 bytes" in (
        played.result.log.problem or ""
    )


def test_a_plane_that_only_says_that_there_is_no_room_is_judged(stage: Stage) -> None:
    played = stage.play(says=fails)
    assert played.ending == ("failed/scenario_violation", "fail", "ask_failed")
    assert played.receipt.cause == "model"


def test_a_wrong_answer_where_there_is_no_room_is_never_held_against_the_model(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return answer(workspace, args) if args == ("greet",) else completed('{"target": "elsewhere"}')

    with small_files(100_000):
        cramped = stage.play(says=says)
    assert (cramped.receipt.verdict, cramped.receipt.cause) == ("not_judged", "harness")
    assert stage.play(says=says).receipt.verdict == "fail"


def test_a_plane_that_fails_at_the_opening_where_there_is_no_room_is_not_its_own_fault(stage: Stage) -> None:
    with small_files(100_000):
        played = stage.play(says=lambda *_: completed("", 1))
    assert (played.receipt.outcome.detail, played.receipt.cause) == ("environment", "harness")
    with small_files(100_000):
        prepared = stage.play(says=fails, change={"workspace": {"prepare": [{"plane": ["ask"]}]}})
    assert (prepared.receipt.outcome.detail, prepared.receipt.cause) == ("environment", "harness")
    assert "workspace.prepare[0]: failed, and the machine lacks something" in (prepared.result.log.problem or "")


def test_a_read_that_the_machine_could_not_start_is_the_machines_fault(stage: Stage) -> None:
    class Full:
        """An executor on a machine that starts no more processes."""

        def run(self, _: ProcessCommand) -> Completed:
            raise MachineError("the command could not be run: Resource temporarily unavailable")

        def close(self) -> None:
            """Nothing is open."""

    stage.executor = Full()
    played = stage.play(("toy ask plane", "cat notes/a.json"))
    assert (played.receipt.verdict, played.receipt.cause) == ("not_judged", "harness")
    assert played.result.log.problem == "the command could not be run: Resource temporarily unavailable"


def test_a_call_that_was_ended_because_we_were_asked_to_stop_is_cancelled(stage: Stage) -> None:
    asked = threading.Event()

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        asked.set()
        raise ControlPlaneError("the warm control plane ended before the command did")

    played = stage.play(says=says, cancelled=asked.is_set)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"


def test_a_read_of_git_runs_nothing_that_the_workspace_names(stage: Stage, tmp_path: Path) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        trap = workspace.roots["project"] / "trap"
        trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
        trap.chmod(0o755)
        git = shutil.which("git") or "git"
        subprocess.run([git, "add", "b.json"], cwd=workspace.roots["project"], check=True)
        (workspace.roots["project"] / ".git/info").mkdir(exist_ok=True)
        (workspace.roots["project"] / ".git/info/attributes").write_text("* filter=x\n")
        os.utime(workspace.roots["project"] / "b.json", (1, 1))
        with (workspace.roots["project"] / ".git/config").open("a") as file:
            file.write(f'[core]\n\tfsmonitor = "{trap}"\n[filter "x"]\n\tclean = "{trap}"\n\trequired = true\n')
        return answer(workspace, args)

    actor = ReplyActor([said("", called("git status --short --branch")), said("Bye.")])
    stage.play(actor=actor, says=says, change={"workspace": {"git": ["project"]}})
    assert actor.requests[1].messages[-1].text == "## No commits yet on main\nA  b.json\n?? notes/\n?? trap\n"
    assert not (tmp_path / "ran").exists()


def test_a_repository_with_more_filters_than_can_be_told_is_not_read(stage: Stage, tmp_path: Path) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        with (workspace.roots["project"] / ".git/config").open("a") as file:
            file.writelines(f'[filter "x{number}"]\n\tclean = "touch {tmp_path}/ran"\n' for number in range(1000))
        return answer(workspace, args)

    actor = ReplyActor([said("", called("git status --short --branch")), said("Bye.")])
    stage.play(actor=actor, says=says, change={"workspace": {"git": ["project"]}})
    shown = "fatal: the repository has too many filters\n[exit code 128]\n"
    assert actor.requests[1].messages[-1].text == shown


def test_a_file_whose_content_was_left_out_of_what_is_shown_proves_nothing(stage: Stage) -> None:
    many = "find . -name '*.json' " + "-print " * 60
    shown_whole = stage.play(("toy ask plane", "cat notes/a.json"))
    assert shown_whole.receipt.verdict == "pass"
    actor = ReplyActor(
        [said("", called("toy ask plane", id_="1")), said("", called(f"{many}; cat notes/a.json; {many}"))]
    )
    played = stage.play(actor=actor, change={"limits": {"tool_result_chars": 1_000}})
    assert played.ending == ("failed/scenario_violation", "fail", "read_failed")
    assert played.receipt.findings[0].check == "content"


def test_what_is_shown_with_its_mark_is_within_the_limit(stage: Stage) -> None:
    actor = ReplyActor([said("", called("find . " + "-print " * 100)), said("Bye.")])
    stage.play(actor=actor, change={"limits": {"tool_result_chars": 500}})
    text = actor.requests[-1].messages[-1].text or ""
    counted = re.sub(r"/\S*/harness-\w{8}/project", "{project_root}", text)
    assert 450 < len(counted) <= 500
    assert "characters are left out here" in text


def test_a_wrong_read_is_wrong_on_a_full_disc_too(stage: Stage) -> None:
    with small_files(100_000):
        played = stage.play(("ls nowhere", "toy ask plane", "cat notes/none.json"))
    assert played.receipt.cause == "model"
