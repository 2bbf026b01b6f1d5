"""What an actor is shown of long results: in part, within the bounds, with the rest in reach where it is kept."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from driving import Driving, Killed, told
from numbered import case
from toy import ReplyActor, Stage, answer, called, completed, said

from harness.journal import Journal, JournalFile
from harness.observation import FOLDER
from harness.ports import Executor, TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, ToolMessage
from harness.schema.process import Completed
from harness.schema.record import CallResulted, Classified, OpReceipt, OpStarted, Record, Spilled
from harness.schema.script import Action, ScriptCall
from harness.schema.tool import ToolCall
from harness.workspace import Workspace

SPILL: dict[str, JsonValue] = {"observe": {"spill": True}}
REQUIRED: dict[str, JsonValue] = {"observe": {"spill": True, "require_artifact": True}}
_POINTER = re.compile(rf"The full text is in ({FOLDER}/result-[0-9a-f]{{16}}\.txt): .* cursor (\S+)\. Do not infer")
_ON = re.compile(r"\n\[(?:\d+ of \d+ characters follow\. Go on with the cursor (\S+)|This is the end [^]]*)\.\]\n$")


def long_answer(size: int = 100_000) -> str:
    """An answer of the plane with numbers in it, so that every place of it is another."""
    numbers = "".join(f"{number:07} " for number in range(size // 8))
    return json.dumps({"text": "Hi", "target": "notes/a.json", "more": numbers})


def says_long(workspace: Workspace, args: tuple[str, ...]) -> Completed:
    """A plane whose answers are long, but for the first."""
    return answer(workspace, args) if args == ("greet",) else completed(long_answer())


def read_more(path: str, cursor: str, id_: str = "more") -> ToolCall:
    """A call of the tool that reads on."""
    arguments: dict[str, JsonValue] = {"path": path, "cursor": cursor}
    return ToolCall(id=id_, name="read_more", arguments_raw=json.dumps(arguments), arguments=arguments)


def results(request: ModelRequest) -> list[str]:
    """The answers to calls that a request holds."""
    return [message.text for message in request.messages if isinstance(message, ToolMessage)]


class Reader:
    """Asks the plane once, then reads on until the end; ``parts`` are what it was shown."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.actor = ReplyActor([self.reply] * 40)

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """The next call."""
        if context.turn == 1:
            return said("", called("toy ask plane"))
        self.parts.append(results(request)[-1])
        pointer = _POINTER.search(results(request)[0])
        assert pointer is not None
        path, cursor = pointer[1], pointer[2]
        if context.turn > 2:
            on = _ON.search(self.parts[-1])
            assert on is not None
            if on[1] is None:
                return said("Done.")
            cursor = on[1]
        return said("", read_more(path, cursor, f"more-{context.turn}"))


MANY: dict[str, JsonValue] = {**SPILL, "limits": {"model_turns": 40, "tool_calls": 40}}


@case(149)
def test_a_long_result_is_shown_in_part_and_kept_whole(stage: Stage) -> None:
    kept: list[str] = []
    journal = Journal()

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        kept.extend(path.read_text() for path in workspace.root.glob(f"{FOLDER}/*"))
        return answer(workspace, args) if args == ("greet",) else completed(long_answer(900_000))

    calls = [called("toy ask plane", id_="1"), called("toy ask plane", id_="2")]
    actor = ReplyActor([said("", calls[0]), said("", calls[1]), said("Bye.")])
    change: dict[str, JsonValue] = {**SPILL, "kind": _without_once()}
    played = stage.play(actor=actor, says=says, change=change, journal=journal)
    first, second = results(actor.requests[-1])
    assert first == second
    assert kept == [long_answer(900_000)]
    assert 10_000 < len(first) < 10_400
    pointer = _POINTER.search(first)
    assert pointer is not None
    mark = first.index("\n[")
    assert long_answer(900_000).startswith(first[:mark])
    assert pointer[2].startswith(f"{mark}-")
    spilled = [record.payload for record in journal.records if isinstance(record.payload, Spilled)]
    assert [(record.chars, record.refused) for record in spilled] == [(len(long_answer(900_000)), None)] * 2
    flags = [record.payload.spilled for record in journal.records if isinstance(record.payload, CallResulted)]
    assert (flags, played.result.log.spilled) == ([True, True], 2)


def _without_once() -> JsonValue:
    """The plane may be asked again and again."""
    return [
        {"name": "ask", "call": ["ask plane"], "sets": "asked"},
        {"name": "read", "read": "content", "sets": "done"},
    ]


def test_every_bounded_channel_tells_what_went_through_it(stage: Stage) -> None:
    actor = ReplyActor([said("", called("toy ask plane")), said("", called("x", name="nobody", id_="2")), said("Bye.")])
    channels = stage.play(actor=actor, says=says_long).result.log.channels
    size = len(long_answer())
    assert set(channels) == {"stdout", "stderr", "result", "error", "context"}
    assert (channels["stdout"].seen, channels["stdout"].dropped, channels["stdout"].unit) == (size, 0, "bytes")
    result = channels["result"]
    assert (result.seen, result.retained, result.dropped) == (size, 10_000, size - 10_000)
    assert (result.truncated, result.unit) == (True, "chars")
    assert (channels["error"].truncated, channels["context"].truncated) == (False, False)
    assert channels["context"].seen > 20_000


@case(150)
def test_a_text_that_cannot_be_kept_is_said_to_be_gone_and_the_run_goes_on(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            (workspace.root / FOLDER).write_text("in the way")
        return says_long(workspace, args)

    actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
    played = stage.play(actor=actor, says=says, change=SPILL)
    assert "The full text was not kept. Do not infer what is missing." in results(actor.requests[1])[0]
    assert (played.receipt.outcome.name, played.result.log.spilled) == ("completed/final_response", 0)


@case(222)
def test_a_text_that_must_be_kept_and_cannot_be_ends_the_episode(stage: Stage) -> None:
    journal = Journal()

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            (workspace.root / FOLDER).write_text("in the way")
        return says_long(workspace, args)

    actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
    played = stage.play(actor=actor, says=says, change=REQUIRED, journal=journal)
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == (
        "failed/artifact_persist_failed",
        "unwritable",
    )
    assert (played.receipt.verdict, played.receipt.cause) == ("not_judged", "harness")
    kept = [record.payload for record in journal.records if isinstance(record.payload, OpReceipt)]
    assert (kept[-1].operation, kept[-1].status) == ("turn-1/call-1", "succeeded")
    assert [step.result for step in played.receipt.steps] == ["succeeded"]


def test_a_text_that_must_be_kept_and_is_ends_nothing(stage: Stage) -> None:
    actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
    played = stage.play(actor=actor, says=says_long, change=REQUIRED)
    assert played.receipt.outcome.name == "completed/final_response"


@case(151)
def test_what_is_shown_is_the_same_wherever_it_happens(executor: Executor, tmp_path: Path) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        paths = [f"{workspace.roots['project']}/{number:06}" for number in range(3_000)]
        return completed(json.dumps({"target": "notes/a.json", "paths": paths}))

    shown, records = [], []
    for place in (tmp_path / "a", tmp_path / "another-and-much-longer-name-for-a-home-folder"):
        place.mkdir()
        journal, reader = Journal(), Reader()
        Stage(executor, place).play(actor=reader.actor, says=says, change=MANY, journal=journal)
        where = str(next(place.iterdir(), place / "none").parent)
        assert all(where in part for part in reader.parts[:1])
        shown.append([re.sub(rf"{re.escape(where)}/harness-\w{{8}}", "HERE", part) for part in reader.parts])
        payloads = [record.payload for record in journal.records]
        records.append([replace(one, spool=None) if isinstance(one, OpReceipt) else one for one in payloads])
    assert shown[0] == shown[1]
    assert records[0] == records[1]


def test_reading_on_gives_the_whole_text_and_is_harmless(stage: Stage) -> None:
    reader = Reader()
    played = stage.play(actor=reader.actor, says=says_long, change=MANY)
    head = reader.parts[0][: reader.parts[0].index("\n[")]
    assert head + "".join(_ON.sub("", part) for part in reader.parts[1:]) == long_answer()
    assert all(len(part) <= 12_000 for part in reader.parts)
    assert played.kinds == ["ask", *["read_more"] * (len(reader.parts) - 1)]
    assert {step.result for step in played.receipt.steps} == {"succeeded"}
    assert {step.tool for step in played.receipt.steps} == {"exec", "read_more"}
    assert played.receipt.boundary.changes == ()
    assert len(reader.actor.requests[0].tools) == 2


def test_a_script_reads_on_with_what_it_was_shown(stage: Stage) -> None:
    arguments: dict[str, JsonValue] = {"path": "{where}", "cursor": "{cursor}"}
    reads = Action(calls=(ScriptCall(name="read_more", arguments=arguments),))
    late: dict[str, JsonValue] = {
        "where": {"shown": r"full text is in (tool-results/[^:]+):"},
        "cursor": {"shown": r"with the cursor ([0-9a-f-]+)"},
    }
    says, journal = says_long, Journal()
    played = stage.play(
        ("toy ask plane", reads, reads, "cat notes/a.json"), says=says, change={**SPILL, "late": late}, journal=journal
    )
    assert played.ending == ("completed/scenario_satisfied", "pass", None)
    assert played.kinds == ["ask", "read_more", "read_more", "read"]
    digests = [record.payload.arguments for record in journal.records if isinstance(record.payload, Classified)]
    assert digests[2] != digests[3]


def test_a_script_that_was_shown_nothing_to_read_on_in_has_run_out(stage: Stage) -> None:
    late: dict[str, JsonValue] = {"where": {"shown": r"full text is in (tool-results/[^:]+):"}}
    played = stage.play(("toy ask plane", "cat {where}"), change={**SPILL, "late": late})
    assert played.receipt.outcome.name == "failed/script_exhausted"


def test_the_tool_is_offered_only_where_texts_are_kept(stage: Stage) -> None:
    actor = ReplyActor([said("", read_more("a", "b")), said("Bye.")])
    played = stage.play(actor=actor)
    assert [tool.name for tool in actor.requests[0].tools] == ["exec"]
    assert [step.result for step in played.receipt.steps] == ["unknown_tool"]


def test_answers_that_differ_only_in_what_is_volatile_are_kept_under_one_name(stage: Stage) -> None:
    """Else no recording of a plane that tells the time could be played again."""
    stamps = iter(range(1_000, 2_000))

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        halves = {"a": "x" * 8_000, "stamp": next(stamps), "z": "x" * 8_000}
        return completed(json.dumps({"target": "notes/a.json", **halves}))

    def play() -> list[str]:
        calls = [called("toy ask plane", id_="1"), called("toy ask plane", id_="2")]
        actor = ReplyActor([said("", calls[0]), said("", calls[1]), said("Bye.")])
        assert stage.play(actor=actor, says=says, change={**SPILL, "kind": _without_once()}).result.log.spilled == 2
        return results(actor.requests[-1])

    assert len({*play(), *play()}) == 1


@case(154)
@pytest.mark.parametrize("fault", ["stale_cursor", "cursor_path_mismatch", "cursor_offset_invalid"])
def test_a_cursor_that_does_not_fit_is_told_and_the_run_goes_on(stage: Stage, fault: str) -> None:
    workspaces: list[Workspace] = []

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        workspaces.append(workspace)
        return says_long(workspace, args)

    def reads(request: ModelRequest, _: TurnContext) -> Reply:
        pointer = _POINTER.search(results(request)[0])
        assert pointer is not None
        path, cursor = pointer[1], pointer[2]
        if fault == "stale_cursor":
            (workspaces[0].root / path).write_text("something else")
        elif fault == "cursor_path_mismatch":
            path = f"{FOLDER}/other.txt"
        else:
            cursor = re.sub(r"^\d+", "9999999", cursor)
        return said("", read_more(path, cursor))

    actor = ReplyActor([said("", called("toy ask plane")), reads, said("Bye.")])
    played = stage.play(actor=actor, says=says, change=SPILL)
    assert results(actor.requests[2])[1].startswith(f"error: {fault}: ")
    assert [step.result for step in played.receipt.steps] == ["succeeded", "error_recoverable"]
    assert played.receipt.outcome.name == "completed/final_response"


def test_arguments_that_the_reading_tool_does_not_take_are_refused(stage: Stage) -> None:
    calls = [
        read_more("a" * 1_025, "b", "1"),
        ToolCall(id="2", name="read_more", arguments_raw="{}", arguments={}),
        ToolCall(id="3", name="read_more", arguments_raw="{", arguments=None, fault="malformed_arguments"),
    ]
    actor = ReplyActor([said("", *calls), said("Bye.")])
    played = stage.play(actor=actor, change=SPILL)
    assert [step.result for step in played.receipt.steps] == ["invalid_arguments", "invalid_arguments", "parse_error"]


@case(153)
def test_the_results_of_one_reply_share_their_room_and_notices_come_whole(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"limits": {"section_chars": 20_000}, "kind": _without_once()}
    asks = [called("toy ask plane", id_=str(number)) for number in range(5)]
    notices = [called("x", name=f"nobody{number}", id_=f"n{number}") for number in range(2)]
    actor = ReplyActor([said("", *asks, *notices), said("Bye.")])
    stage.play(actor=actor, says=says_long, change=change)
    shown = results(actor.requests[1])
    assert 59_900 < sum(map(len, shown)) <= 60_000
    assert shown[5:] == ["error: there is no such tool; there are: exec"] * 2
    assert all(11_900 < len(text) < 12_000 for text in shown[:5])


def test_a_single_result_has_the_room_of_its_tool(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"tool": {"exec": {"result_chars": 70_000}}}
    for size, shown in ((60_000, len(long_answer(60_000))), (100_000, 70_000)):

        def says(workspace: Workspace, args: tuple[str, ...], size: int = size) -> Completed:
            return answer(workspace, args) if args == ("greet",) else completed(long_answer(size))

        actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
        stage.play(actor=actor, says=says, change=change)
        assert shown - 20 <= len(results(actor.requests[1])[0]) <= shown


def test_a_long_list_of_tools_does_not_make_an_error_long(stage: Stage) -> None:
    tool: dict[str, JsonValue] = {"about": "x", "argument": "cmd", "grammar": "loopx-0.4"}
    names: dict[str, JsonValue] = {"t" * 300 + str(number): tool for number in range(20)}
    actor = ReplyActor([said("", called("x", name="nobody")), said("Bye.")])
    stage.play(actor=actor, change={"tool": names})
    (text,) = results(actor.requests[1])
    assert len(text.encode()) == 4_096
    assert text.endswith(" [cut]")


@case(18)
def test_kept_texts_are_no_part_of_the_state_of_the_workspace(stage: Stage, tmp_path: Path) -> None:
    """Killed after a text was kept, and gone on with: nothing of the workspace's state has changed by it."""
    driving, reader = Driving(stage, tmp_path / "episode"), Reader()
    killed: list[int] = []

    def reply(request: ModelRequest, context: TurnContext) -> Reply:
        if context.turn == 4 and not killed:
            killed.append(1)
            raise Killed
        return reader.reply(request, context)

    change: dict[str, JsonValue] = dict(MANY)
    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply] * 40), says=says_long, change=change)
    before = len(reader.parts)
    played = driving.drive(actor=ReplyActor([reply] * 40), says=says_long, change=change)
    assert played.receipt.outcome.name == "completed/final_response"
    assert "replayed_operations" in played.result.log.recovery
    head = reader.parts[0][: reader.parts[0].index("\n[")]
    assert head + "".join(_ON.sub("", part) for part in reader.parts[1:]) == long_answer()
    assert before == 2
    undisturbed = Driving(stage, tmp_path / "undisturbed")
    assert undisturbed.drive(actor=Reader().actor, says=says_long, change=change).receipt == played.receipt
    assert played.receipt.boundary.changes == ()


def test_a_state_that_is_put_back_leaves_kept_texts_where_they_are(stage: Stage, tmp_path: Path) -> None:
    """The plane goes from one state to another and back, to a state that was saved before the text was kept."""
    driving, shown = Driving(stage, tmp_path / "episode"), []

    def toggles(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        file = workspace.roots["runtime"] / "log" / "state"
        before = file.read_text() if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("b" if before == "a" else "a")
        return completed(long_answer()) if not before else answer(workspace, args)

    def reply(request: ModelRequest, context: TurnContext) -> Reply:
        if context.turn < 4:
            return said("", called("toy ask plane", id_=str(context.turn)))
        if context.turn == 5:
            shown.append(results(request)[-1])
            return said("Bye.")
        if not shown:
            shown.append("killed")
            raise Killed
        pointer = _POINTER.search(results(request)[0])
        assert pointer is not None
        return said("", read_more(pointer[1], pointer[2]))

    change: dict[str, JsonValue] = {**MANY, "kind": _without_once()}
    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply] * 9), says=toggles, change=change)
    played = driving.drive(actor=ReplyActor([reply] * 9), says=toggles, change=change)
    assert [step.result for step in played.receipt.steps] == ["succeeded"] * 4
    assert "characters follow. Go on with the cursor" in shown[1]


def test_killed_at_any_record_it_shows_and_reads_on_the_same(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change: dict[str, JsonValue] = {**SPILL, "limits": {"model_turns": 3}}
    write = JournalFile.write
    undisturbed = Driving(stage, tmp_path / "undisturbed")
    receipt = undisturbed.drive(actor=Reader().actor, says=says_long, change=change).receipt
    assert [step.result for step in receipt.steps] == ["succeeded"] * 3
    records = undisturbed.records()
    looked_at = {"op_receipt", "spilled", "call_result"}
    numbers = [number for number, record in enumerate(records, 1) if record.payload.kind in looked_at]
    for number in numbers[numbers.index(_first(records, "spilled")) - 1 :]:
        driving, count = Driving(stage, tmp_path / f"killed-{number}"), itertools.count(1)

        def killing(self: JournalFile, record: Record, at: int = number, count: Iterator[int] = count) -> None:
            write(self, record)
            if next(count) == at:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(JournalFile, "write", killing)
            with pytest.raises(Killed):
                driving.drive(actor=Reader().actor, says=says_long, change=change)
        assert driving.drive(actor=Reader().actor, says=says_long, change=change).receipt == receipt, number
        assert told(driving) == told(undisturbed) or number_of_attempts(driving) > 1, number


def _first(records: Sequence[Record], kind: str) -> int:
    return next(number for number, record in enumerate(records, 1) if record.payload.kind == kind)


def number_of_attempts(driving: Driving) -> int:
    """How often the model call that was cut off was made."""
    return max(record.payload.attempt for record in driving.records() if isinstance(record.payload, OpStarted))


@pytest.mark.parametrize("kept", [True, False])
def test_a_driver_that_goes_on_finds_the_text_kept_as_it_was_or_is_refused(
    stage: Stage, tmp_path: Path, *, kept: bool
) -> None:
    """Whether a text could be kept is no decision: a driver that goes on takes it from the journal."""
    driving, shown = Driving(stage, tmp_path / "episode"), []
    blocked = [not kept]

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return says_long(workspace, args)

    def opening(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",) and blocked[0]:
            (workspace.root / FOLDER).write_text("in the way")
        return says(workspace, args)

    def reply(request: ModelRequest, context: TurnContext) -> Reply:
        if context.turn == 1:
            return said("", called("toy ask plane"))
        shown.append(results(request)[0])
        if len(shown) == 1:
            raise Killed
        return said("Bye.")

    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply] * 9), says=opening, change=SPILL)
    played = driving.drive(actor=ReplyActor([reply] * 9), says=opening, change=SPILL)
    assert played.receipt.outcome.name == "completed/final_response"
    assert shown[0] == shown[1]
    assert ("was not kept" in shown[0]) is not kept


def test_a_kept_text_that_cannot_be_kept_again_is_no_world_to_go_on_in(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driving = Driving(stage, tmp_path / "episode")

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        if context.turn == 1:
            return said("", called("toy ask plane"))
        raise Killed

    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply] * 9), says=says_long, change=SPILL)
    monkeypatch.setattr("harness.observation.ArtifactFolder.write", lambda *_: "unwritable")
    played = driving.drive(actor=ReplyActor([reply] * 9), says=says_long, change=SPILL)
    assert played.receipt.outcome.name == "rejected/fixture_mismatch"
