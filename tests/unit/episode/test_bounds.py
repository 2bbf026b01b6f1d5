"""Cancellation is never taken back, and every bound ends the episode by name."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from numbered import case
from toy import ReplyActor, Stage, answer, called, completed, said

from harness import command
from harness.clock import FakeClock
from harness.episode import DurablePlace
from harness.episode.callers import Callers
from harness.episode.latch import Bounds
from harness.errors import ProviderError
from harness.journal import Journal, JournalFile, Lease
from harness.ports import TurnContext
from harness.schema.command import GrammarContext, ParsedCommand
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import Completed, ProcessCommand
from harness.schema.record import OpReceipt, Record
from harness.workspace import Workspace


@case(23)
def test_cancelled_before_the_start_asks_nobody(stage: Stage) -> None:
    actor = ReplyActor([])
    played = stage.play(actor=actor, cancelled=lambda: True)
    assert played.ending == ("cancelled/cancellation_requested", "not_judged", "cancellation_requested")
    assert actor.requests == []


@case(25)
def test_the_latch_stays_shut_when_the_flag_is_cleared() -> None:
    answers = iter([False, True, False])
    bounds = Bounds(lambda: next(answers), FakeClock(), 1.0)
    assert [bounds.cancelled(), bounds.cancelled(), bounds.cancelled()] == [False, True, True]


@case(26)
def test_a_probe_that_raises_is_no_cancellation_and_is_told_once(stage: Stage) -> None:
    def broken() -> bool:
        raise OSError("secret")

    played = stage.play(cancelled=broken)
    assert played.receipt.verdict == "pass"
    assert played.result.log.remarks == ("whether to stop could not be asked (OSError); that is no cancellation",)


@case(36)
def test_a_source_that_is_closed_without_a_word_is_no_cancellation(stage: Stage) -> None:
    source = io.StringIO()

    def probe() -> bool:
        return source.read() == "stop"

    assert not probe()
    source.close()
    played = stage.play(cancelled=probe)
    assert (played.receipt.verdict, len(played.result.log.remarks)) == ("pass", 1)


@case(27)
def test_a_call_that_is_cancelled_before_it_began_is_not_made(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Callable[[], None]] = []

    class Late(Callers):
        """Gets no thread before the owner of the call gives up."""

        def call(self, call: Callable[[], None]) -> None:
            calls.append(call)

    flag, journal, actor = threading.Event(), Journal(), ReplyActor([])
    monkeypatch.setattr("harness.episode.model_call.CALLERS", Late())

    def probe() -> bool:
        return bool(calls) or flag.is_set()

    played = stage.play(actor=actor, cancelled=probe, journal=journal)
    monkeypatch.undo()
    for call in calls:
        call()
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert (journal.state.operations["turn-1/main"].status, played.receipt.counters.model_turns) == ("not_sent", 0)
    assert [row.status for row in played.result.log.attempts] == ["not_sent"]
    assert (actor.requests, stage.late_rows, len(stage.detached), len(calls)) == ([], [], 0, 1)


def test_a_machine_that_has_no_thread_left_is_nobodys_fault(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    monkeypatch.setattr("harness.episode.model_call.CALLERS", Callers())
    played = stage.play(actor=ReplyActor([said("hello")]))
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("failed/tool_error", "environment")


@case(32)
def test_a_cancellation_during_the_second_of_three_calls_leaves_three_results(stage: Stage) -> None:
    flag, run = threading.Event(), stage.executor.run

    class Cancelling:
        """Somebody asks to stop while the second call, a read, runs."""

        def run(self, command: ProcessCommand) -> Completed:
            flag.set()
            return run(command)

        def close(self) -> None:
            """Nothing of its own."""

    stage.executor = Cancelling()
    calls = [called("toy ask plane", id_="1"), called("ls", id_="2"), called("pwd", id_="3")]
    played = stage.play(actor=ReplyActor([said("", *calls)]), cancelled=flag.is_set)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert [step.result for step in played.receipt.steps] == ["succeeded", "succeeded", "cancelled_before_execution"]


@case(226)
def test_an_end_of_the_process_leaves_the_episode_to_another_driver(stage: Stage, tmp_path: Path) -> None:
    asked: list[int] = []
    replies = [said("", called("toy ask plane", id_="1")), said("", called("cat notes/a.json", id_="2"))]

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        asked.append(context.turn)
        return replies[context.turn - 1]

    def ending(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args != ("greet",):
            term.set()
        return answer(workspace, args)

    term, folder = threading.Event(), tmp_path / "episode"
    first = stage.play(
        actor=ReplyActor([reply] * 2), says=ending, durable=DurablePlace(folder, "1", sync=False), shutdown=term.is_set
    )
    assert (first.receipt.outcome.name, first.result.log.resumable) == ("cancelled/shutdown", True)
    file = JournalFile(folder / "journal.jsonl")
    file.close()
    assert not any(record.payload.kind == "closed" for record in file.records)
    Lease(folder, stage.clock, "free").release()
    second = stage.play(actor=ReplyActor([reply] * 2), durable=DurablePlace(folder, "2", sync=False))
    assert (second.receipt.verdict, asked) == ("pass", [1, 2])


@case(35)
def test_cancellation_beats_a_deadline_that_is_due_as_well(stage: Stage) -> None:
    flag = threading.Event()

    def late(_: ModelRequest, __: TurnContext) -> Reply:
        stage.clock.advance(61)
        flag.set()
        return said("", called("ls"))

    played = stage.play(actor=ReplyActor([late]), cancelled=flag.is_set)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"


@case(35)
def test_so_it_does_where_both_became_due_while_a_tool_ran(stage: Stage) -> None:
    flag = threading.Event()

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args != ("greet",):
            stage.clock.advance(61)
            flag.set()
        return answer(workspace, args)

    actor = ReplyActor([said("", called("toy ask plane"))])
    played = stage.play(actor=actor, says=says, cancelled=flag.is_set)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"


@case(35)
def test_so_it_does_where_both_became_due_between_two_turns(stage: Stage) -> None:
    flag = threading.Event()

    def between(record: Record) -> None:
        if record.payload.kind == "turn_committed":
            stage.clock.advance(61)
            flag.set()

    actor = ReplyActor([said("", called("toy ask plane"))])
    played = stage.play(actor=actor, journal=Journal([between]), cancelled=flag.is_set)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"


@case(30)
def test_a_completion_in_the_turn_of_a_cancellation_is_dropped(stage: Stage) -> None:
    flag = threading.Event()

    def says(_: Workspace, args: tuple[str, ...]) -> Completed:
        return completed('{"text": "Hi"}' if args == ("greet",) else '{"target": "notes/a.json"}')

    class SetsOnRead:
        """Cancels while the satisfying call is being made ready, after C1 was asked."""

        asked = 0

        def __call__(self) -> bool:
            return flag.is_set()

    def last(_: ModelRequest, __: TurnContext) -> Reply:
        return said("", called("cat notes/a.json", id_="2"))

    original = stage.executor.run

    class Cancelling:
        """The executor, cancelling during the read."""

        def run(self, command: ProcessCommand) -> Completed:
            flag.set()
            return original(command)

        def close(self) -> None:
            """Nothing of its own."""

    stage.executor = Cancelling()
    played = stage.play(
        actor=ReplyActor([said("", called("toy ask plane", id_="1")), last]), says=says, cancelled=SetsOnRead()
    )
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert played.receipt.facts == ("asked", "done")
    assert played.receipt.verdict == "not_judged"


def test_calls_after_a_cancellation_are_answered_as_cancelled(stage: Stage) -> None:
    flag = threading.Event()

    def says(_: Workspace, args: tuple[str, ...]) -> Completed:
        if args != ("greet",):
            flag.set()
        return completed('{"text": "Hi", "target": "notes/a.json"}')

    calls = [called("toy ask plane", id_="1"), called("ls", id_="2"), called("pwd", id_="3")]
    played = stage.play(actor=ReplyActor([said("", *calls)]), says=says, cancelled=flag.is_set)
    assert [step.result for step in played.receipt.steps] == [
        "succeeded",
        "cancelled_before_execution",
        "cancelled_before_execution",
    ]


def test_a_passed_deadline_ends_before_the_next_turn(stage: Stage) -> None:
    def slow(_: ModelRequest, __: TurnContext) -> Reply:
        stage.clock.advance(59)
        return said("", called("ls"))

    def slower(_: ModelRequest, __: TurnContext) -> Reply:
        raise AssertionError

    def tick(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        stage.clock.advance(2)
        return completed('{"text": "Hi", "target": "notes/a.json"}')

    played = stage.play(actor=ReplyActor([slow, slower]), says=tick)
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("limit_exceeded/duration", "deadline")
    assert played.receipt.verdict == "not_judged"


def test_a_deadline_is_judged_for_a_script_and_not_for_a_live_model(stage: Stage) -> None:
    def slow(_: ModelRequest, __: TurnContext) -> Reply:
        stage.clock.advance(61)
        return said("", called("ls"))

    assert stage.play(actor=ReplyActor([slow], kind="script")).receipt.verdict == "fail"
    assert stage.play(actor=ReplyActor([slow], kind="live")).receipt.verdict == "not_judged"


def test_no_turn_at_all_is_a_legal_limit(stage: Stage) -> None:
    actor = ReplyActor([])
    played = stage.play(actor=actor, change={"limits": {"model_turns": 0}})
    assert played.receipt.failure_code == "ran_out_of_turns"
    assert actor.requests == []


def test_a_call_that_is_cancelled_is_left_behind_at_once(stage: Stage, held: threading.Event) -> None:
    flag = threading.Event()

    def hangs(_: ModelRequest, __: TurnContext) -> Reply:
        flag.set()
        held.wait()
        return said("too late")

    began = time.monotonic()
    played = stage.play(actor=ReplyActor([hangs]), cancelled=flag.is_set)
    assert time.monotonic() - began < 5
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert played.receipt.turns == ()
    assert played.result.log.attempts[0].status == "unknown"


def test_a_call_beyond_its_own_deadline_waits_for_reconciliation(stage: Stage, held: threading.Event) -> None:
    def hangs(_: ModelRequest, __: TurnContext) -> Reply:
        held.wait()
        return said("too late")

    played = stage.play(actor=ReplyActor([hangs]), change={"limits": {"model_call_s": 0.2}})
    assert played.receipt.outcome.name == "suspended/reconciliation_required"
    assert played.receipt.outcome.detail == "model_call"
    assert played.receipt.verdict == "pending"
    assert played.receipt.cause == "provider"


def test_a_call_beyond_the_episodes_deadline_is_a_duration(stage: Stage, held: threading.Event) -> None:
    def hangs(_: ModelRequest, __: TurnContext) -> Reply:
        stage.clock.advance(61)
        held.wait()
        return said("too late")

    played = stage.play(actor=ReplyActor([hangs]))
    assert played.receipt.outcome.name == "limit_exceeded/duration"
    assert (played.receipt.verdict, played.receipt.cause) == ("not_judged", "provider")


def test_time_that_a_slow_machine_takes_is_never_the_models_fault(stage: Stage) -> None:
    def slow(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        stage.clock.advance(40)
        return answer(workspace, args)

    played = stage.play(says=slow)
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("limit_exceeded/duration", "fail")
    assert played.receipt.cause == "harness"


def test_a_time_that_is_over_before_the_prompt_is_made_is_a_duration(stage: Stage) -> None:
    def hangs(_: Workspace, __: tuple[str, ...]) -> Completed:
        stage.clock.advance(61)
        return completed("", timed_out=True)

    played = stage.play(says=hangs)
    assert played.receipt.outcome.name == "limit_exceeded/duration"
    assert played.result.log.problem == "the time was over before the prompt was made"


@case(33)
def test_a_control_plane_that_hangs_is_never_held_against_the_model(stage: Stage) -> None:
    """Nobody can tell what it did: runner specification case 33."""

    def hangs(_: Workspace, args: tuple[str, ...]) -> Completed:
        return completed('{"text": "Hi"}') if args == ("greet",) else completed("", timed_out=True)

    played = stage.play(says=hangs)
    assert played.ending == ("suspended/reconciliation_required", "pending", "reconciliation_required")
    assert (played.receipt.outcome.detail, played.receipt.cause) == ("tool_effect", "control_plane")
    assert played.receipt.steps[0].result == "timeout"


@case(206)
def test_a_read_that_hangs_is_answered_as_such_and_the_episode_goes_on(stage: Stage) -> None:
    """A read has no effect to be unsure of: runner specification case 206."""

    class Hanging:
        """An executor whose commands never end."""

        def run(self, command: ProcessCommand) -> Completed:
            assert command.timeout_s > 0
            return completed("", timed_out=True)

        def close(self) -> None:
            """Nothing is open."""

    stage.executor = Hanging()
    replies = [said("", called("toy ask plane", id_="1")), said("", called("cat notes/a.json", id_="2")), said("Bye.")]
    played = stage.play(actor=ReplyActor(list(replies)))
    assert [step.result for step in played.receipt.steps] == ["succeeded", "timeout"]
    assert played.receipt.facts == ("asked",)
    assert played.receipt.failure_code == "stopped_early"


@case(34)
def test_a_tool_cut_off_by_the_deadline_says_nothing_about_the_call(stage: Stage) -> None:
    journal = Journal()

    def hangs(_: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return completed('{"text": "Hi"}')
        stage.clock.advance(61)
        return completed("", timed_out=True)

    played = stage.play(says=hangs, journal=journal)
    assert (played.receipt.outcome.name, played.receipt.steps[0].result) == ("limit_exceeded/duration", "timeout")
    assert (played.receipt.outcome.detail, journal.state.operations["turn-1/call-1"].status) == ("deadline", "unknown")


@case(152)
@pytest.mark.parametrize(
    ("size", "ending"),
    [(1_048_576, "completed/final_response"), (1_048_577, "limit_exceeded/tool_result_bytes")],
)
def test_a_result_beyond_its_byte_bound_ends_the_episode(stage: Stage, size: int, ending: str) -> None:
    journal = Journal()

    def floods(_: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return completed('{"text": "Hi"}')
        return completed('{"target": "notes/a.json"}'.ljust(size))

    played = stage.play(
        actor=ReplyActor([said("", called("toy ask plane")), said("Bye.")]), says=floods, journal=journal
    )
    assert played.receipt.outcome.name == ending
    if ending.startswith("completed"):
        return
    assert (played.receipt.outcome.limit, played.receipt.outcome.observed) == (1_048_576, 1_048_577)
    assert (played.receipt.verdict, played.receipt.cause) == ("not_judged", "control_plane")
    assert [step.result for step in played.receipt.steps] == ["error_terminal"]
    receipts = [record.payload for record in journal.records if isinstance(record.payload, OpReceipt)]
    assert (receipts[-1].status, receipts[-1].detail) == ("failed", "result_too_large")


def test_what_a_failed_call_complained_of_is_a_part_of_its_result(stage: Stage) -> None:
    def complains(_: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return completed('{"text": "Hi"}')
        return completed("x" * 600_000, 1, stderr="y" * 600_000)

    outcome = stage.play(says=complains).receipt.outcome
    assert (outcome.name, outcome.observed) == ("limit_exceeded/tool_result_bytes", 1_200_000)


def test_a_long_result_is_shown_in_part_and_says_how_much_is_left_out(stage: Stage) -> None:
    def long(_: Workspace, args: tuple[str, ...]) -> Completed:
        return completed('{"text": "Hi", "target": "notes/a.json", "more": "' + "x" * 1000 + '"}')

    actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
    stage.play(actor=actor, says=long, change={"limits": {"tool_result_chars": 300}})
    text = actor.requests[1].messages[-1].text
    assert text is not None
    assert text.startswith('{"text": "Hi"')
    assert text.endswith('x"}')
    total = len('{"text": "Hi", "target": "notes/a.json", "more": "' + "x" * 1000 + '"}')
    mark = re.search(
        rf"\n\[(\d+) of {total} characters are left out here\. The full text was not kept\. [^]]+\]\n", text
    )
    assert mark is not None
    assert len(text) - len(mark[0]) + int(mark[1]) == total
    assert 295 <= len(text) <= 300


def test_an_outage_that_cancellation_caused_is_a_cancellation(stage: Stage) -> None:
    """Giving up a call closes its connection; what that looks like is nobody's outage."""
    flag = threading.Event()

    def broken(_: ModelRequest, __: TurnContext) -> Reply:
        flag.set()
        raise ProviderError("connection_lost", "given up")

    played = stage.play(actor=ReplyActor([broken]), cancelled=flag.is_set)
    assert played.ending == ("cancelled/cancellation_requested", "not_judged", "cancellation_requested")
    assert len(played.result.log.attempts) == 1


def test_arguments_beyond_their_bound_are_refused_before_anything_parses_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = command.parse

    def watched(text: str, context: GrammarContext) -> ParsedCommand:
        parsed.append(text)
        return parse(text, context)

    monkeypatch.setattr(command, "parse", watched)
    large = "ls " + "a" * 70_000

    played = stage.play(actor=ReplyActor([said("", called(large)), said("I stop.")]))

    assert large not in parsed
    (step,) = played.receipt.steps
    assert (step.result, step.executed) == ("invalid_arguments", False)
