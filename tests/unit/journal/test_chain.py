"""The journal appends to a digest chain and is always its own fold."""

from __future__ import annotations

import pytest
from numbered import case

from harness.errors import HarnessError, OpeningRefusedError
from harness.journal import Journal, MemorySpool, fold, verify
from harness.schema.base import digest_text
from harness.schema.outcome import Outcome
from harness.schema.record import Closed, FixtureBound, OpPlanned, OpStarted, Record, Resumed, TurnOpened

DIGEST = "sha256:" + "0" * 64


def journal_of_three() -> Journal:
    journal = Journal()
    journal.append(FixtureBound(fingerprint=DIGEST))
    journal.append(TurnOpened(turn=1))
    journal.append(Closed(outcome=Outcome(status="completed", reason="final_response")))
    return journal


def test_records_are_numbered_and_chained_from_the_start() -> None:
    records = journal_of_three().records
    assert [record.seq for record in records] == [1, 2, 3]
    assert records[0].previous == "-"
    assert records[1].previous == records[0].digest
    assert verify(records) is None


def test_state_is_the_fold_of_the_records() -> None:
    journal = journal_of_three()
    assert journal.state == fold(journal.records)
    assert journal.state.outcome == Outcome(status="completed", reason="final_response")


def test_a_changed_payload_is_found_at_its_place() -> None:
    records = list(journal_of_three().records)
    records[1] = records[1].model_copy(update={"payload": TurnOpened(turn=2)})
    assert verify(records) == 2


def test_a_missing_record_is_found_at_its_place() -> None:
    records = journal_of_three().records
    assert verify((records[0], records[2])) == 2


def test_two_swapped_records_are_found_at_the_first() -> None:
    first, second, third = journal_of_three().records
    assert verify((second, first, third)) == 1


def test_an_observer_that_raises_changes_nothing_and_is_not_asked_again() -> None:
    asked: list[int] = []
    seen: list[int] = []

    def broken(record: Record) -> None:
        asked.append(record.seq)
        raise RuntimeError

    journal = Journal(observers=(broken, lambda record: seen.append(record.seq)))
    journal.append(TurnOpened(turn=1))
    journal.append(TurnOpened(turn=2))
    assert asked == [1]
    assert seen == [1, 2]
    assert journal.dropped == ("an observer was dropped at record 1: it raised RuntimeError",)
    assert [record.digest for record in journal.records] == [
        record.digest for record in _same_without_observers().records
    ]


def _same_without_observers() -> Journal:
    journal = Journal()
    journal.append(TurnOpened(turn=1))
    journal.append(TurnOpened(turn=2))
    return journal


def test_the_spool_keeps_texts_by_digest_until_it_is_purged() -> None:
    spool = MemorySpool()
    name = spool.put(b"raw text")
    assert spool.get(name) == b"raw text"
    assert "raw text" not in repr(spool)
    spool.purge()
    assert repr(spool) == "<MemorySpool: 0 texts>"


def test_a_stored_journal_is_taken_again_and_then_written_on() -> None:
    records = journal_of_three().records
    kept: list[Record] = []
    journal = Journal(stored=records[:2], keep=kept.append)
    assert journal.ahead == records[0].payload
    for record in records[:2]:
        journal.append(record.payload)
    assert (journal.records, journal.took_last, kept) == (records[:2], True, [])
    journal.append(records[2].payload)
    assert [record.payload for record in kept] == [Resumed(credited_s=0.0), records[2].payload]
    assert not journal.took_last
    assert verify(journal.records) is None
    again = Journal(stored=journal.records)
    for record in records:
        again.append(record.payload)
    assert (again.ahead, again.records, again.state) == (None, journal.records, journal.state)


def test_what_came_from_outside_is_passed_over_and_counts() -> None:
    first = Journal()
    first.append(TurnOpened(turn=1))
    first.append(Resumed(credited_s=2.0))
    first.append(FixtureBound(fingerprint=DIGEST))
    again = Journal(stored=first.records)
    again.append(TurnOpened(turn=1))
    assert again.ahead == FixtureBound(fingerprint=DIGEST)
    again.append(FixtureBound(fingerprint=DIGEST))
    assert (again.records, again.state) == (first.records, first.state)


def test_an_episode_that_does_something_else_now_is_refused() -> None:
    records = journal_of_three().records
    journal = Journal(stored=records)
    journal.append(records[0].payload)
    with pytest.raises(OpeningRefusedError, match="record 2 is not what the episode does now") as caught:
        journal.append(TurnOpened(turn=7))
    assert caught.value.reason == "journal_integrity_mismatch"


def test_a_record_that_could_not_be_kept_does_not_count() -> None:
    def full(_: Record) -> None:
        raise OSError(28, "No space left on device")

    journal = Journal(keep=full)
    with pytest.raises(OSError, match="No space"):
        journal.append(TurnOpened(turn=1))
    assert (journal.records, journal.state.turn) == ((), 0)


@case(204)
def test_of_two_that_close_the_first_is_the_one_that_counts() -> None:
    journal = Journal()
    first = Outcome(status="completed", reason="final_response")
    second = Outcome(status="cancelled", reason="shutdown")
    assert [journal.close(first), journal.close(second)] == [first, first]
    assert [record.payload.kind for record in journal.records] == ["closed"]


@case(205)
def test_an_episode_with_an_unfinished_operation_is_not_completed_and_a_failed_one_ends_it_first() -> None:
    journal = Journal()
    journal.append(OpPlanned(operation="turn-1/main", purpose="main", digest=digest_text("x")))
    journal.append(OpStarted(operation="turn-1/main", attempt=1))
    with pytest.raises(HarnessError, match="turn-1/main has not ended"):
        journal.close(Outcome(status="completed", reason="final_response"))
    assert journal.state.outcome is None
    journal.close(Outcome(status="failed", reason="storage_error"))
    assert [record.payload.kind for record in journal.records[2:]] == ["op_unknown", "closed"]
    assert journal.state.operations["turn-1/main"].status == "unknown"


def test_records_that_nobody_needed_are_chained_when_they_are_asked_for() -> None:
    needed: list[Record] = []
    watched, alone = Journal(observers=(needed.append,)), Journal()
    for journal in (watched, alone):
        journal.append(FixtureBound(fingerprint=DIGEST))
        journal.append(TurnOpened(turn=1))
    assert alone.payloads == tuple(record.payload for record in needed)
    assert alone.records == watched.records == tuple(needed)
    alone.append(TurnOpened(turn=2))
    assert verify(alone.records) is None
    assert [record.seq for record in alone.records] == [1, 2, 3]


def test_a_state_that_somebody_holds_stays_as_it_is() -> None:
    journal = Journal()
    journal.append(TurnOpened(turn=1))
    before = journal.state
    journal.append(TurnOpened(turn=2))
    assert (before.turn, journal.state.turn) == (1, 2)


def test_a_wait_is_recorded_once_however_often_it_is_told() -> None:
    journal = Journal()
    for _ in range(2):
        journal.suspend(Outcome(status="suspended", reason="blocked"))
    assert [record.payload.kind for record in journal.records] == ["suspended"]
