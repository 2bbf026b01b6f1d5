"""A durable episode that waits for a person: kept as it is, answered from outside, gone on with by the next driver."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from numbered import case
from toy import Played, ReplyActor, Stage, called, said

from harness.clock import FakeClock
from harness.episode import DurablePlace, answering, give_answer, question
from harness.errors import OpeningRefusedError
from harness.journal import JournalFile, Lease
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, ToolMessage
from harness.schema.receipt import Receipt
from harness.schema.record import Record, Resumed
from harness.schema.tool import ToolCall

QUESTION: dict[str, JsonValue] = {"code": "decision_required", "text": "May I?"}


def asks(id_: str) -> ToolCall:
    return ToolCall(id=id_, name="request_user_input", arguments_raw=json.dumps(QUESTION), arguments=QUESTION)


REPLIES = (
    said("", called("toy ask plane", id_="1")),
    said("", asks("2")),
    said("", asks("3")),
    said("", called("cat notes/a.json", id_="4")),
)
OFFERS: dict[str, JsonValue] = {"control": {"offer": ["request_user_input"]}, "limits": {"deadline_s": 300.0}}


@dataclass
class Waiting:
    """Drivers of one episode, one after the other, and what they asked."""

    stage: Stage
    folder: Path
    asked: list[int] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    tokens: itertools.count[int] = field(default_factory=itertools.count)
    takes_s: float = 0.0
    dies_at: int | None = None

    def place(self) -> DurablePlace:
        return DurablePlace(self.folder, f"driver{next(self.tokens)}", sync=False)

    def drive(self) -> Played:
        def reply(request: ModelRequest, context: TurnContext) -> Reply:
            self.asked.append(context.turn)
            self.requests.append(request)
            if context.turn == self.dies_at:
                self.dies_at = None
                raise KeyboardInterrupt
            self.stage.clock.advance(self.takes_s)
            return REPLIES[context.turn - 1]

        return self.stage.play(actor=ReplyActor([reply] * 9), change=OFFERS, durable=self.place())

    def answer(self, text: str) -> None:
        give_answer(self.place(), self.stage.clock, text)

    def records(self) -> tuple[Record, ...]:
        file = JournalFile(self.folder / "journal.jsonl")
        file.close()
        return file.records


@pytest.fixture
def waiting(stage: Stage, tmp_path: Path) -> Waiting:
    return Waiting(stage, tmp_path / "episode")


@case(78)
def test_an_answer_is_the_one_result_of_the_call_and_nothing_is_paid_twice(waiting: Waiting) -> None:
    first = waiting.drive()
    assert (first.receipt.outcome.name, first.receipt.verdict) == ("suspended/needs_user_input", "pending")
    assert first.result.log.resumable
    waiting.answer("Yes.")
    second = waiting.drive()
    assert second.receipt.outcome.name == "suspended/needs_user_input"
    told = waiting.requests[-1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert (told.call_id, told.text) == ("2", "Yes.")
    waiting.answer("Yes, yes.")
    last = waiting.drive()
    assert (last.receipt.verdict, waiting.asked) == ("pass", [1, 2, 3, 4])
    assert not last.result.log.resumable
    results = [m.call_id for m in waiting.requests[-1].messages if isinstance(m, ToolMessage)]
    assert results == ["1", "2", "3"]


@case(78)
@pytest.mark.parametrize(("waited", "worked"), [(10_000.0, 299.0), (0.0, 299.0)])
def test_the_time_that_it_waited_does_not_count(waiting: Waiting, waited: float, worked: float) -> None:
    waiting.drive()
    waiting.stage.clock.advance(waited)
    waiting.answer("Yes.")
    assert waiting.drive().receipt.outcome.status == "suspended"
    waiting.stage.clock.advance(waited)
    waiting.answer("Yes.")
    waiting.stage.clock.advance(worked)
    assert waiting.drive().receipt.verdict == "pass"
    credited = [record.payload.credited_s for record in waiting.records() if isinstance(record.payload, Resumed)]
    assert sum(credited) == 2 * waited


def test_time_after_the_answer_counts(waiting: Waiting) -> None:
    waiting.drive()
    waiting.stage.clock.advance(10_000.0)
    waiting.answer("Yes.")
    waiting.stage.clock.advance(301.0)
    assert waiting.drive().receipt.outcome.name == "rejected/deadline_passed_before_start"


def test_an_episode_that_still_waits_says_so_again_and_asks_nobody(waiting: Waiting) -> None:
    first = waiting.drive()
    before = (waiting.folder / "journal.jsonl").read_bytes()
    waiting.stage.clock.advance(10_000.0)
    again = waiting.drive()
    assert again.receipt == first.receipt
    assert (waiting.asked, (waiting.folder / "journal.jsonl").read_bytes()) == ([1, 2], before)
    waiting.stage.clock.advance(10_000.0)
    waiting.answer("Yes.")
    assert waiting.drive().receipt.outcome.status == "suspended"


def test_what_was_measured_stays_when_it_is_only_gone_through_again(waiting: Waiting) -> None:
    waiting.takes_s = 2.0
    first = waiting.drive().result.log
    assert ([row.seconds for row in first.attempts], first.seconds) == ([2.0, 2.0], 4.0)
    waiting.stage.clock.advance(10_000.0)
    again = waiting.drive().result.log
    assert ([row.seconds for row in again.attempts], again.seconds) == ([2.0, 2.0], 4.0)
    assert (again.plane_calls, again.plane_seconds) == (first.plane_calls, first.plane_seconds)
    waiting.answer("Yes.")
    waiting.takes_s = 3.0
    waiting.drive()
    waiting.answer("Yes.")
    waiting.takes_s = 4.0
    last = waiting.drive()
    assert last.receipt.verdict == "pass"
    assert ([row.seconds for row in last.result.log.attempts], last.result.log.seconds) == ([2.0, 2.0, 3.0, 4.0], 11.0)


def test_what_a_killed_driver_measured_stays_too(waiting: Waiting) -> None:
    waiting.takes_s = 2.0
    waiting.dies_at = 2
    with pytest.raises(KeyboardInterrupt):
        waiting.drive()
    with (waiting.folder / "times.jsonl").open("ab") as file:
        file.write(b'{"what":"att')
    log = waiting.drive().result.log
    assert ([(row.status, row.seconds) for row in log.attempts], log.seconds) == (
        [("completed", 2.0), ("unknown", 0.0), ("completed", 2.0)],
        4.0,
    )
    undisturbed = Waiting(waiting.stage, waiting.folder.with_name("other")).drive().result.log
    assert log.plane_calls == undisturbed.plane_calls
    times = waiting.folder / "times.jsonl"
    assert times.stat().st_mode & 0o777 == 0o600


def refused(waiting: Waiting, text: str = "No.") -> str:
    before = waiting.records()
    with pytest.raises(OpeningRefusedError) as caught:
        waiting.answer(text)
    assert waiting.records() == before
    return caught.value.reason


def test_only_the_first_answer_counts(waiting: Waiting) -> None:
    waiting.drive()
    waiting.answer("Yes.")
    assert refused(waiting) == "key_conflict"
    waiting.drive()
    waiting.answer("Yes.")
    assert waiting.drive().receipt.verdict == "pass"
    assert refused(waiting) == "key_conflict"


def test_what_it_asks_can_be_read_while_it_waits_and_not_after(waiting: Waiting) -> None:
    assert question(waiting.folder) is None
    waiting.drive()
    assert question(waiting.folder) == "May I?"
    spool = next((waiting.folder / "spool").glob("turn-2.main.*.reply"))
    whole = spool.read_bytes()
    spool.write_bytes(whole[:-1])
    assert question(waiting.folder) is None
    spool.write_bytes(whole)
    give_answer(waiting.place(), waiting.stage.clock, "Yes.")
    assert question(waiting.folder) is None


def test_what_is_only_said_is_what_is_asked_where_a_reply_without_a_call_waits(stage: Stage, tmp_path: Path) -> None:
    change: dict[str, JsonValue] = {"control": {"no_call": "wait_user"}}
    place = DurablePlace(tmp_path / "e", "1", sync=False)
    played = stage.play(actor=ReplyActor([said("Which one?")]), durable=place, change=change)
    assert played.receipt.outcome.reason == "needs_user_input"
    assert question(place.folder) == "Which one?"


def test_an_answer_to_nobody_makes_nothing(waiting: Waiting) -> None:
    with pytest.raises(OpeningRefusedError) as caught:
        waiting.answer("Yes.")
    assert (caught.value.reason, waiting.folder.exists()) == ("not_found", False)


def test_an_answer_beside_a_living_driver_is_refused(waiting: Waiting, stage: Stage) -> None:
    waiting.drive()
    lease = Lease(waiting.folder, stage.clock, "living")
    assert refused(waiting) == "lease_held"
    lease.release()


@pytest.mark.parametrize("text", ["", " \n", "a" * 8_193])
def test_an_answer_that_no_actor_could_be_given_is_refused(waiting: Waiting, text: str) -> None:
    waiting.drive()
    with pytest.raises(ValueError, match="8192 bytes"):
        waiting.answer(text)
    waiting.answer("a" * 8_192)


def test_an_answer_whose_text_is_gone_is_refused(waiting: Waiting) -> None:
    waiting.drive()
    waiting.answer("Yes.")
    kept = [path for path in (waiting.folder / "spool").iterdir() if path.read_bytes() == b"Yes."]
    kept[0].unlink()
    assert waiting.drive().receipt.outcome.name == "rejected/journal_integrity_mismatch"


def test_a_damaged_place_is_refused(waiting: Waiting) -> None:
    waiting.drive()
    place = waiting.folder / "place.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"suspended_at": 7}))
    assert refused(waiting) == "fixture_mismatch"
    place.write_text("[]")
    assert refused(waiting) == "fixture_mismatch"


def to_its_end(waiting: Waiting) -> Receipt:
    """Drive it, and answer whenever it waits."""
    last = waiting.drive().receipt
    while last.outcome.reason == "needs_user_input":
        waiting.answer("Yes.")
        last = waiting.drive().receipt
    return last


@pytest.mark.slow
@case(179)
def test_killed_at_any_record_it_still_waits_is_answered_and_ends_the_same(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = Waiting(stage, tmp_path / "undisturbed")
    receipt = to_its_end(undisturbed)
    write = JournalFile.write
    for number in range(len(undisturbed.records())):
        killed = Waiting(stage, tmp_path / f"killed-{number}")
        written: list[Record] = []

        def dies(self: JournalFile, record: Record, written: list[Record] = written, number: int = number) -> None:
            if len(written) == number:
                raise KeyboardInterrupt
            written.append(record)
            write(self, record)

        with monkeypatch.context() as patch:
            patch.setattr(JournalFile, "write", dies)
            with pytest.raises(KeyboardInterrupt):
                to_its_end(killed)
        assert to_its_end(killed) == receipt, number


def test_a_clock_that_was_put_back_gives_no_credit(waiting: Waiting) -> None:
    waiting.drive()
    waiting.stage.clock = FakeClock(datetime(2025, 1, 1, tzinfo=UTC))
    waiting.answer("Yes.")
    credited = [record.payload.credited_s for record in waiting.records() if isinstance(record.payload, Resumed)]
    assert sum(credited) == 0.0


def test_an_episode_that_is_held_for_an_answer_is_nobody_elses_and_written_only_when_that_is_recorded(
    waiting: Waiting,
) -> None:
    waiting.drive()
    before = waiting.records()
    with answering(waiting.place(), waiting.stage.clock, "Yes."):
        with pytest.raises(OpeningRefusedError, match="lease_held"):
            waiting.answer("No.")
        assert waiting.records() == before
    assert waiting.records() == before
    with answering(waiting.place(), waiting.stage.clock, "Yes.") as record:
        record()
    assert len(waiting.records()) > len(before)
    waiting.drive()
    told = waiting.requests[-1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert told.text == "Yes."
