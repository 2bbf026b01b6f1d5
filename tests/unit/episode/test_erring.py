"""Errors of tools by their class: shown, the end, or nobody knows."""

from __future__ import annotations

import pytest
from numbered import case
from toy import SCENARIO, Answer, ReplyActor, Stage, answer, called, completed, said

from harness.episode.durable import DurablePlace
from harness.errors import ControlPlaneError
from harness.journal import Journal, JournalFile
from harness.schema.base import JsonValue
from harness.schema.process import Completed
from harness.schema.record import Closed, OpReceipt, OpUnknown, Record
from harness.schema.tool import ErrorClass
from harness.workspace import Workspace

BATCH = said("", called("toy ask plane", id_="1"), called("ls", id_="2"))


def typing(class_: ErrorClass) -> dict[str, JsonValue]:
    """The toy scenario that types one error of its plane, by its answer."""
    kinds = SCENARIO["kind"]
    assert isinstance(kinds, list)
    assert isinstance(kinds[0], dict)
    rule: JsonValue = {"where": {"/error/code": "locked"}, "class": class_, "code": "registry_locked"}
    return {"kind": [{**kinds[0], "errors": [rule]}, *kinds[1:]]}


def locked(workspace: Workspace, args: tuple[str, ...]) -> Completed:
    if args == ("greet",):
        return answer(workspace, args)
    return completed('{"error": {"code": "locked", "about": "canary"}}', 3)


@case(117)
def test_nothing_comes_after_a_terminal_error(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([BATCH]), says=locked, change=typing("terminal"))
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert (played.receipt.outcome.detail, played.receipt.cause) == ("exec:registry_locked", "control_plane")
    assert [step.result for step in played.receipt.steps] == ["error_terminal", "skipped_due_to_stop"]
    assert [step.executed for step in played.receipt.steps] == [True, False]


def test_a_scenario_may_judge_a_terminal_error(stage: Stage) -> None:
    change: dict[str, JsonValue] = {**typing("terminal"), "outcomes": {"failed/tool_error": "broke_the_registry"}}
    played = stage.play(actor=ReplyActor([BATCH]), says=locked, change=change)
    assert (played.receipt.verdict, played.receipt.failure_code) == ("fail", "broke_the_registry")


@case(118)
def test_after_an_uncertain_one_nobody_knows_what_was_done(stage: Stage) -> None:
    journal = Journal()
    played = stage.play(actor=ReplyActor([BATCH]), says=locked, change=typing("uncertain"), journal=journal)
    assert played.ending == ("failed/tool_effect_uncertain", "not_judged", "tool_effect_uncertain")
    assert (played.receipt.outcome.detail, played.receipt.cause) == ("exec", "control_plane")
    assert [step.result for step in played.receipt.steps] == ["effect_uncertain", "skipped_due_to_stop"]
    assert journal.state.operations["turn-1/call-1"].status == "unknown"
    assert played.result.log.recovery_class == "reconciliation_required"
    assert not any(_is_receipt(record) for record in journal.records)


def _is_receipt(record: Record) -> bool:
    return isinstance(record.payload, OpReceipt) and record.payload.operation == "turn-1/call-1"


def test_a_recoverable_one_is_shown_and_judged_by_nobody(stage: Stage) -> None:
    actor = ReplyActor([BATCH, said("It is locked.")])
    played = stage.play(actor=actor, says=locked, change=typing("recoverable"))
    assert played.ending == ("completed/final_response", "fail", "did_nothing")
    assert [step.result for step in played.receipt.steps] == ["error_recoverable", "succeeded"]
    assert '"code": "locked"' in (actor.requests[1].messages[-2].text or "")


def test_any_other_error_of_the_same_kind_is_judged(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return answer(workspace, args) if args == ("greet",) else completed('{"error": {"code": "other"}}', 3)

    played = stage.play(actor=ReplyActor([BATCH]), says=says, change=typing("recoverable"))
    assert played.ending == ("failed/scenario_violation", "fail", "ask_failed")


@case(119)
def test_what_a_plane_raises_is_kept_nowhere(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        raise RuntimeError("the key is canary-4711")

    journal = Journal()
    played = stage.play(actor=ReplyActor([BATCH]), says=says, journal=journal)
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert [step.result for step in played.receipt.steps] == ["error_terminal", "skipped_due_to_stop"]
    assert played.result.log.problem == "the control plane raised an error that it has no code for"
    kept = [record.model_dump_json() for record in journal.records] + [played.result.model_dump_json()]
    assert "canary" not in "".join(kept)


@pytest.mark.parametrize("prepare", [[], [{"plane": ["init"]}]], ids=["value", "step"])
def test_what_it_raises_before_the_prompt_is_its_fault_too(stage: Stage, prepare: JsonValue) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        raise KeyError("canary-4711")

    played = stage.play(actor=ReplyActor([BATCH]), says=says, change={"workspace": {"prepare": prepare}})
    assert played.ending == ("failed/tool_error", "not_judged", "tool_error")
    assert "canary" not in played.result.model_dump_json()


def test_our_own_errors_keep_their_words(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        raise ControlPlaneError("the plane is closed")

    assert stage.play(actor=ReplyActor([BATCH]), says=says).result.log.problem == "the plane is closed"


@case(99)
def test_a_typed_error_that_a_tool_raises_leaves_the_calls_after_it(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return answer(workspace, args) if args == ("greet",) else completed("", 75)

    kinds = SCENARIO["kind"]
    assert isinstance(kinds, list)
    busy: JsonValue = {"exit": 75, "class": "recoverable", "code": "busy"}
    change: dict[str, JsonValue] = {
        "kind": [*kinds, {"name": "poll", "call": ["poll plane"], "errors": [busy]}],
        "call": {"allow": {"poll plane": []}},
    }
    calls = [called(command, id_=command) for command in ("toy poll plane", "ls", "pwd")]
    actor = ReplyActor([said("", *calls), said("Bye.")])
    played = stage.play(actor=actor, says=says, change=change)
    assert [step.result for step in played.receipt.steps] == ["error_recoverable", "succeeded", "succeeded"]
    assert [message.failed for message in actor.requests[1].messages if message.role == "tool"] == [True, False, False]
    assert played.result.log.problem is None


@case(99)
def test_an_error_of_one_call_leaves_the_calls_after_it(stage: Stage) -> None:
    calls = [called(command, id_=command) for command in ("ls nowhere", "ls", "pwd")]
    actor = ReplyActor([said("", *calls), said("Bye.")])
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["error_recoverable", "succeeded", "succeeded"]
    assert [message.failed for message in actor.requests[1].messages if message.role == "tool"] == [True, False, False]


class Killed(BaseException):
    """As if the process had ended here."""


def test_a_driver_that_goes_on_ends_an_uncertain_call_as_it_was_ended(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, ...]] = []

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        made.append(args)
        return locked(workspace, args)

    write = JournalFile.write

    def dies(self: JournalFile, record: Record) -> None:
        if isinstance(record.payload, Closed):
            raise Killed
        write(self, record)

    folder = stage.temporary / "episode"
    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "write", dies)
        with pytest.raises(Killed):
            _drive(stage, DurablePlace(folder, "first", sync=False), says)
    played = _drive(stage, DurablePlace(folder, "second", sync=False), says)
    assert played == "failed/tool_effect_uncertain"
    assert made == [("greet",), ("ask", "plane")]
    file = JournalFile(folder / "journal.jsonl")
    file.close()
    assert [one.payload.detail for one in file.records if isinstance(one.payload, OpUnknown)] == ["uncertain"]


def _drive(stage: Stage, place: DurablePlace, says: Answer) -> str:
    played = stage.play(actor=ReplyActor([BATCH]), says=says, change=typing("uncertain"), durable=place)
    return played.receipt.outcome.name
