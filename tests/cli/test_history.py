"""The runs below a folder: listed, indexed anew, and removed when they are old."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Protocol

import pytest

from harness.errors import StoreError
from harness.receipt import sole


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


@pytest.fixture
def reports(harness: Harness, world: World) -> Path:
    """Three runs."""
    for name in ("one", "two", "three"):
        assert harness("run", "--out", f"reports/{name}")[0] == 0
    return Path("reports")


def listed(harness: Harness, *argv: str) -> list[str]:
    code, out, _ = harness("history", "list", "--format", "jsonl", *argv)
    assert code == 0
    return sorted(json.loads(row)["folder"] for row in out.splitlines())


def test_every_run_is_in_the_index_when_it_ends(harness: Harness, reports: Path) -> None:
    assert (reports / "history.sqlite").exists()
    assert listed(harness) == ["one", "three", "two"]
    code, out, err = harness("history", "list")
    assert (code, err) == (0, "")
    heading, first, *_ = (" ".join(line.split()) for line in out.splitlines())
    assert heading == "run created (UTC) state episodes"
    assert re.fullmatch(r"(one|two|three) \d{4}-\d\d-\d\d \d\d:\d\d complete 2 passed", first)
    assert listed(harness, "--scenario", "pack/*", "--actor", "script", "--state", "complete") == listed(harness)
    assert listed(harness, "--scenario", "other/*") == listed(harness, "--state", "running") == []
    assert len(listed(harness, "-n", "1")) == 1


def test_an_index_that_is_missing_or_damaged_is_made_anew(harness: Harness, reports: Path) -> None:
    (reports / "history.sqlite").unlink()
    assert listed(harness) == ["one", "three", "two"]
    (reports / "history.sqlite").write_bytes(b"x" * 4096)
    code, out, err = harness("history", "list", "--format", "json")
    assert (code, len(json.loads(out)["runs"]), err.count("\n")) == (0, 3, 1)
    assert "it was made anew" in err


def test_what_came_changed_and_went_since_is_listed_as_it_is(
    harness: Harness, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert harness("run", "pack/a", "--out", "elsewhere")[0] == 0
    Path("elsewhere").rename(reports / "four")
    shutil.rmtree(reports / "two")
    manifest = json.loads((reports / "one/manifest.json").read_text())
    (reports / "one/manifest.json").write_text(json.dumps({**manifest, "state": "interrupted"}))
    (reports / "broken").mkdir()
    (reports / "broken/manifest.json").write_text("{")
    code, out, err = harness("history", "list", "--format", "jsonl")
    rows = {row["folder"]: row["state"] for row in map(json.loads, out.splitlines())}
    assert (code, rows) == (0, {"one": "interrupted", "three": "complete", "four": "complete"})
    assert (err.count("\n"), err.startswith("harness: left out: ")) == (1, True)
    shutil.rmtree(reports / "broken")
    read: list[Path] = []
    monkeypatch.setattr("harness.wiring.indexing.read_outline", read.append)
    assert (listed(harness), read) == (["four", "one", "three"], [])


def test_runs_are_listed_though_the_index_cannot_be_written(
    harness: Harness, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    shutil.rmtree(reports / "two")
    monkeypatch.setattr("harness.history.HistoryIndex.forget", full)
    code, out, err = harness("history", "list", "--format", "jsonl")
    assert (code, len(out.splitlines()), err) == (0, 2, "harness: the disk is full\n")


def test_an_index_that_cannot_be_written_harms_no_run(harness: Harness, reports: Path) -> None:
    (reports / "history.sqlite").unlink()
    (reports / "history.sqlite").mkdir()
    code, _, err = harness("run", "--out", "reports/four")
    assert code == 0
    assert "harness: the run is not in the index of runs: " in err
    (reports / "history.sqlite").rmdir()
    (reports / "five").mkdir()
    (reports / "five" / "manifest.json").write_text("{")
    code, out, err = harness("history", "rebuild")
    assert (code, out) == (0, f"{Path.cwd() / 'reports/history.sqlite'}: 4 runs\n")
    assert err.startswith("harness: left out: ")


def test_old_runs_go_and_what_is_pinned_or_written_in_stays(harness: Harness, reports: Path) -> None:
    assert harness("history", "prune")[0] == 4
    (reports / "keep.txt").write_text("# the baseline\none # of spring\n")
    code, out, _ = harness("history", "prune", "--keep", "0", "--dry-run")
    assert (code, out.count("would remove"), listed(harness)) == (0, 2, ["one", "three", "two"])
    assert harness("history", "prune", "--older-than", "1")[1].endswith("0 runs removed\n")
    held = sole(reports / "three")
    code, _, err = harness("history", "prune", "--keep", "0")
    assert (code, "another run is writing here" in err) == (4, True)
    os.close(held)
    assert harness("history", "prune", "--keep", "0")[0] == 0
    assert sorted(path.name for path in reports.iterdir() if path.is_dir()) == ["one"]
    assert listed(harness) == ["one"]


def test_without_a_folder_of_runs_there_is_one_line(harness: Harness, world: World) -> None:
    for verb in ("list", "diff", "flakes", "trend"):
        code, out, err = harness("history", verb)
        assert (code, out, err.count("\n")) == (5, "", 1)
        code, out, err = harness("history", verb, "--reports", "elsewhere")
        assert (code, out, err.count("\n")) == (4, "", 1)


def test_nothing_is_purged_under_a_run_that_goes_on(harness: Harness, reports: Path) -> None:
    kept = reports / "one" / "episodes" / "some" / "journal.jsonl"
    kept.parent.mkdir(parents=True)
    kept.touch()
    held = sole(reports / "one")
    try:
        code, _, err = harness("history", "purge", str(reports / "one"))
    finally:
        os.close(held)
    assert (code, "another run is writing here" in err, kept.exists()) == (4, True, True)
    assert harness("history", "purge", str(reports / "one"))[:2] == (
        0,
        f"{reports / 'one'}: 1 unfinished episode removed\n",
    )
    assert not kept.exists()


def test_nothing_half_written_is_left_by_a_purge(harness: Harness, reports: Path) -> None:
    whole = reports / "one" / "recordings" / "pack" / "a" / "whole.jsonl"
    halves = [
        whole.with_name("half.jsonl.partial"),
        whole.with_name("half.jsonl.2.partial"),
        reports / "one" / "outputs" / ".aa.txt.part",
        reports / "one" / ".manifest.json.part",
    ]
    for path in (whole, *halves):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("said")
    (reports / "one" / "episodes").mkdir()
    assert harness("history", "purge", str(reports / "one"))[0] == 0
    assert [path for path in halves if path.exists()] == []
    assert whole.read_text() == "said"
    assert not (reports / "one" / "episodes").exists()


def test_a_run_is_not_read_once_more_for_the_index(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("harness.wiring.indexing.read_outline", None)
        assert harness("run", "--out", "reports/one")[::2] == (0, "")
    assert listed(harness) == ["one"]
