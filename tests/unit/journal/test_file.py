"""A journal on disk is whole up to its last line, or it is refused and stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import OpeningRefusedError, StorageError
from harness.journal import Journal, intact, journal_damage
from harness.journal.file import JournalFile
from harness.schema.outcome import Outcome
from harness.schema.record import Closed, OpPlanned, OpStarted, Payload, Resumed, TurnOpened

D = "sha256:" + "0" * 64
PAYLOADS: tuple[Payload, ...] = (
    TurnOpened(turn=1),
    OpPlanned(operation="turn-1/main", purpose="main", digest=D),
    OpStarted(operation="turn-1/main", attempt=1),
    Closed(outcome=Outcome(status="completed", reason="final_response")),
)


def written(path: Path, payloads: tuple[Payload, ...] = PAYLOADS) -> Journal:
    """A journal whose records are all in the file."""
    file = JournalFile(path)
    journal = Journal(stored=file.records, keep=file.write)
    for payload in payloads:
        journal.append(payload)
    file.close()
    return journal


def refusal(path: Path) -> str:
    """The reason why it is not opened; the file must stay as it is."""
    before = path.read_bytes()
    with pytest.raises(OpeningRefusedError) as caught:
        JournalFile(path)
    assert path.read_bytes() == before
    return caught.value.reason


def test_what_was_written_is_read_and_private(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = written(path)
    file = JournalFile(path)
    assert file.records == journal.records
    assert path.stat().st_mode & 0o777 == 0o600
    file.close()
    file.close()


@given(cut=st.integers(min_value=0))
def test_a_half_written_end_is_ignored_and_cut_off_at_the_first_append(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = written(path)
    data = path.read_bytes()
    path.write_bytes(data[: cut % (len(data) + 1)])
    torn = path.read_bytes()
    file = JournalFile(path)
    assert path.read_bytes() == torn
    assert file.records == journal.records[: len(file.records)]
    resumed = Journal(stored=file.records, keep=file.write)
    for payload in PAYLOADS:
        resumed.append(payload)
    file.close()
    told = [record.payload for record in JournalFile(path).records if not isinstance(record.payload, Resumed)]
    assert told == list(PAYLOADS)


@given(place=st.integers(min_value=0), byte=st.integers(0, 255))
def test_any_other_damage_is_refused(place: int, byte: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    written(path)
    data = bytearray(path.read_bytes())
    at = place % (len(data) - 1)
    if data[at] == byte:
        return
    data[at] = byte
    path.write_bytes(bytes(data))
    assert refusal(path) in {"journal_integrity_mismatch", "journal_version_unsupported"}


def test_another_version_is_told_as_that(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    written(path)
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 99', 1))
    assert refusal(path) == "journal_version_unsupported"


def test_a_link_and_a_special_file_are_refused_and_untouched(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "link").symlink_to(target)
    assert refusal(tmp_path / "link") == "setup_rejected"
    assert target.read_text() == "mine"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OpeningRefusedError, match="no regular file"):
        JournalFile(tmp_path / "pipe")
    with pytest.raises(OpeningRefusedError, match="cannot be opened"):
        JournalFile(tmp_path / "nowhere" / "journal.jsonl")


def test_an_append_that_fails_adds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.jsonl"
    file = JournalFile(path)
    journal = Journal(keep=file.write)
    journal.append(PAYLOADS[0])
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[:7])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("harness.journal.file.os.write", full)
        with pytest.raises(StorageError, match="the journal cannot be written: No space"):
            journal.append(PAYLOADS[1])
    assert [record.payload for record in journal.records] == [PAYLOADS[0]]
    assert JournalFile(path).records == journal.records
    journal.append(PAYLOADS[1])
    assert JournalFile(path).records == journal.records
    file.close()


def test_boundaries_are_synced_and_what_leads_to_them_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr("harness.journal.file.os.fdatasync", synced.append)
    file = JournalFile(tmp_path / "journal.jsonl")
    journal = Journal(keep=file.write)
    counts = []
    for payload in PAYLOADS:
        journal.append(payload)
        counts.append(len(synced))
    assert counts == [0, 0, 1, 2]
    file.close()


def test_an_interrupted_append_adds_nothing_and_another_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    written(path, PAYLOADS[:2])
    before = path.read_bytes()
    file = JournalFile(path)
    journal = Journal(stored=file.records, keep=file.write)
    for payload in PAYLOADS[:2]:
        journal.append(payload)
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:10])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(PAYLOADS[2])
    file.close()
    again = JournalFile(path)
    assert len(again.records) == 2
    journal = Journal(stored=again.records, keep=again.write)
    for payload in PAYLOADS[:3]:
        journal.append(payload)
    again.close()
    assert path.read_bytes().startswith(before)
    assert JournalFile(path).records == journal.records


def test_a_file_of_another_format_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"format": "other", "version": 1}\n')
    assert refusal(path) == "journal_integrity_mismatch"


def test_a_journal_that_cannot_be_read_leaves_no_descriptor_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    written(path)
    closed: list[int] = []
    real = os.close

    def interrupted(descriptor: int) -> bytes:
        raise KeyboardInterrupt

    def close(descriptor: int) -> None:
        closed.append(descriptor)
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("harness.journal.file._whole", interrupted)
        patch.setattr("harness.journal.file.os.close", close)
        with pytest.raises(KeyboardInterrupt):
            JournalFile(path)
    assert len(closed) == 1


def test_beginning_anew_forgets_the_records_on_disk_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = written(path)
    file = JournalFile(path)

    def refused(descriptor: int, length: int) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr("harness.journal.file.os.ftruncate", refused)
        with pytest.raises(StorageError, match="the journal cannot be written: Read-only"):
            file.start_anew()
    assert file.records == journal.records
    file.start_anew()
    assert (file.records, path.read_bytes()) == ((), b"")
    file.close()


def test_what_is_wrong_with_a_journal_is_told_and_what_stands_before_it_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = written(path)
    assert (journal_damage(path), intact(path)) == (None, journal.records)

    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:2], b"garbage\n", *lines[3:])))
    damage = journal_damage(path)
    assert damage is not None
    assert damage.problem.startswith("line 3 ")
    assert intact(path) == journal.records[:1]

    path.write_bytes(b"".join(lines)[:-3])
    assert (journal_damage(path), intact(path)) == (None, journal.records[:-1])


def test_a_journal_that_is_not_there_or_no_file_has_no_records_and_says_so(tmp_path: Path) -> None:
    none, folder = journal_damage(tmp_path / "none"), journal_damage(tmp_path)
    assert none is not None
    assert folder is not None
    assert (none.problem, intact(tmp_path / "none")) == ("is not there", ())
    assert folder.problem != "is not there"
    assert intact(tmp_path) == ()
