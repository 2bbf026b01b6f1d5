"""Each point at which a driver can be killed, and what whoever goes on with its episode finds and does."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from driving import REPLIES, Driving, Killed, Provider, kill_when, writes
from numbered import case
from toy import ReplyActor, Stage, answer, called, completed, said

from harness.episode import decide
from harness.episode.ask import GRACE_S
from harness.episode.durable import DurablePlace
from harness.errors import MachineError, StorageError
from harness.journal import JournalFile, Lease
from harness.ports import Clock, TurnContext
from harness.schema.base import Digest, JsonValue, digest_text
from harness.schema.made_ids import set_apart
from harness.schema.message import ModelRequest, Reply, ToolMessage
from harness.schema.process import Completed
from harness.schema.record import CallResulted, Closed, InputDelivered, OpReceipt, OpStarted, OpUnknown, Record
from harness.schema.recording import Drift, PlaneAnswer
from harness.schema.run import EpisodeOptions
from harness.workspace import Workspace

SATISFIED = ("completed/scenario_satisfied", "pass", None)
WAITS = "suspended/reconciliation_required"


@pytest.fixture
def driving(stage: Stage, tmp_path: Path) -> Driving:
    return Driving(stage, tmp_path / "episode")


class Kill:
    """Kills the next driver of an episode."""

    def __init__(self, driving: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
        self._driving, self._patch = driving, monkeypatch

    def __call__(self, kind: str, operation: str | None = None, *, after: bool = True, says: Answer = writes) -> None:
        with self._patch.context() as patch:
            kill_when(patch, kind, operation=operation, after=after)
            with pytest.raises(Killed):
                self._driving.drive(says=says)


Answer = Callable[[Workspace, tuple[str, ...]], Completed]


@pytest.fixture
def kill(driving: Driving, monkeypatch: pytest.MonkeyPatch) -> Kill:
    return Kill(driving, monkeypatch)


def of(driving: Driving, operation: str) -> list[str]:
    """The kinds of the records of one operation, in order."""
    return [r.payload.kind for r in driving.records() if getattr(r.payload, "operation", None) == operation]


class Marks:
    """A plane that marks every call in a file outside the workspace, and may die after one."""

    def __init__(self, file: Path, *, dies: int = 1) -> None:
        self.file, self.dies = file, dies

    @property
    def count(self) -> int:
        """Effects so far."""
        return len(self.file.read_text().splitlines()) if self.file.exists() else 0

    def __call__(self, workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        with self.file.open("a") as file:
            file.write("called\n")
        done = writes(workspace, args)
        if self.count <= self.dies:
            raise Killed
        return done


@case(156)
def test_killed_before_a_model_call_was_planned_it_is_made_once(driving: Driving, kill: Kill) -> None:
    kill("op_planned", "turn-1/main", after=False)
    assert driving.provider.asked == []
    played = driving.drive()
    assert (played.ending, driving.provider.asked, played.result.log.recovery) == (
        SATISFIED,
        [1, 2, 3],
        ("replayed_operations",),
    )


def dying(provider: Provider) -> ReplyActor:
    """An actor whose driver dies while it waits for the answer."""

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        provider.asked.append(context.turn)
        raise Killed

    return ReplyActor([reply])


@case(157)
def test_a_call_that_was_cut_off_is_not_repeated_where_that_is_asked_for(driving: Driving) -> None:
    with pytest.raises(Killed):
        driving.drive(actor=dying(driving.provider))
    played = driving.drive(options=EpisodeOptions(cut_off_calls="stop"))
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail, played.receipt.verdict) == (WAITS, "model_call", "pending")
    assert driving.provider.asked == [1]
    (row,) = played.result.log.attempts
    assert (row.status, row.usage) == ("unknown", None)


@case(158)
def test_a_call_that_was_cut_off_is_repeated_once_and_flagged(driving: Driving) -> None:
    with pytest.raises(Killed):
        driving.drive(actor=dying(driving.provider))
    played = driving.drive()
    assert played.ending == SATISFIED
    assert driving.provider.asked == [1, 1, 2, 3]
    assert "duplicate_risk" in played.result.log.recovery
    started = [r.payload for r in driving.records() if isinstance(r.payload, OpStarted)]
    assert [one.attempt for one in started if one.operation == "turn-1/main"] == [1, 2]
    assert [row.status for row in played.result.log.attempts] == ["unknown", "completed", "completed", "completed"]


@case(159)
def test_a_script_that_was_cut_off_is_asked_again_without_a_flag(driving: Driving, kill: Kill) -> None:
    asked: list[int] = []

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        asked.append(context.turn)
        if asked == [1]:
            raise Killed
        return REPLIES[context.turn - 1]

    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply] * 3, kind="script"))
    played = driving.drive(actor=ReplyActor([reply] * 3, kind="script"))
    assert (played.ending, asked) == (SATISFIED, [1, 1, 2, 3])
    assert "duplicate_risk" not in played.result.log.recovery


@case(160)
def test_a_reply_with_its_receipt_is_used_again_and_counted_once(driving: Driving, kill: Kill) -> None:
    kill("op_receipt", "turn-1/main")
    played = driving.drive()
    assert (played.ending, driving.provider.asked) == (SATISFIED, [1, 2, 3])
    assert [row.operation for row in played.result.log.attempts] == ["turn-1/main", "turn-2/main", "turn-3/main"]
    usage = [r.payload.kind for r in driving.records() if r.payload.kind == "usage"]
    assert len(usage) == 3


@case(161)
def test_a_reply_on_disk_without_its_receipt_is_adopted(driving: Driving, kill: Kill) -> None:
    kill("op_receipt", "turn-1/main", after=False)
    assert of(driving, "turn-1/main") == ["op_planned", "op_started"]
    played = driving.drive()
    assert (played.ending, driving.provider.asked) == (SATISFIED, [1, 2, 3])
    assert "duplicate_risk" not in played.result.log.recovery


@case(208)
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data.replace(b"Asking", b"Asleep")])
def test_half_a_reply_on_disk_is_not_adopted(damage: Callable[[bytes], bytes], driving: Driving, kill: Kill) -> None:
    kill("op_receipt", "turn-1/main", after=False)
    replies = [path for path in (driving.folder / "spool").iterdir() if b"Asking." in path.read_bytes()]
    assert replies != []
    for path in replies:
        path.write_bytes(damage(path.read_bytes()))
    played = driving.drive(options=EpisodeOptions(cut_off_calls="stop"))
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == (WAITS, "model_call")
    assert driving.provider.asked == [1]


def test_a_reply_with_half_a_character_is_taken_from_where_it_was_kept(driving: Driving, kill: Kill) -> None:
    odd = replace(called("toy ask plane", id_="1"), arguments_raw='{"cmd": "toy ask plane", "x": "\ud800"}')
    driving.provider.replies = (said("Half: \ud83d", odd), *REPLIES[1:])
    kill("op_receipt", "turn-1/main", after=False)
    first = driving.drive()
    assert (driving.provider.asked, first.result.log.attempts[0].usage) == ([1, 2, 3], REPLIES[0].usage)


MADE = "made-0123456789abcdef-1"


@pytest.mark.parametrize("point", ["op_receipt", "turn_committed", None])
def test_a_model_whose_ids_are_made_alike_is_told_apart_whoever_goes_on(
    point: str | None, driving: Driving, kill: Kill
) -> None:
    one, other = (reply.model_copy(update={"calls": (replace(reply.calls[0], id=MADE),)}) for reply in REPLIES[:2])
    driving.provider.replies = (one, other, *REPLIES[2:])
    if point is not None:
        kill(point, "turn-2/main" if point == "op_receipt" else None, after=False)
    played = driving.drive()
    assert played.ending == SATISFIED
    first, second, *_ = [r.payload.call_id for r in driving.records() if isinstance(r.payload, CallResulted)]
    assert first == digest_text(MADE) != second
    assert second == digest_text(set_apart(other, {digest_text(MADE)}, 2).calls[0].id)


def test_an_id_that_a_provider_gives_twice_stays_the_same() -> None:
    one = said("Again.", called("toy ask plane", id_="call-1"))
    assert set_apart(one, {digest_text("call-1")}, 2) is one


def test_what_others_said_comes_back_in_its_own_order(driving: Driving, kill: Kill) -> None:
    """What is sent back, run and recorded after a kill is byte by byte what it would have been."""
    opaque: JsonValue = {"role": "assistant", "content": [{"z": 1, "a": {"y": 2, "b\ud800": "\udc00"}}]}
    said_so = tuple(reply.model_copy(update={"opaque": opaque}) for reply in REPLIES)
    driving.provider.replies = said_so
    asked: list[ModelRequest] = []

    def odd(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return (
            answer(workspace, args)
            if args == ("greet",)
            else completed(r'{"target": "notes/a.json", "b\ud800": 1, "a": 2}')
        )

    def reply(request: ModelRequest, context: TurnContext) -> Reply:
        asked.append(request)
        return said_so[context.turn - 1]

    kill("turn_committed", says=odd)
    seen = Looking()
    place = DurablePlace(driving.folder, "again", sync=False)
    driving.stage.play(actor=ReplyActor([reply] * 2), says=odd, durable=place, witness=seen)
    assert json.dumps(seen.answers[0]) == r'{"target": "notes/a.json", "b\ud800": 1, "a": 2}'
    sent = next(message for message in asked[0].messages if message.role == "assistant")
    assert json.dumps(sent.opaque) == json.dumps(opaque)


class Looking:
    """A witness of what the control plane answered."""

    def __init__(self) -> None:
        self.answers: list[JsonValue] = []

    def opened(self, prompt: Digest, tools: Digest) -> tuple[Drift, ...]:
        del prompt, tools
        return ()

    def answered(self, answer: PlaneAnswer) -> tuple[Drift, ...]:
        self.answers.append(answer.answer)
        return ()

    def closed(self) -> tuple[Drift, ...]:
        return ()


def test_an_answer_with_half_a_character_is_taken_from_where_it_was_kept(driving: Driving, kill: Kill) -> None:
    def odd(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        return (
            answer(workspace, args) if args == ("greet",) else completed(r'{"target": "notes/a.json", "x": "\ud83d"}')
        )

    kill("turn_committed", says=odd)
    assert driving.drive(says=odd).ending == SATISFIED
    assert driving.provider.asked == [1, 2, 3]


@case(162)
def test_a_planned_tool_call_is_run_once(driving: Driving, kill: Kill, tmp_path: Path) -> None:
    marks = Marks(tmp_path / "marks", dies=0)
    kill("op_started", "turn-1/call-1", after=False, says=marks)
    assert marks.count == 0
    played = driving.drive(says=marks)
    assert (played.ending, marks.count) == (SATISFIED, 1)


@case(163)
@pytest.mark.parametrize("repeat_idempotent", [False, True])
def test_a_call_that_reaches_out_is_not_made_twice(
    driving: Driving, tmp_path: Path, *, repeat_idempotent: bool
) -> None:
    """A command has no key, so no setting repeats it."""
    marks = Marks(tmp_path / "marks")
    driving.stage.confined = False
    with pytest.raises(Killed):
        driving.drive(says=marks)
    played = driving.drive(says=marks, options=EpisodeOptions(repeat_idempotent=repeat_idempotent))
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == (WAITS, "tool_effect")
    assert marks.count == 1
    assert driving.provider.asked == [1]


@case(166, 167)
@pytest.mark.parametrize("wrote", [False, True], ids=["unchanged", "changed"])
def test_a_confined_call_is_undone_and_made_once_more(wrote: bool, driving: Driving, tmp_path: Path) -> None:
    died: list[bool] = []

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",) or died:
            return writes(workspace, args)
        died.append(True)
        if wrote:
            writes(workspace, args)
        raise Killed

    with pytest.raises(Killed):
        driving.drive(says=says)
    played = driving.drive(says=says)
    undisturbed = Driving(driving.stage, tmp_path / "undisturbed").drive()
    assert played.receipt == undisturbed.receipt
    assert [change.path for change in played.receipt.boundary.changes] == [
        change.path for change in undisturbed.receipt.boundary.changes
    ]


@case(168)
def test_a_result_with_its_receipt_is_used_again_though_its_file_is_gone(
    driving: Driving, kill: Kill, tmp_path: Path
) -> None:
    marks = Marks(tmp_path / "marks", dies=0)
    kill("op_receipt", "turn-1/call-1", says=marks)
    before = [r.payload for r in driving.records() if isinstance(r.payload, OpReceipt)]
    played = driving.drive(says=marks)
    assert (played.ending, marks.count) == (SATISFIED, 1)
    assert [r.payload for r in driving.records() if isinstance(r.payload, OpReceipt)][: len(before)] == before


@case(169)
def test_after_a_committed_turn_the_next_one_follows(driving: Driving, kill: Kill, tmp_path: Path) -> None:
    marks = Marks(tmp_path / "marks", dies=0)
    kill("turn_committed", says=marks)
    assert (driving.provider.asked, marks.count) == ([1], 1)
    played = driving.drive(says=marks)
    assert (played.ending, driving.provider.asked, marks.count) == (SATISFIED, [1, 2, 3], 1)


@case(170)
def test_an_episode_that_closed_unacknowledged_leaves_the_same_receipt(
    driving: Driving, kill: Kill, tmp_path: Path
) -> None:
    kill("closed")
    played = driving.drive()
    assert driving.provider.asked == [1, 2, 3]
    assert played.receipt == Driving(driving.stage, tmp_path / "undisturbed").drive().receipt
    assert driving.records()[-1].payload.kind == "acknowledged"


@case(172)
def test_a_request_that_is_another_now_is_refused_before_any_call(
    driving: Driving, kill: Kill, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill("op_started", "turn-2/main")
    before = (driving.folder / "journal.jsonl").read_bytes()
    monkeypatch.setattr("harness.episode.call.result_text", lambda *_: "other")
    played = driving.drive()
    assert played.receipt.outcome.name == "rejected/journal_integrity_mismatch"
    assert (driving.provider.asked, (driving.folder / "journal.jsonl").read_bytes()) == ([1], before)


@case(175)
def test_a_call_that_was_cut_off_counts_as_the_turn_it_was(driving: Driving, kill: Kill) -> None:
    change: dict[str, JsonValue] = {"limits": {"model_turns": 2}}

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        driving.provider.asked.append(context.turn)
        if driving.provider.asked == [1, 2]:
            raise Killed
        return REPLIES[context.turn - 1]

    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply] * 9), change=change)
    played = driving.drive(actor=ReplyActor([reply] * 9), change=change)
    assert (played.receipt.outcome.name, driving.provider.asked) == ("limit_exceeded/model_turns", [1, 2, 2])
    assert played.receipt.counters.model_turns == 2


@case(176)
def test_the_deadline_stays_where_it_was(driving: Driving, kill: Kill, stage: Stage) -> None:
    change: dict[str, JsonValue] = {"limits": {"deadline_s": 300.0, "model_call_s": 300.0}}
    left: list[float] = []

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        left.append(context.deadline_s)
        stage.clock.advance(100.0)
        raise Killed

    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply]), change=change)
    stage.clock.advance(100.0)
    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply]), change=change)
    assert [round(one - GRACE_S) for one in left] == [300, 100]


@case(177)
def test_of_two_calls_the_first_is_replayed_and_the_second_runs(
    driving: Driving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    replies = [said("Both.", called("toy ask plane", id_="1"), called("ls runtime", id_="2")), REPLIES[2]]
    marks = Marks(tmp_path / "marks", dies=0)
    with monkeypatch.context() as patch:
        kill_when(patch, "call_result")
        with pytest.raises(Killed):
            driving.drive(actor=ReplyActor(list(replies)), says=marks)
    played = driving.drive(actor=ReplyActor(list(replies[1:])), says=marks)
    assert (played.ending, marks.count) == (SATISFIED, 1)
    assert [of(driving, f"turn-1/call-{number}").count("op_planned") for number in (1, 2)] == [1, 1]


@case(178)
def test_a_call_without_an_answer_is_never_answered_twice(driving: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
    flag = threading.Event()
    with monkeypatch.context() as patch:
        kill_when(patch, "call_result", after=False)
        with pytest.raises(Killed):
            driving.drive()
    stopped = driving.drive(cancelled=lambda: True)
    assert stopped.result.log.resumable
    played = driving.drive(cancelled=flag.is_set)
    answered = [(r.payload.turn, r.payload.call) for r in driving.records() if isinstance(r.payload, CallResulted)]
    assert played.ending == SATISFIED
    assert len(answered) == len(set(answered)) == 3


@case(178)
def test_a_call_that_was_begun_and_has_no_answer_is_told_as_interrupted_until_it_is_decided(
    driving: Driving, tmp_path: Path
) -> None:
    marks = Marks(tmp_path / "marks")
    driving.stage.confined = False
    both = said("Both.", called("toy ask plane", id_="1"), called("ls", id_="2"))
    driving.provider.replies = (both, REPLIES[2])
    with pytest.raises(Killed):
        driving.drive(says=marks)
    for _ in range(2):
        stopped = driving.drive(says=marks)
        assert stopped.receipt.outcome.reason == "reconciliation_required"
        assert [step.result for step in stopped.receipt.steps] == ["interrupted", "skipped_due_to_stop"]
    decide(DurablePlace(driving.folder, "decider", sync=False), driving.stage.clock, "retry")
    actor = driving.provider.actor()
    played = driving.drive(says=marks, actor=actor)
    assert (played.ending, [step.result for step in played.receipt.steps]) == (SATISFIED, ["succeeded"] * 3)
    shown = [message for message in actor.requests[-1].messages if isinstance(message, ToolMessage)]
    assert [(message.call_id, message.failed) for message in shown] == [("1", False), ("2", False)]


@case(207)
def test_a_read_that_was_cut_off_is_run_again(driving: Driving, kill: Kill) -> None:
    kill("op_started", "turn-3/call-1")
    played = driving.drive()
    assert (played.ending, driving.provider.asked) == (SATISFIED, [1, 2, 3])
    assert of(driving, "turn-3/call-1") == ["op_planned", "op_started", "op_receipt"]


@case(12)
def test_what_makes_the_prompt_is_asked_once_in_all(driving: Driving, kill: Kill) -> None:
    greeted: list[tuple[str, ...]] = []

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            greeted.append(args)
        return writes(workspace, args)

    kill("turn_committed", says=says)
    played = driving.drive(says=says)
    assert (played.ending, len(greeted)) == (SATISFIED, 1)
    inputs = [r.payload for r in driving.records() if isinstance(r.payload, InputDelivered)]
    assert len(inputs) == len({one.input for one in inputs}) == 2


@case(10)
def test_of_eight_drivers_that_race_exactly_one_runs(driving: Driving, kill: Kill) -> None:
    kill("turn_committed")
    together, endings = threading.Barrier(8), []
    all_refused = threading.Event()

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        # the one that runs ends only when the others were refused, so that they raced with it
        assert all_refused.wait(30)
        driving.provider.asked.append(context.turn)
        return REPLIES[context.turn - 1]

    def race() -> None:
        together.wait()
        endings.append(driving.drive(actor=ReplyActor([reply] * 9)).receipt.outcome.name)
        if len(endings) == 7:
            all_refused.set()

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(endings) == ["completed/scenario_satisfied", *["rejected/lease_held"] * 7]
    assert driving.provider.asked == [1, 2, 3]


@case(13)
@pytest.mark.parametrize("name", ["lease.lock", "journal.jsonl"])
def test_a_link_where_a_lock_or_the_journal_belongs_is_refused(driving: Driving, tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    driving.folder.mkdir(mode=0o700)
    (driving.folder / name).symlink_to(target)
    played = driving.drive()
    assert played.receipt.outcome.name in {"rejected/setup_rejected", "rejected/journal_integrity_mismatch"}
    assert (target.read_text(), driving.provider.asked) == ("mine", [])


@case(221)
def test_a_full_disk_at_the_start_of_a_call_runs_no_tool(
    driving: Driving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    marks = Marks(tmp_path / "marks", dies=0)
    write = JournalFile.write

    def full(self: JournalFile, record: Record) -> None:
        if isinstance(record.payload, OpStarted) and record.payload.operation == "turn-1/call-1":
            raise StorageError("the journal", OSError(28, "No space left on device"))
        write(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "write", full)
        played = driving.drive(says=marks)
    assert (played.receipt.outcome.name, marks.count) == ("failed/storage_error", 0)
    again = driving.drive(says=marks)
    assert (again.ending, marks.count) == (SATISFIED, 1)


@case(223)
def test_what_must_have_been_begun_is_not_made_anew(driving: Driving) -> None:
    played = driving.drive(expects="begun")
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("rejected/not_found", "not_judged")
    assert not driving.folder.exists()


@case(224)
def test_what_must_be_new_leaves_a_journal_that_is_there(driving: Driving, kill: Kill) -> None:
    kill("turn_committed")
    before = (driving.folder / "journal.jsonl").read_bytes()
    assert driving.drive(expects="new").receipt.outcome.name == "rejected/key_conflict"
    assert (driving.folder / "journal.jsonl").read_bytes() == before
    assert driving.drive(expects="begun").ending == SATISFIED


def test_what_must_be_new_is_looked_for_once_nobody_else_can_make_it(
    driving: Driving, monkeypatch: pytest.MonkeyPatch
) -> None:
    class AfterAnother(Lease):
        def __init__(self, folder: Path, clock: Clock, token: str) -> None:
            if token != "another":
                other = DurablePlace(folder, "another", sync=False)
                assert driving.stage.play(actor=driving.provider.actor(), durable=other).ending == SATISFIED
            super().__init__(folder, clock, token)

    monkeypatch.setattr("harness.episode.durable.Lease", AfterAnother)
    assert driving.drive(expects="new").receipt.outcome.name == "rejected/key_conflict"
    assert driving.provider.asked == [1, 2, 3]


def test_what_was_cut_off_is_told_as_abandoned_before_the_end(driving: Driving) -> None:
    def full(_: Workspace, __: tuple[str, ...]) -> Completed:
        raise MachineError("the machine lacks something: processes")

    assert driving.drive(says=full).receipt.verdict == "not_judged"
    ends = [r.payload for r in driving.records() if isinstance(r.payload, OpUnknown | Closed)]
    assert [one.kind for one in ends] == ["op_unknown", "closed"]
