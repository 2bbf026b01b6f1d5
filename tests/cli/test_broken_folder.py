"""A run folder that is not as a run left it, or that nothing can be written to: one line each, no traceback."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from harness.receipt import store

ACTOR = "openai-compatible/m@http://127.0.0.1:1"


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


@pytest.fixture
def run(harness: Harness, world: World) -> Path:
    """A live run that is done."""
    assert harness("run", "--actor", ACTOR, "--yes-spend", "--out", "out")[0] == 0
    return Path("out")


def _file(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.write_text("canary")


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("nowhere")


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


Case = tuple[str, Callable[[Path], None], tuple[str, ...], int]
RESUME = ("run", "--resume", "out", "--yes-spend")
REPORT, VERIFY, PURGE, SHOW = ("report", "out"), ("verify", "out"), ("history", "purge", "out"), ("show", "out/1")


@pytest.mark.parametrize(
    "case",
    [
        *((name, _file, RESUME, 4) for name in ("episodes", "recordings", "outputs", "damaged", "superseded")),
        *((name, _link, RESUME, 4) for name in ("episodes", "recordings")),
        ("episodes", _file, VERIFY, 1),
        ("episodes", _file, PURGE, 4),
        ("episodes", _link, PURGE, 4),
        *(("manifest.json", _folder, words, 4) for words in (RESUME, REPORT, VERIFY, PURGE, SHOW)),
        *(("manifest.json", _link, words, 4) for words in (RESUME, REPORT, VERIFY, PURGE, SHOW)),
        *(("receipts.jsonl", _folder, words, 4) for words in (RESUME, REPORT, VERIFY, PURGE, SHOW)),
        *(("run.jsonl", _folder, words, 4) for words in (RESUME, REPORT, PURGE, SHOW)),
        ("run.jsonl", _folder, VERIFY, 1),
        ("asked.json", _folder, RESUME, 4),
        ("spending.jsonl", _folder, RESUME, 4),
        *((name, _pipe, RESUME, 4) for name in ("manifest.json", "receipts.jsonl", "asked.json", "spending.jsonl")),
        ("report.html", _folder, REPORT, 4),
        ("report.html", _folder, RESUME, 4),
    ],
    ids=lambda case: f"{case[0]}-{case[1].__name__}-{'-'.join(case[2][:2])}",
)
def test_what_stands_in_the_place_of_something_else_is_one_line(harness: Harness, run: Path, case: Case) -> None:
    name, breaks, words, code = case
    breaks(run / name)
    ended, out, err = harness(*words)
    assert ended == code, (out, err)
    told = [line for line in (out if code == 1 else err).splitlines() if name in line or "holds no run" in line]
    assert len(told) == 1, (out, err)
    assert "canary" not in out + err
    assert "Traceback" not in out + err


@pytest.mark.parametrize("words", [RESUME, REPORT])
def test_pipes_where_files_are_written_beside_give_way(harness: Harness, run: Path, words: tuple[str, ...]) -> None:
    names = ("episodes.part.jsonl", "manifest.json", "receipts.jsonl", "run.jsonl", "report.html", "summary.md")
    for name in names:
        _pipe(run / f".{name}.part")
    code, _, err = harness(*words)
    assert code == 0, err
    assert (run / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("error", [30, 13, 28], ids=["read-only", "not ours", "full"])
def test_a_folder_that_nothing_can_be_written_to_is_one_line(
    harness: Harness, run: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    real = os.open

    def refuses(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(error, os.strerror(error))
        return real(path, flags, mode)

    monkeypatch.setattr(f"{store.__name__}.os.open", refuses)
    for words in (RESUME, ("run", "--actor", ACTOR, "--yes-spend", "--out", "other")):
        code, _, err = harness(*words)
        assert code == 4, words
        assert len([line for line in err.splitlines() if os.strerror(error) in line]) == 1, err
    assert not Path("other/manifest.json").exists()
