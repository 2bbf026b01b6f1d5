"""A world that cannot be made is rejected before any model call, with one line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from numbered import case
from toy import Answer, ReplyActor, Stage, answer, called, completed, said

from harness.episode import DurablePlace
from harness.journal import Journal, MemorySpool, fold, verify
from harness.schema.base import JsonValue
from harness.schema.process import Completed
from harness.schema.run import EpisodeOptions
from harness.schema.tool import ToolCall
from harness.workspace import Left, Workspace, remove_tree

NOTHING_THERE = "its control-plane call ended with exit code 0 and has no text at /nowhere"
REJECTED = ("rejected/setup_rejected", "not_judged", "setup_rejected")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"late": {"greeting": {"at": "/nowhere"}}},
            f"prompt.user: late.greeting has no value: {NOTHING_THERE}",
        ),
        ({"prompt": {"must_contain": ["never said"]}}, "prompt.must_contain: a text is not in the user message"),
        ({"prompt": {"user": " \n "}}, "prompt.user: must be 1 to 65536 bytes and not blank"),
        ({"prompt": {"user": "é" * 32_769}}, "prompt.user: must be 1 to 65536 bytes and not blank"),
    ],
    ids=["late", "must_contain", "blank", "long"],
)
@case(20)
def test_a_prompt_that_cannot_be_made_is_rejected(stage: Stage, change: dict[str, JsonValue], problem: str) -> None:
    actor = ReplyActor([])
    played = stage.play(actor=actor, change=change)
    assert played.ending == REJECTED
    assert played.result.log.problem == problem
    assert played.receipt.cause == "scenario"
    assert actor.requests == []
    assert list(stage.temporary.iterdir()) == []


def test_a_prompt_of_exactly_the_longest_size_is_taken(stage: Stage) -> None:
    played = stage.play(change={"prompt": {"user": "é" * 32_768, "must_contain": []}})
    assert played.receipt.verdict == "pass"


def test_a_prepare_step_that_fails_is_rejected_by_its_number(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed("", 3) if args == ("setup", "two") else answer(workspace, args)

    prepare: list[JsonValue] = [{"plane": ["setup", "one"]}, {"plane": ["setup", "two"]}]
    played = stage.play(says=says, change={"workspace": {"prepare": prepare}})
    assert played.ending == REJECTED
    assert played.result.log.problem == "workspace.prepare[1]: the control plane's call failed (exit code 3)"


def test_a_prepare_step_that_hangs_is_rejected(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return completed("", timed_out=True) if args == ("setup",) else answer(workspace, args)

    played = stage.play(says=says, change={"workspace": {"prepare": [{"plane": ["setup"]}]}})
    assert played.result.log.problem == "workspace.prepare[0]: the control plane's call failed (timed out)"


def test_what_a_prepare_step_writes_is_part_of_the_world_and_no_change(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("setup",):
            (workspace.roots["project"] / "made.txt").write_text("x", encoding="utf-8")
        return answer(workspace, args)

    played = stage.play(says=says, change={"workspace": {"prepare": [{"plane": ["setup"]}]}})
    assert played.receipt.verdict == "pass"
    assert played.receipt.boundary.changes == ()


@case(3)
def test_a_tool_this_machine_does_not_permit_is_rejected(stage: Stage) -> None:
    played = stage.play(host_denied=frozenset({"exec"}))
    assert played.ending == REJECTED
    assert played.result.log.problem == "tool 'exec' is not permitted on this machine"


def test_a_late_value_is_resolved_once(stage: Stage) -> None:
    played = stage.play(change={"prompt": {"user": "{greeting} {greeting}", "must_contain": ["{greeting}"]}})
    assert played.receipt.verdict == "pass"
    assert played.plane[0].calls.count(("greet",)) == 1


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (lambda _, __: completed('{"text": "Hi"}', 1), "its control-plane call ended with exit code 1"),
        (lambda _, __: completed("", timed_out=True), "its control-plane call timed out"),
    ],
    ids=["exit code", "time-out"],
)
def test_a_late_value_whose_call_fails_is_not_resolved(stage: Stage, says: Answer, why: str) -> None:
    played = stage.play(says=says)
    assert played.ending == REJECTED
    assert played.result.log.problem == f"prompt.user: late.greeting has no value: {why}"


def test_a_late_value_without_a_match_says_so(stage: Stage) -> None:
    late: dict[str, JsonValue] = {"late": {"word": {"prompt": "(never said)"}}, "prompt": {"must_contain": ["{word}"]}}
    played = stage.play(change=late)
    expected = "prompt.must_contain: late.word has no value: its pattern matches nothing in the user message"
    assert played.result.log.problem == expected


def test_a_kept_workspace_is_named_in_the_log_and_stays(stage: Stage) -> None:
    played = stage.play(options=EpisodeOptions(keep_workspace=True))
    assert played.result.log.workspace is not None
    assert [str(path) for path in stage.temporary.iterdir()] == [played.result.log.workspace]
    assert played.result.log.workspace not in played.receipt.model_dump_json()


def test_the_definition_covers_the_prompt_and_nothing_that_moves(stage: Stage) -> None:
    first, second = stage.play().receipt, stage.play().receipt
    assert first == second
    other = stage.play(says=lambda w, a: completed('{"text": "Good evening"}') if a == ("greet",) else answer(w, a))
    assert other.receipt.definition_digest != first.definition_digest


def test_a_closed_episode_is_returned_as_it_was_and_nothing_is_asked(stage: Stage) -> None:
    """Runner specification cases 4 and 5: also after the prompt has changed."""
    journal, spool = Journal(), MemorySpool()
    first = stage.play(journal=journal, spool=spool)
    records = journal.records
    actor = ReplyActor([])
    again = stage.play(actor=actor, journal=journal, spool=spool, change={"prompt": {"user": "Something else."}})
    assert again.receipt == first.receipt
    assert (actor.requests, again.plane) == ([], [])
    assert journal.records == records


def test_the_journal_of_an_episode_is_whole_and_its_own_fold(stage: Stage) -> None:
    journal = Journal()
    stage.play(journal=journal)
    assert verify(journal.records) is None
    assert fold(journal.records) == journal.state
    kinds = [record.payload.kind for record in journal.records]
    assert kinds[0] == "opened"
    assert kinds[-2:] == ["closed", "acknowledged"]


def test_a_spool_keeps_no_text_of_the_episode_after_its_end(stage: Stage) -> None:
    spool = MemorySpool()
    stage.play(spool=spool)
    assert repr(spool) == "<MemorySpool: 1 texts>"


@case(197, 198)
def test_records_and_receipt_hold_no_text_of_prompt_command_or_answer(stage: Stage) -> None:
    journal = Journal()
    secret = "sk-canary-0123456789"
    raw = '{"cmd": "curl -H Authorization:Bearer ' + secret
    broken = ToolCall(id="c9", name="exec", arguments_raw=raw, arguments=None)
    replies = [
        said(secret, called("toy ask plane"), called(f"cat /etc/{secret}", id_="c2")),
        said("", broken, called(f"export KEY={secret}; toy ask plane", id_="c3")),
    ]
    played = stage.play(actor=ReplyActor(list(replies)), journal=journal)
    assert played.receipt.verdict == "fail"
    written = "".join(record.model_dump_json() for record in journal.records) + played.receipt.model_dump_json()
    for text in ("Good morning", "toy ask plane", "/etc", secret, "Bearer", str(stage.temporary)):
        assert text not in written
    assert [step.shape is not None for step in played.receipt.steps][:2] == [True, True]
    assert {step.arguments_digest is not None for step in played.receipt.steps} == {True}


def test_a_control_plane_that_fails_at_the_opening_is_at_fault_and_not_the_scenario(stage: Stage) -> None:
    played = stage.play(says=lambda _, __: completed("", 1))
    assert (played.ending, played.receipt.cause) == (REJECTED, "control_plane")
    prepare: list[JsonValue] = [{"plane": ["setup"]}]
    played = stage.play(says=lambda _, __: completed("", 1), change={"workspace": {"prepare": prepare}})
    assert played.receipt.cause == "control_plane"


def test_a_workspace_is_removed_later_where_somebody_sees_to_it(stage: Stage) -> None:
    waiting: list[tuple[Path, Left]] = []
    stage.remove_later = lambda root, left: waiting.append((root, left))
    played = stage.play()
    ((root, left),) = waiting
    assert (played.receipt.verdict, root.is_dir()) == ("pass", True)
    assert root == played.plane[0].workspace.root
    remove_tree(root)
    left(True)
    assert list(stage.temporary.iterdir()) == []


def test_the_place_of_an_episode_on_disk_is_free_when_it_is_over(stage: Stage, tmp_path: Path) -> None:
    waiting: list[Path] = []
    stage.remove_later = lambda root, _: waiting.append(root)
    played = stage.play(actor=ReplyActor([said("no more")]), durable=DurablePlace(tmp_path / "kept", "1", sync=False))
    assert (waiting, played.plane[0].workspace.root.exists()) == ([], False)
