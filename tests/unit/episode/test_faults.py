"""What a scenario lets go wrong goes wrong once, at its turn, whoever plays; what never does makes it prove nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from driving import REPLIES, Driving, Killed, kill_when
from numbered import case
from toy import Played, ReplyActor, Stage

from harness.errors import ProviderError
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply
from harness.schema.script import Action

SATISFIED = ("completed/scenario_satisfied", "pass", None)


def with_fault(kind: str, at: int, **more: JsonValue) -> dict[str, JsonValue]:
    return {"fault": [{"kind": kind, "at": at, **more}], "limits": {"deadline_s": 900.0}}


def live(stage: Stage, change: dict[str, JsonValue]) -> tuple[Played, ReplyActor]:
    actor = ReplyActor(list(REPLIES))
    return stage.play(actor=actor, change=change), actor


@pytest.mark.parametrize(
    ("kind", "outcome", "asked"),
    [
        ("refuse", "failed/model_refusal", 1),
        ("truncate", "failed/model_output_truncated", 2),
        ("overflow", "failed/model_error", 1),
        ("no_usage", "completed/scenario_satisfied", 3),
        ("cancel", "cancelled/cancellation_requested", 2),
    ],
)
def test_a_fault_hits_its_turn(stage: Stage, kind: str, outcome: str, asked: int) -> None:
    played, actor = live(stage, with_fault(kind, 2))
    assert played.receipt.outcome.name == outcome
    assert len(actor.requests) == asked
    if kind == "no_usage":
        assert [row.usage is None for row in played.result.log.attempts] == [False, True, False]


def test_a_live_actor_that_lost_its_connection_is_asked_again_and_loses_it_no_more(stage: Stage) -> None:
    played, actor = live(stage, with_fault("disconnect", 2))
    assert (played.ending, len(actor.requests)) == (SATISFIED, 3)
    assert [(row.attempt, row.error) for row in played.result.log.attempts] == [
        (1, None),
        (1, "connection_lost"),
        (2, None),
        (1, None),
    ]


def test_a_delay_is_waited_and_nothing_else_changes(stage: Stage) -> None:
    played, _ = live(stage, with_fault("delay", 1, seconds=2.0))
    assert (played.ending, round(sum(stage.pauses), 6)) == (SATISFIED, 2.0)


def test_a_call_that_hangs_ends_with_its_own_time(stage: Stage) -> None:
    change = with_fault("hang", 1)
    change["limits"] = {"deadline_s": 900.0, "model_call_s": 1.0, "model_attempts": 1}
    played, actor = live(stage, change)
    assert actor.requests == []
    assert played.receipt.verdict in {"pending", "not_judged"}


def test_a_script_meets_the_same_faults(stage: Stage) -> None:
    assert stage.play(change=with_fault("refuse", 2)).receipt.outcome.name == "failed/model_refusal"
    assert stage.play(change=with_fault("disconnect", 1)).receipt.outcome.name == "failed/model_error"


def test_an_answer_that_is_to_be_streamed_is_asked_for_as_a_stream_once(stage: Stage) -> None:
    seen: list[tuple[int, bool]] = []

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        seen.append((context.turn, context.streamed))
        if context.streamed:
            raise ProviderError("overloaded", "not now", retryable=True)
        return REPLIES[context.turn - 1]

    played = stage.play(actor=ReplyActor([reply] * 4), change=with_fault("stream", 2))
    assert (played.ending, seen) == (SATISFIED, [(1, False), (2, True), (2, False), (3, False)])


def test_a_script_streams_where_it_is_told_to_and_says_the_same(stage: Stage) -> None:
    plain = stage.play().receipt
    assert stage.play(change=with_fault("stream", 2)).receipt.steps == plain.steps
    cut: JsonValue = 'data: {"choices": [{"index": 0, "delta": {"content": "ab"}}]}\n\n'
    script = ("toy ask plane", Action(raw_response=cut))
    broken = stage.play(script, change=with_fault("stream", 2)).receipt
    assert broken.outcome.name != plain.outcome.name
    assert broken.verdict != "pass"


@case(202)
@pytest.mark.parametrize("kind", ["refuse", "no_usage", "stream"])
def test_a_fault_that_never_fires_makes_its_episode_prove_nothing(stage: Stage, kind: str) -> None:
    played, _ = live(stage, with_fault(kind, 4))
    assert played.ending == ("completed/scenario_satisfied", "not_judged", "fault_never_fired")
    assert played.receipt.cause == "scenario"


def test_a_fault_hits_once_whoever_goes_on_with_the_episode(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = with_fault("disconnect", 2)
    whole = Driving(stage, tmp_path / "whole").drive(change=change)
    for number, (kind, operation) in enumerate(
        [("op_planned", "turn-2/main"), ("op_started", "turn-2/main"), ("op_receipt", "turn-2/main"), ("closed", None)]
    ):
        driving = Driving(stage, tmp_path / str(number))
        with monkeypatch.context() as patch:
            kill_when(patch, kind, operation=operation)
            with pytest.raises(Killed):
                driving.drive(change=change)
        played = driving.drive(change=change)
        assert (played.receipt, played.ending) == (whole.receipt, SATISFIED)
        assert driving.provider.asked == [1, 2, 3]


def test_an_episode_that_a_fault_cancelled_is_played_on_by_who_goes_on_with_it(stage: Stage, tmp_path: Path) -> None:
    change, driving, go = with_fault("cancel", 2), Driving(stage, tmp_path / "episode"), threading.Event()

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        driving.provider.asked.append(context.turn)
        if context.turn == 2:
            go.wait()
            raise ProviderError("connection_lost", "it was given up")
        return REPLIES[context.turn - 1]

    first = driving.drive(actor=ReplyActor([reply] * 2), change=change)
    go.set()
    assert first.receipt.outcome.name == "cancelled/cancellation_requested"
    assert driving.drive(change=change).ending == SATISFIED
    assert driving.provider.asked == [1, 2, 2, 3]


@pytest.mark.parametrize(("strict", "verdict"), [("observe", "pass"), ("fail", "not_judged")])
def test_answers_of_a_script_that_nobody_asked_for(stage: Stage, strict: str, verdict: str) -> None:
    script = ("toy ask plane", "cat {named}", "date")
    played = stage.play(script, change={"strict": {"leftovers": strict}})
    assert played.receipt.verdict == verdict
    assert played.receipt.failure_code == (None if verdict == "pass" else "script_left_over")
    assert stage.play(change={"strict": {"leftovers": strict}}).receipt.verdict == "pass"
