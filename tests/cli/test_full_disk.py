"""Case f008: a disk that fills up. Earlier results survive, nothing is torn, and nobody calls it a success."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Protocol

import pytest

from harness.receipt import read_run, store, verify_run


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


def fills_up(monkeypatch: pytest.MonkeyPatch, name: str, *, after: int = 20) -> None:
    """Writing a file of this name finds room for so many bytes more, and then none."""
    opened, left = {-1}, [after]
    real_open, real_write = os.open, os.write

    def open_(path: Path, flags: int, mode: int = 0o777) -> int:
        descriptor = real_open(path, flags, mode)
        opened.discard(descriptor)
        if name in Path(path).name:
            opened.add(descriptor)
        return descriptor

    def write(descriptor: int, data: bytes) -> int:
        if descriptor not in opened:
            return real_write(descriptor, data)
        taken, left[0] = min(left[0], len(data)), max(left[0] - len(data), 0)
        if taken == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real_write(descriptor, data[:taken])

    monkeypatch.setattr(f"{store.__name__}.os.open", open_)
    monkeypatch.setattr(f"{store.__name__}.os.write", write)


def one_line(err: str, name: str) -> None:
    (line,) = [line for line in err.splitlines() if "No space left on device" in line]
    assert name in line


def test_f008_an_old_file_is_whole_where_a_new_one_does_not_fit(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert harness("run", "--out", "out")[0] == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir() if path.is_file()}
    with monkeypatch.context() as patch:
        fills_up(patch, "receipts.jsonl")
        code, _, err = harness("run", "--out", "other")
    assert code == 4
    one_line(err, "other/receipts.jsonl")
    assert [path.name for path in Path("other").glob(".*")] == []
    # what was finished is still read from where it was kept first
    assert len(read_run(Path("other")).receipts) == len(read_run(Path("out")).receipts)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir() if path.is_file()} == before
    assert verify_run(Path("out")).flaws == ()


def test_f008_an_episode_that_does_not_fit_leaves_no_torn_line(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fills_up(patch, "episodes.part.jsonl", after=1500)
        code, out, err = harness("run", "--out", "out", "--trials", "4", "--format", "jsonl")
    assert code == 4
    one_line(err, "out/episodes.part.jsonl")
    kept = read_run(Path("out")).receipts
    assert 0 < len(kept) < 8
    assert verify_run(Path("out")).flaws == ()
    assert [json.loads(row)["scenario"] for row in out.splitlines()] == [receipt.scenario for receipt in kept]


def test_f008_a_report_that_does_not_fit_leaves_the_results(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fills_up(patch, "report.html")
        code, _, err = harness("run", "--out", "out")
    assert code == 4
    one_line(err, "out/report.html")
    assert not (Path("out") / "report.html").exists()
    assert verify_run(Path("out")).flaws == ()
    assert harness("report", "out")[0] == 0
