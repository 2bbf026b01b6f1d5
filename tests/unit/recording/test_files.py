from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import recorded as rec

from harness.errors import HarnessError, RecordingError, RedactionError, StoreError
from harness.recording import RecordingWriter, find, load, orphans, partials, recording_path, write
from harness.redaction import SecretGuard
from harness.schema.message import GenerationSettings

SECRET = "sk-canary-0123456789"
GUARD = SecretGuard([SECRET])
MADE = rec.recording([rec.exchange(1, {"q": 1}), rec.exchange(2, {"q": 2})])


def full(_: int, data: memoryview) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_path_tells_scenario_provider_model_and_settings(tmp_path: Path) -> None:
    path = recording_path(tmp_path, "demo/first", rec.ACTOR)
    assert path.relative_to(tmp_path).as_posix().startswith("demo/first/openai--gpt-x-")
    assert path.suffix == ".jsonl"
    warmer = rec.ACTOR.model_copy(update={"settings": GenerationSettings(temperature=1.0)})
    elsewhere = rec.ACTOR.model_copy(update={"digest": "sha256:other"})
    others = {recording_path(tmp_path, "demo/first", warmer), recording_path(tmp_path, "demo/first", rec.ACTOR, 2)}
    assert len(others | {path}) == 3
    assert recording_path(tmp_path, "demo/first", elsewhere) == path
    again = [recording_path(tmp_path, "demo/first", rec.ACTOR, *which).name for which in ((1, 2), (3, 2))]
    assert again == [f"{path.stem}-a2.jsonl", f"{path.stem}-t3-a2.jsonl"]


@pytest.mark.parametrize("model", ["Org/Model:7b", "../../etc/passwd", "ümläut", "a" * 300, ".hidden", ""])
def test_a_path_is_safe_and_its_own_whatever_the_model_is_called(model: str, tmp_path: Path) -> None:
    actor = rec.ACTOR.model_copy(update={"model": model, "ref": "openai/x"})
    path = recording_path(tmp_path, "demo/first", actor)
    assert path.parent == tmp_path / "demo" / "first"
    assert path.name.isascii()
    assert len(path.name) < 100
    assert path != recording_path(tmp_path, "demo/first", rec.ACTOR)


def test_models_that_look_alike_in_a_file_name_have_different_ones(tmp_path: Path) -> None:
    actors = [rec.ACTOR.model_copy(update={"model": model}) for model in ("a/b", "a-b", "A-B", "a:b")]
    assert len({recording_path(tmp_path, "demo/first", actor) for actor in actors}) == 4


def test_a_written_recording_is_whole_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "first" / "a.jsonl"
    assert write(path, MADE, GUARD) == MADE == load(path)
    assert list(path.parent.iterdir()) == [path]


def test_an_older_recording_is_replaced_only_where_that_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, MADE, GUARD)
    other = rec.recording([rec.exchange(1, {"q": 3})])
    with pytest.raises(StoreError, match=r"a\.jsonl: there is a recording already; --replace"):
        write(path, other, GUARD)
    assert load(path) == MADE
    write(path, other, GUARD, replace=True)
    assert load(path) == other


def test_one_that_appears_meanwhile_is_not_replaced_either(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with RecordingWriter(path, MADE.header, GUARD) as writer:
        writer.add(MADE.exchanges[0])
        write(path, MADE, GUARD)
        with pytest.raises(StoreError, match="already"):
            writer.finish()
    assert load(path) == MADE
    assert partials(tmp_path) == (writer.partial,)


def test_a_race_for_the_name_has_one_winner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link = tmp_path / "a.jsonl", os.link

    def late(source: Path, target: Path) -> None:
        path.write_bytes(b"the other one")
        link(source, target)

    monkeypatch.setattr("harness.recording.files.os.link", late)
    with pytest.raises(StoreError, match="already"):
        write(path, MADE, GUARD)
    assert path.read_bytes() == b"the other one"


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("harness.recording.files.os.link", no_link)
    path = tmp_path / "a.jsonl"
    write(path, MADE, GUARD)
    with pytest.raises(StoreError, match="already"):
        write(path, rec.recording([]), GUARD)
    assert load(path) == MADE
    assert list(tmp_path.iterdir()) == [path]


def test_a_secret_stops_the_write_and_leaves_nothing(tmp_path: Path) -> None:
    dirty = rec.recording([rec.exchange(1, {"q": SECRET})])
    with pytest.raises(RedactionError):
        write(tmp_path / "a.jsonl", dirty, GUARD)
    assert list(tmp_path.iterdir()) == []
    with RecordingWriter(tmp_path / "a.jsonl", MADE.header, GUARD) as writer:
        with pytest.raises(RedactionError):
            writer.add(dirty.exchanges[0])
        assert SECRET.encode() not in writer.partial.read_bytes()


def test_a_full_disk_is_one_line_and_the_older_recording_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    write(path, MADE, GUARD)
    writer = RecordingWriter(path, MADE.header, GUARD, replace=True)
    monkeypatch.setattr("harness.recording.files.os.write", full)
    with pytest.raises(StoreError, match=r"a\.jsonl: cannot be written: No space left on device$"):
        write(path, MADE, GUARD, replace=True)
    with pytest.raises(StoreError, match="No space left"):
        writer.add(MADE.exchanges[0])
    assert load(path) == MADE
    assert find(tmp_path.parent, tmp_path.name) == (path,)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        write(tmp_path / "file" / "a.jsonl", MADE, GUARD)
    with pytest.raises(StoreError, match="cannot be written"):
        RecordingWriter(tmp_path / "file" / "a.jsonl", MADE.header, GUARD)


def test_each_exchange_is_kept_at_once_and_a_crash_leaves_what_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "first" / "a.jsonl"
    writer = RecordingWriter(path, MADE.header, GUARD)
    writer.add(MADE.exchanges[0])
    assert writer.partial.read_bytes().count(b"\n") == 2
    writer.close()
    assert find(tmp_path, "demo/first") == ()
    assert partials(tmp_path) == (writer.partial,)
    with pytest.raises(RecordingError, match="there is no seal"):
        load(writer.partial)
    again = RecordingWriter(path, MADE.header, GUARD)
    again.add(MADE.exchanges[0])
    again.finish()
    assert find(tmp_path, "demo/first") == (path,)
    assert partials(tmp_path) == (writer.partial,)


def test_finishing_gives_the_recording_and_takes_no_more(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.jsonl", MADE.header, GUARD) as writer:
        for exchange in MADE.exchanges:
            writer.add(exchange)
        assert writer.finish() == MADE
        with pytest.raises(HarnessError, match="no more entries"):
            writer.add(MADE.exchanges[0])
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_discarded_recording_leaves_nothing(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "a.jsonl", MADE.header, GUARD)
    writer.discard()
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_recordings_without_a_scenario_are_orphans(tmp_path: Path) -> None:
    places = ["demo/first/a.jsonl", "demo/gone/a.jsonl", "b.jsonl", "demo/first/deeper/c.jsonl"]
    for place in [*places, "demo/first/notes.md", "demo/gone/a.jsonl.partial"]:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("")
    found = [path.relative_to(tmp_path).as_posix() for path in orphans(tmp_path, {"demo/first"})]
    assert found == ["b.jsonl", "demo/first/deeper/c.jsonl", "demo/gone/a.jsonl"]
    assert find(tmp_path, "demo/first") == (tmp_path / "demo/first/a.jsonl",)
    assert find(tmp_path, "demo/none") == orphans(tmp_path / "none", ()) == ()


def test_a_folder_that_cannot_be_looked_into_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("x")
    with pytest.raises(StoreError, match="demo: cannot be read: Not a directory"):
        find(tmp_path, "demo")
    with pytest.raises(StoreError, match="demo: cannot be read: Not a directory"):
        orphans(tmp_path / "demo", ())
