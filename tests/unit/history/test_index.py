"""The index of runs: what is put in comes out, whoever writes beside, and whatever happens to the file."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from past import indexed_episode

from harness.errors import IndexDamagedError, StoreError
from harness.history import HistoryIndex
from harness.history.index import VERSION
from harness.schema.history import IndexedRun

EPISODE = indexed_episode()


def run(number: int, *, state: str = "complete") -> IndexedRun:
    return IndexedRun.model_validate(
        {
            "folder": f"run-{number:04}",
            "run_id": f"id-{number}",
            "created_at": f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}+00:00",
            "finished_at": None,
            "state": state,
            "harness_version": "1",
            "planned": 1,
            "seal": None,
            "episodes": (EPISODE,),
        }
    )


@pytest.fixture
def index(tmp_path: Path) -> HistoryIndex:
    return HistoryIndex(tmp_path / "history.sqlite")


def test_runs_come_out_newest_first_and_a_run_stands_once(index: HistoryIndex) -> None:
    assert index.runs() == ()
    for number in (2, 1, 3):
        index.put(run(number, state="running"))
    index.put(run(2))
    assert index.runs() == (run(3, state="running"), run(2), run(1, state="running"))
    index.forget(["run-0003", "never-there"])
    index.replace([run(5), run(4)])
    assert index.runs() == (run(5), run(4))


def _write(path: Path, first: int) -> None:
    index = HistoryIndex(path)
    for number in range(first, first + 25):
        index.put(run(number))


def test_two_processes_write_at_once_and_nothing_is_lost(index: HistoryIndex) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write, args=(index.path, first)) for first in (0, 100)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(index.runs()) == 50


def _dying() -> Iterator[IndexedRun]:
    yield from (run(number) for number in range(100, 150))
    os.kill(os.getpid(), signal.SIGKILL)


def _replace_and_die(path: Path) -> None:
    HistoryIndex(path).replace(_dying())


def test_a_rebuild_that_is_killed_leaves_what_was_there(index: HistoryIndex) -> None:
    index.replace([run(1), run(2)])
    child = multiprocessing.get_context("spawn").Process(target=_replace_and_die, args=(index.path,))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert index.runs() == (run(2), run(1))
    index.put(run(3))
    assert len(index.runs()) == 3


@pytest.mark.parametrize(
    "data", [b"no database at all, but long enough to be looked at" * 40, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_damaged_file_says_how_to_make_it_anew(index: HistoryIndex, data: bytes) -> None:
    index.path.write_bytes(data)
    with pytest.raises(IndexDamagedError, match="harness history rebuild"):
        index.runs()
    index.remove()
    index.replace([run(1)])
    assert index.runs() == (run(1),)


def test_a_file_of_another_program_or_with_other_rows_is_not_taken(index: HistoryIndex) -> None:
    with sqlite3.connect(index.path) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(IndexDamagedError, match="is no index of runs"):
        index.put(run(1))
    index.remove()
    index.put(run(1))
    with sqlite3.connect(index.path) as database:
        database.execute("UPDATE run SET row = '{}'")
    with pytest.raises(IndexDamagedError, match="something else than runs"):
        index.runs()


def test_versions_are_told_apart(index: HistoryIndex) -> None:
    index.put(run(1))
    with sqlite3.connect(index.path) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match="newer harness") as newer:
        index.runs()
    assert not isinstance(newer.value, IndexDamagedError)
    with sqlite3.connect(index.path) as database:
        database.execute("PRAGMA user_version = -1")
    with pytest.raises(IndexDamagedError, match="older harness"):
        index.runs()


def test_a_full_disk_is_told_and_leaves_what_was_there(index: HistoryIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    index.put(run(1))
    connect = sqlite3.connect

    def small(path: Path, *, timeout: float, isolation_level: None) -> sqlite3.Connection:
        database = connect(path, timeout=timeout, isolation_level=isolation_level)
        database.execute("PRAGMA max_page_count = 4")
        return database

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", small)
        with pytest.raises(StoreError, match="database or disk is full"):
            index.replace([run(number) for number in range(200)])
    assert index.runs() == (run(1),)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open database file"):
        HistoryIndex(tmp_path / "nowhere" / "history.sqlite").put(run(1))
