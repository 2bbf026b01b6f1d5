"""Loops in whole episodes: what repeats ends, what moves goes on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from driving import Driving, Killed, kill_when
from numbered import case
from toy import SCENARIO, Played, ReplyActor, Stage, answer, called, completed, said

from harness.journal import Journal
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, ToolMessage
from harness.schema.process import Completed
from harness.schema.record import CallResulted, TurnCommitted
from harness.schema.tool import ToolCall
from harness.workspace import Workspace

PROSE = "I will look at the plane again and then decide what is to be done about it. " * 8


def polling(*rules: JsonValue, detectors: JsonValue = None, turns: int = 12) -> dict[str, JsonValue]:
    """The toy scenario with a call that may come again and again."""
    kinds = SCENARIO["kind"]
    assert isinstance(kinds, list)
    poll: JsonValue = {"name": "poll", "call": ["poll plane"], "errors": list(rules)}
    return {
        "kind": [*kinds, poll],
        "call": {"allow": {"poll plane": ["fast", "slow"]}, "flags": ["fast", "slow"]},
        "limits": {"model_turns": turns},
        "detectors": detectors or {},
    }


BUSY: JsonValue = {"exit": 75, "class": "recoverable", "code": "busy"}
AWAY: JsonValue = {"exit": 76, "class": "recoverable", "code": "away"}

Says = Callable[[Workspace, tuple[str, ...]], Completed]


def answering(results: Iterable[Completed]) -> Says:
    """A plane that gives these, one for each poll."""
    left = iter(results)
    return lambda workspace, args: next(left) if "poll" in args else answer(workspace, args)


def busy(number: int = 0) -> Completed:
    return completed(f'{{"busy": {number}}}', 75)


def ok(number: int = 0) -> Completed:
    return completed(f'{{"at": {number}}}')


def turns(*commands: str | tuple[str, ...], text: str = "") -> list[Reply]:
    """A reply for each command; a tuple is a batch."""
    numbers = itertools.count()
    batches = [(one,) if isinstance(one, str) else one for one in commands]
    return [said(text, *(called(command, id_=f"c{next(numbers)}") for command in batch)) for batch in batches]


def play(
    stage: Stage,
    replies: Iterable[Reply],
    results: Iterable[Completed] = (),
    change: dict[str, JsonValue] | None = None,
    journal: Journal | None = None,
) -> tuple[Played, ReplyActor]:
    actor = ReplyActor([*replies, said("I give up.")])
    change = polling(BUSY, AWAY) if change is None else change
    return stage.play(actor=actor, says=answering(results), change=change, journal=journal), actor


def ended(played: Played) -> tuple[str, str | None]:
    return played.receipt.outcome.name, played.receipt.outcome.detail


def shown(actor: ReplyActor) -> list[str]:
    """The results that the actor was shown."""
    return [message.text for message in actor.requests[-1].messages if isinstance(message, ToolMessage)]


GAVE_UP = ("completed/final_response", "inline")
LOOP = ("failed/tool_loop_detected", "exec:busy:3")
POLL = "toy poll plane"


@case(112)
def test_the_same_typed_error_for_the_third_time_ends_the_episode_at_once(stage: Stage) -> None:
    journal = Journal()
    played, actor = play(stage, turns(POLL, POLL, (POLL, "ls")), [busy()] * 3, journal=journal)
    assert ended(played) == LOOP
    assert (played.receipt.verdict, played.receipt.cause) == ("fail", "model")
    assert len(shown(actor)) == 2
    assert [step.result for step in played.receipt.steps] == ["error_recoverable"] * 3 + ["skipped_due_to_stop"]
    kept = [record.payload for record in journal.records if isinstance(record.payload, CallResulted)]
    assert len({one.marks.repeats for one in kept[:3] if one.marks}) == 1


FAULTS = [
    pytest.param({"kind": "delay", "seconds": 1}, id="delay"),
    pytest.param({"kind": "disconnect"}, id="disconnect"),
    pytest.param({"kind": "no_usage"}, id="no_usage"),
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_fault_of_the_schedule_neither_counts_as_a_repetition_nor_resets_one(
    stage: Stage, fault: dict[str, JsonValue], at: int
) -> None:
    change: dict[str, JsonValue] = {**polling(BUSY), "fault": [{**fault, "at": at}]}
    played, actor = play(stage, turns(*[POLL] * 3), [busy()] * 3, change)
    assert ended(played) == LOOP
    assert (len(actor.requests), len(played.receipt.steps)) == (3, 3)
    assert len(played.result.log.attempts) == 3 + (fault["kind"] == "disconnect")

    played, _ = play(stage, turns(*[POLL] * 2), [busy()] * 2, change)
    assert ended(played) == GAVE_UP


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_schedule_is_no_turn_without_progress(stage: Stage, fault: dict[str, JsonValue]) -> None:
    for number, end in ((3, ("failed/no_progress", "same_action")), (2, GAVE_UP)):
        change: dict[str, JsonValue] = {**polling(), "fault": [{**fault, "at": 2}]}
        played, _ = play(stage, turns(*[POLL] * number), [ok()] * number, change)
        assert ended(played) == end


def test_three_of_them_in_one_batch_are_a_loop_too(stage: Stage) -> None:
    played, actor = play(stage, turns((POLL, POLL, POLL, POLL)), [busy()] * 4)
    assert ended(played) == LOOP
    assert len(actor.requests) == 1
    assert [step.executed for step in played.receipt.steps] == [True, True, True, False]


@case(113)
def test_other_arguments_start_the_count_again(stage: Stage) -> None:
    other = f"{POLL} --fast"
    played, _ = play(stage, turns(POLL, POLL, other, POLL, POLL), [busy()] * 5)
    assert ended(played) == GAVE_UP


def test_another_code_starts_the_count_again(stage: Stage) -> None:
    played, _ = play(stage, turns(*[POLL] * 5), [busy(), busy(), completed("{}", 76), busy(), busy()])
    assert ended(played) == GAVE_UP


@case(114)
def test_a_success_resets_the_count(stage: Stage) -> None:
    played, _ = play(stage, turns(*[POLL] * 5), [busy(), busy(), ok(), busy(), busy()])
    assert ended(played) == GAVE_UP


@case(115)
def test_the_text_of_the_error_is_no_part_of_what_repeats(stage: Stage) -> None:
    results = [completed(f"busy since {word}", 75) for word in ("one", "two", "three")]
    assert ended(play(stage, turns(*[POLL] * 3), results)[0]) == LOOP


@pytest.mark.parametrize(
    ("call", "detail"),
    [
        (called("ls", name="other"), "-:unknown_tool:3"),
        (called("find . -exec rm x"), "exec:denied_policy:3"),
        (ToolCall(id="", name="exec", arguments_raw="{}", arguments={"cmd": 1}), "exec:invalid_arguments:3"),
    ],
)
def test_a_refused_call_is_a_typed_error(stage: Stage, call: ToolCall, detail: str) -> None:
    replies = [said("", replace(call, id=str(number))) for number in range(3)]
    kinds = SCENARIO["kind"]
    assert isinstance(kinds, list)
    change: dict[str, JsonValue] = {"kind": [*kinds, {"name": "any", "tool": "exec"}]}
    played, _ = play(stage, replies, change=change)
    assert ended(played) == ("failed/tool_loop_detected", detail)


@case(120)
def test_the_same_calls_with_the_same_results_end_the_next_turn(stage: Stage) -> None:
    journal = Journal()
    played, actor = play(stage, turns(*[POLL] * 9), [ok()] * 9, journal=journal)
    assert ended(played) == ("failed/no_progress", "same_action")
    assert (played.receipt.verdict, played.receipt.cause, played.receipt.failure_code) == (
        "fail",
        "model",
        "no_progress",
    )
    assert len(actor.requests) == 3
    assert sum(isinstance(record.payload, TurnCommitted) for record in journal.records) == 3


def test_it_is_looked_at_before_the_turns_are_counted(stage: Stage) -> None:
    played, _ = play(stage, turns(*[POLL] * 3), [ok()] * 3, polling(turns=3))
    assert ended(played) == ("failed/no_progress", "same_action")


@case(121)
def test_a_poll_whose_answer_moves_is_progress(stage: Stage) -> None:
    played, _ = play(stage, turns(*[POLL] * 10), map(ok, range(10)))
    assert ended(played) == GAVE_UP


def test_what_always_moves_is_no_progress(stage: Stage) -> None:
    moving = (completed(f'{{"at": 1, "stamp": {number}}}') for number in range(9))
    assert ended(play(stage, turns(*[POLL] * 9), moving)[0]) == ("failed/no_progress", "same_action")


def test_a_batch_is_compared_as_a_whole(stage: Stage) -> None:
    played, _ = play(stage, turns(*[(POLL, "ls")] * 4), map(ok, range(4)))
    assert ended(played) == GAVE_UP
    played, _ = play(stage, turns(*[(POLL, "ls")] * 4), [ok()] * 4)
    assert ended(played) == ("failed/no_progress", "same_action")


def unreadable(*numbers: int) -> list[Reply]:
    calls = [
        ToolCall(id=str(one), name="exec", arguments_raw="{" * one, arguments=None, fault="malformed_arguments")
        for one in numbers
    ]
    return [said("", call) for call in calls]


@case(122)
def test_two_turns_without_any_call_that_can_be_parsed_end_the_next(stage: Stage) -> None:
    played, actor = play(stage, unreadable(1, 2))
    assert ended(played) == ("failed/no_progress", "malformed")
    assert len(actor.requests) == 2


def test_one_call_that_can_be_parsed_is_progress(stage: Stage) -> None:
    mixed = [reply.model_copy(update={"calls": (*reply.calls, called("ls", id_=f"x{at}"))})
             for at, reply in enumerate(unreadable(1, 2, 3))]  # fmt: skip
    assert ended(play(stage, mixed)[0]) == GAVE_UP
    assert ended(play(stage, [*unreadable(1), *turns("ls"), *unreadable(2)])[0]) == GAVE_UP


@case(123)
def test_errors_that_differ_in_numbers_only_are_similar(stage: Stage) -> None:
    played, actor = play(stage, turns("ls job-17/out", "ls job-18/out"))
    assert ended(played) == ("failed/no_progress", "similar_error")
    assert len(actor.requests) == 2


def test_errors_that_differ_in_words_are_not(stage: Stage) -> None:
    assert ended(play(stage, turns("ls here", "ls there"))[0]) == GAVE_UP


def test_any_success_in_between_is_progress(stage: Stage) -> None:
    assert ended(play(stage, turns("ls job-1", ("ls job-2", "pwd"), "ls job-3"))[0]) == GAVE_UP


@case(124)
@pytest.mark.parametrize("text", ["HTTP 503, try again", "Rate limit reached", "connection reset by peer"])
def test_an_error_that_waiting_may_cure_is_not_similar(stage: Stage, text: str) -> None:
    results = [completed(text, 1), completed(text, 1)]
    assert ended(play(stage, turns(POLL, POLL), results, polling())[0]) == GAVE_UP
    results = [completed("broken", 1), completed("broken", 1)]
    assert ended(play(stage, turns(POLL, POLL), results, polling())[0]) == ("failed/no_progress", "similar_error")


@case(125)
@pytest.mark.parametrize(("length", "ending"), [(500, ("failed/no_progress", "long_text")), (300, GAVE_UP)])
def test_near_identical_prose_for_the_third_time_ends_the_next_turn(
    stage: Stage, length: int, ending: tuple[str, str | None]
) -> None:
    texts = [f"{number} {PROSE}"[:length] for number in range(3)]
    replies = [said(text, called(f"toy poll plane{more}", id_=text[0])) for text, more in zip(
        texts, ("", " --fast", " --slow"), strict=True)]  # fmt: skip
    played, _ = play(stage, replies, map(ok, range(3)))
    assert ended(played) == ending


def test_short_replies_in_between_neither_count_nor_reset(stage: Stage) -> None:
    said_again = [PROSE, "Hm.", PROSE, "", PROSE]
    replies = [said(text, called(POLL, id_=str(at))) for at, text in enumerate(said_again)]
    assert ended(play(stage, replies, map(ok, range(5)))[0]) == ("failed/no_progress", "long_text")
    other = "Nothing that was said before is said here, and nobody would take one for the other. " * 6
    replies = [said(text, called(POLL, id_=str(at))) for at, text in enumerate([PROSE, PROSE, other, PROSE])]
    assert ended(play(stage, replies, map(ok, range(4)))[0]) == GAVE_UP


@pytest.mark.parametrize(
    ("name", "replies", "results"),
    [
        ("repetition", turns(*[POLL] * 6), [busy(number) for number in range(6)]),
        ("same_action", turns(*[POLL] * 6), [ok()] * 6),
        ("malformed", unreadable(1, 2, 3, 4), []),
        ("similar_error", turns("ls job-1", "ls job-2", "ls job-3", "ls job-4"), []),
        ("long_text", turns("ls", "pwd", "date", "ls", text=PROSE), []),
    ],
)
def test_a_scenario_sets_a_threshold_or_turns_a_detector_off(
    stage: Stage, name: str, replies: list[Reply], results: list[Completed]
) -> None:
    for limit in (2, 4):
        played, actor = play(stage, replies, results, polling(BUSY, detectors={name: limit}))
        assert ended(played) in {("failed/no_progress", name), ("failed/tool_loop_detected", f"exec:busy:{limit}")}
        assert len(actor.requests) == limit
    assert ended(play(stage, replies, results, polling(BUSY, detectors={name: False}))[0]) == GAVE_UP


def test_an_ending_of_the_scenario_comes_before_any_loop(stage: Stage) -> None:
    played, _ = play(stage, turns("toy ask plane", "toy ask plane"))
    assert ended(played) == ("failed/scenario_violation", "asked_twice")


Loop = tuple[list[Completed], tuple[str, str]]


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param(([busy()] * 3, LOOP), marks=case(116)),
        pytest.param(([ok()] * 3, ("failed/no_progress", "same_action")), marks=case(126)),
        pytest.param(([completed("no", 9)] * 2, ("failed/no_progress", "similar_error")), marks=case(126)),
    ],
    ids=lambda loop: str(loop[1][1]),
)
@pytest.mark.parametrize("at", ["op_started turn-2/call-1", "op_receipt turn-2/call-1", "op_planned last"])
def test_a_streak_goes_on_where_a_killed_driver_left_it(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loop: Loop, at: str
) -> None:
    """A result that was taken over is observed once: neither lost nor counted twice."""
    driving = Driving(stage, tmp_path / "episode")
    results, ending = loop
    kind, operation = at.split()
    heard: list[int] = []
    left = iter([*results, ok(7), ok(8)])

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        heard.append(context.turn)
        return turns(*[POLL] * 9)[context.turn - 1]

    with monkeypatch.context() as patch:
        kill_when(patch, kind, operation=operation.replace("last", f"turn-{len(results)}/main"))
        with pytest.raises(Killed):
            driving.drive(actor=ReplyActor([reply] * 9), says=answering(left), change=polling(BUSY))
    played = driving.drive(actor=ReplyActor([reply] * 9), says=answering(left), change=polling(BUSY))
    assert ended(played) == ending
    assert heard == list(range(1, len(results) + 1))


def claimed(number: int, **fields: JsonValue) -> Reply:
    """A claim to be done, where nothing was done."""
    claim = json.dumps({"summary": "It is done.", "completion": ["Ran the tests"], **fields})
    arguments = json.loads(claim)
    return said("", ToolCall(id=f"f{number}", name="finalize", arguments_raw=claim, arguments=arguments))


@case(127)
def test_a_claim_that_is_refused_again_for_the_same_reason_ends_the_next_turn(stage: Stage) -> None:
    change: dict[str, JsonValue] = {**polling(), "control": {"offer": ["finalize"]}}
    played, actor = play(stage, map(claimed, range(9)), change=change)
    assert ended(played) == ("failed/no_progress", "similar_error")
    assert len(actor.requests) == 2


@case(126)
def test_an_answer_of_a_person_starts_the_streaks_again(stage: Stage) -> None:
    question = json.dumps({"code": "information_required", "text": "Which one?"})
    ask = ToolCall(id="q", name="request_user_input", arguments_raw=question, arguments=json.loads(question))
    control: JsonValue = {"offer": ["request_user_input"], "answers": ["The first one."]}
    failing = turns("ls job-1", "ls job-2")
    played, _ = play(stage, [failing[0], said("", ask), failing[1]], change={**polling(), "control": control})
    assert ended(played) == GAVE_UP
    assert ended(play(stage, failing, change=polling())[0]) == ("failed/no_progress", "similar_error")


@case(125)
def test_replies_without_a_call_are_compared_too(stage: Stage) -> None:
    change: dict[str, JsonValue] = {**polling(), "control": {"no_call": "continue"}}
    replies = [said(PROSE), said(PROSE, called("ls")), said(PROSE)]
    assert ended(play(stage, replies, change=change)[0]) == ("failed/no_progress", "long_text")
