"""An operation of unknown outcome waits for a decision; the first one counts, and the next driver does it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from numbered import case
from toy import Played, ReplyActor, Stage, answer, called, completed, said

from harness.episode import DurablePlace, decide, deciding, give_answer
from harness.errors import DecisionRefusedError, OpeningRefusedError
from harness.journal import JournalFile, Lease, fold
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, Usage
from harness.schema.process import Completed
from harness.schema.record import Closed, Decided, LateUsage, Record, Resumed, Suspended
from harness.schema.run import LateRow
from harness.schema.tool import ToolCall
from harness.workspace import Workspace

SEVEN = Usage(input_tokens=5, output_tokens=2, cache_read_tokens=0)
REPLIES = (
    said("Asking.", called("toy ask plane", id_="1"), usage=SEVEN),
    said("Reading.", called("cat notes/a.json", id_="2"), usage=SEVEN),
)
FOUND = completed('{"target": "notes/a.json", "stamp": 17}')

Reply_ = Callable[[ModelRequest, TurnContext], Reply]


class Waiting:
    """Drivers of one episode on disk, a live model that counts what it was asked, a plane that counts its calls."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage, self.place = stage, DurablePlace(folder, "", sync=False)
        self.asked: list[int] = []
        self.calls = 0
        self.go = threading.Event()

    def drive(self, reply: Reply_ | None = None, *, hangs: bool = False) -> Played:
        """Open the episode and run it until it is over or waits."""

        def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
            if args == ("greet",):
                return answer(workspace, args)
            self.calls += 1
            log = workspace.roots["runtime"] / "log" / "calls"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(f"{self.calls}\n")
            return completed("", timed_out=True) if hangs else FOUND

        place = replace(self.place, token=f"driver{len(self.asked)}{hangs}{self.calls}")
        return self.stage.play(
            actor=ReplyActor([reply or self.answers] * 9),
            says=says,
            change={"limits": {"model_call_s": 0.1}},
            durable=place,
        )

    def answers(self, _: ModelRequest, context: TurnContext) -> Reply:
        """At once."""
        self.asked.append(context.turn)
        return REPLIES[context.turn - 1]

    def late(self, _: ModelRequest, context: TurnContext) -> Reply:
        """When it is let go, which is after its owner gave it up."""
        self.asked.append(context.turn)
        self.go.wait()
        return REPLIES[context.turn - 1]

    def land(self) -> None:
        """The late reply arrives and is accounted for."""
        self.go.set()
        assert self.stage.detached.settle(30.0)
        assert self.stage.late.drain(30.0)

    def records(self) -> tuple[Record, ...]:
        """What is on disk."""
        file = JournalFile(self.place.folder / "journal.jsonl")
        file.close()
        return file.records

    def decide(self, decision: str, result: Completed | None = None) -> Decided:
        """As a host does."""
        return decide(self.place, self.stage.clock, decision, result=result)  # type: ignore[arg-type]


@pytest.fixture
def waiting(stage: Stage, tmp_path: Path) -> Waiting:
    return Waiting(stage, tmp_path / "episode")


@pytest.fixture
def model_call(waiting: Waiting) -> Waiting:
    """The model did not answer in time; its reply is still to come."""
    played = waiting.drive(waiting.late)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("suspended/reconciliation_required", "model_call")
    assert played.receipt.verdict == "pending"
    return waiting


@pytest.fixture
def tool_effect(waiting: Waiting) -> Waiting:
    """The control plane did not answer in time."""
    played = waiting.drive(hangs=True)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("suspended/reconciliation_required", "tool_effect")
    return waiting


@case(229)
def test_a_reply_that_came_late_answers_the_call_once_somebody_says_so(model_call: Waiting) -> None:
    stage = model_call.stage
    assert len(stage.detached) == 1
    assert fold(model_call.records()).total_tokens.value is None
    model_call.land()
    assert len(stage.detached) == 0
    assert model_call.records()[-1].payload == LateUsage(row="turn-1/main:attempt:1", usage=SEVEN)
    assert fold(model_call.records()).total_tokens.value == 7
    assert [(row.operation, row.usage) for row in stage.late_rows] == [("turn-1/main", SEVEN)]
    model_call.decide("replay_success")
    played = model_call.drive()
    assert played.ending == ("completed/scenario_satisfied", "pass", None)
    assert model_call.asked == [1, 2]  # the first call was paid for once
    assert [(row.attempt, row.status, row.usage) for row in played.result.log.attempts] == [
        (1, "completed", SEVEN),
        (1, "completed", SEVEN),
    ]
    assert fold(model_call.records()).total_tokens.value == 14
    assert "late_usage" in played.result.log.recovery


def test_a_late_reply_is_found_where_it_was_put_though_no_record_tells_of_it(model_call: Waiting) -> None:
    with Leased(model_call):
        model_call.land()
    assert not any(isinstance(record.payload, LateUsage) for record in model_call.records())
    model_call.decide("replay_success")
    assert model_call.drive().receipt.verdict == "pass"
    assert fold(model_call.records()).total_tokens.value == 14


class Leased:
    """Another driver has the episode."""

    def __init__(self, waiting: Waiting) -> None:
        self._lease = Lease(waiting.place.folder, waiting.stage.clock, "another")

    def __enter__(self) -> None:
        """It has it already."""

    def __exit__(self, *_: object) -> None:
        self._lease.release()


def test_a_reply_that_never_came_cannot_be_taken(model_call: Waiting) -> None:
    with pytest.raises(DecisionRefusedError, match="no reply to the model call came in"):
        model_call.decide("replay_success")
    model_call.land()


def test_a_call_may_be_made_again_and_that_is_flagged(model_call: Waiting) -> None:
    model_call.decide("retry")
    played = model_call.drive()
    assert (played.receipt.verdict, model_call.asked) == ("pass", [1, 1, 2])
    assert "duplicate_risk" in played.result.log.recovery
    assert [(row.attempt, row.status) for row in played.result.log.attempts] == [
        *((1, "unknown"), (2, "completed"), (1, "completed")),
    ]
    assert played.receipt.counters.model_turns == 2
    model_call.land()


def test_a_call_may_be_said_to_have_failed(model_call: Waiting) -> None:
    model_call.decide("record_failure")
    played = model_call.drive()
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("failed/model_error", "transport")
    assert model_call.asked == [1]
    model_call.land()


@case(173)
@pytest.mark.parametrize("what", ["model_call", "tool_effect"])
def test_an_episode_that_is_given_up_is_closed(request: pytest.FixtureRequest, what: str) -> None:
    waiting: Waiting = request.getfixturevalue(what)
    asked = list(waiting.asked)
    waiting.decide("abort")
    played = waiting.drive()
    assert played.ending == ("failed/operator_abort", "not_judged", "operator_abort")
    assert any(isinstance(record.payload, Closed) for record in waiting.records())
    assert waiting.asked == asked
    waiting.land()


@case(174)
def test_the_first_decision_counts(tool_effect: Waiting) -> None:
    tool_effect.decide("abort")
    before = tool_effect.records()
    for second in ("retry", "abort", "defer"):
        with pytest.raises(DecisionRefusedError, match="decided already: abort"):
            tool_effect.decide(second)
    assert tool_effect.records() == before


def test_a_deferred_decision_is_still_to_be_taken(tool_effect: Waiting) -> None:
    tool_effect.decide("defer")
    assert tool_effect.drive().receipt.verdict == "pending"
    tool_effect.decide("retry")
    assert tool_effect.drive().receipt.verdict == "pass"


@case(165)
def test_an_answer_that_is_known_is_taken_and_the_plane_is_not_asked(tool_effect: Waiting) -> None:
    assert tool_effect.calls == 1
    tool_effect.decide("replay_success", FOUND)
    played = tool_effect.drive()
    assert played.ending == ("completed/scenario_satisfied", "pass", None)
    assert (tool_effect.calls, tool_effect.asked) == (1, [1, 2])
    assert [step.result for step in played.receipt.steps] == ["succeeded", "succeeded"]
    assert len(played.receipt.boundary.changes or ()) == 3  # what the call wrote is there


def test_half_a_character_in_an_answer_that_is_known_is_taken_as_it_is(tool_effect: Waiting) -> None:
    tool_effect.decide("replay_success", completed(r'{"target": "notes/a.json", "\ud800": "\udc00"}'))
    assert tool_effect.drive().ending == ("completed/scenario_satisfied", "pass", None)
    assert tool_effect.calls == 1


def test_an_answer_must_be_told(tool_effect: Waiting) -> None:
    with pytest.raises(DecisionRefusedError, match="say what the control plane answered"):
        tool_effect.decide("replay_success")


def test_a_tool_may_be_run_again_and_hang_again(tool_effect: Waiting) -> None:
    tool_effect.decide("retry")
    assert tool_effect.drive(hangs=True).receipt.verdict == "pending"
    assert tool_effect.calls == 2
    tool_effect.decide("retry")
    played = tool_effect.drive()
    assert (played.receipt.verdict, tool_effect.calls, tool_effect.asked) == ("pass", 3, [1, 2])


def test_a_tool_may_be_said_to_have_failed(tool_effect: Waiting) -> None:
    tool_effect.decide("record_failure")
    played = tool_effect.drive()
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("failed/tool_error", "not_judged")
    assert tool_effect.calls == 1


def test_an_episode_that_waits_is_not_closed_and_is_the_same_when_it_is_opened_again(tool_effect: Waiting) -> None:
    before = tool_effect.records()
    assert isinstance(before[-1].payload, Suspended)
    first, second = tool_effect.drive(hangs=True).receipt, tool_effect.drive(hangs=True).receipt
    assert (first, first.verdict, len(first.boundary.changes or ())) == (second, "pending", 3)
    assert (tool_effect.records(), tool_effect.calls) == (before, 1)


def test_only_what_waits_can_be_decided(waiting: Waiting) -> None:
    with pytest.raises(DecisionRefusedError, match="does not wait"):
        waiting.decide("retry")
    assert waiting.drive().receipt.verdict == "pass"
    with pytest.raises(DecisionRefusedError, match="does not wait"):
        waiting.decide("retry")


def test_nobody_decides_about_an_episode_that_is_driven(tool_effect: Waiting) -> None:
    with Leased(tool_effect), pytest.raises(DecisionRefusedError, match="another driver"):
        tool_effect.decide("abort")


def test_a_row_that_comes_once_its_episode_is_gone_is_told_beside_it(waiting: Waiting, stage: Stage) -> None:
    waiting.drive(waiting.late)
    for path in sorted(waiting.place.folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    waiting.place.folder.rmdir()
    waiting.land()
    assert not waiting.place.folder.exists()
    assert stage.late_rows == []  # the text could not be kept, so the call ended in a failure of ours


def test_the_row_names_the_receipt_that_it_belongs_to(model_call: Waiting) -> None:
    model_call.land()
    (row,) = model_call.stage.late_rows
    assert isinstance(row, LateRow)
    assert json.loads(row.model_dump_json())["attempt"] == 1
    model_call.decide("abort")
    assert model_call.drive().receipt.key == row.key


def test_the_time_that_it_waited_does_not_count(tool_effect: Waiting) -> None:
    tool_effect.stage.clock.advance(3600)
    tool_effect.decide("retry")
    tool_effect.stage.clock.advance(3600)
    assert tool_effect.drive().receipt.verdict == "pass"
    resumed = [record.payload.credited_s for record in tool_effect.records() if isinstance(record.payload, Resumed)]
    assert resumed == [pytest.approx(7200)]


def test_an_episode_that_is_held_for_a_decision_is_written_only_when_that_is_recorded(tool_effect: Waiting) -> None:
    place, clock = tool_effect.place, tool_effect.stage.clock
    before, texts = tool_effect.records(), sorted(path.name for path in (place.folder / "spool").iterdir())
    held = deciding(place, clock, "replay_success", result=FOUND)
    with held, pytest.raises(DecisionRefusedError, match="lease_held"):
        tool_effect.decide("abort")
    assert tool_effect.records() == before
    assert sorted(path.name for path in (place.folder / "spool").iterdir()) == texts
    with deciding(place, clock, "replay_success", result=FOUND) as record:
        record()
    assert tool_effect.drive().receipt.verdict == "pass"


def test_who_answers_what_is_to_be_decided_and_decides_what_is_to_be_answered_is_told_so(
    tool_effect: Waiting, stage: Stage, tmp_path: Path
) -> None:
    with pytest.raises(OpeningRefusedError, match="waits for a decision, not for an answer"):
        give_answer(tool_effect.place, tool_effect.stage.clock, "Yes.")
    place = DurablePlace(tmp_path / "other", "driver", sync=False)
    question: dict[str, JsonValue] = {"code": "decision_required", "text": "May I?"}
    asks = ToolCall(id="1", name="request_user_input", arguments_raw=json.dumps(question), arguments=question)
    stage.play(actor=ReplyActor([said("", asks)]), change={"control": {"offer": ["request_user_input"]}}, durable=place)
    with pytest.raises(DecisionRefusedError, match="waits for an answer, not for a decision"):
        decide(place, stage.clock, "abort")
