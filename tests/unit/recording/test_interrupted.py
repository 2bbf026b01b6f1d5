from __future__ import annotations

from pathlib import Path

import pytest
import recorded as rec

from harness.errors import StoreError
from harness.recording import RecordingWriter, halves, halves_below, remove, superfluous
from harness.redaction import SecretGuard

MADE = rec.recording([rec.exchange(1, {"q": 1, "t": "line:exchange"}), rec.exchange(2, {"q": 2})])
GUARD = SecretGuard()


def interrupted(path: Path, exchanges: int) -> RecordingWriter:
    writer = RecordingWriter(path, MADE.header, GUARD)
    for exchange in MADE.exchanges[:exchanges]:
        writer.add(exchange)
    return writer


def test_halves_of_a_recording_are_told_with_what_they_hold_and_who_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "first" / "a.jsonl"
    interrupted(path, 2).close()
    with interrupted(path, 1):
        (tmp_path / "demo" / "first" / "a.jsonl.x.partial").write_bytes(b"")
        (tmp_path / "demo" / "first" / "a.jsonl-b.jsonl.partial").write_bytes(b"")
        found = halves(path)
        assert [(half.path.name, half.exchanges, half.busy) for half in found] == [
            ("a.jsonl.2.partial", 1, True),
            ("a.jsonl.partial", 2, False),
        ]
        assert str(found[0]).endswith("a.jsonl.2.partial; is being recorded at this moment")
        assert str(found[0]).startswith("half a recording, 1 exchange: ")
        assert str(found[1]) == f"half a recording, 2 exchanges: {found[1].path}; recording was interrupted"
        assert len(halves_below(tmp_path)) == 4
    assert [half.busy for half in halves(path)] == [False, False]
    assert halves(tmp_path / "none" / "a.jsonl") == ()


def test_the_fullest_half_is_the_one_that_is_worth_keeping(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for exchanges in (0, 2, 1):
        interrupted(path, exchanges).close()
    with interrupted(path, 0):
        assert [half.exchanges for half in superfluous(halves(path))] == [0, 1]
    assert superfluous(()) == ()


def test_what_is_removed_is_told_and_what_is_being_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    interrupted(path, 1).close()
    with interrupted(path, 1) as writer:
        found = halves(path)
        assert [half.path.name for half in remove(found)] == ["a.jsonl.partial"]
        assert list(tmp_path.iterdir()) == [writer.partial]
    assert [half.path for half in remove(found)] == [writer.partial]
    assert remove(found) == ()


def test_a_half_that_became_whole_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    monkeypatch.setattr("harness.recording.interrupted.partials", lambda _: (tmp_path / "a.jsonl.partial",))
    assert halves(path) == ()


def test_what_cannot_be_read_or_removed_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "link.partial").symlink_to("link.partial")
    with pytest.raises(StoreError, match=r"link\.partial: cannot be (used|read): Too many levels"):
        halves_below(tmp_path)
    (tmp_path / "link.partial").unlink()
    interrupted(tmp_path / "a.jsonl", 1).close()
    found = halves_below(tmp_path)
    found[0].path.unlink()
    found[0].path.symlink_to(found[0].path.name)
    with pytest.raises(StoreError, match="cannot be used"):
        remove(found)


def test_a_file_system_without_locks_has_nobody_who_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unsupported)
    with interrupted(tmp_path / "a.jsonl", 1):
        assert [half.busy for half in halves(tmp_path / "a.jsonl")] == [False]
