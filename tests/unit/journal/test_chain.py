"""The journal appends to a digest chain and is always its own fold."""

from __future__ import annotations

from harness.journal import Journal, MemorySpool, fold, verify
from harness.schema.outcome import Outcome
from harness.schema.record import Closed, FixtureBound, Record, TurnOpened

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
