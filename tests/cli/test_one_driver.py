"""A run folder is claimed before anything in it is read: what a driver goes by is what is there while it drives."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path
from typing import Protocol

import pytest

from harness.receipt import read_run, sole
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.verdict import Verdict


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    jobs: list[EpisodeJob]
    verdicts: dict[str, Verdict]
    episode: object

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


@pytest.fixture
def interrupted(harness: Harness, world: World) -> Path:
    """A run whose first episode is finished, and whose second is left."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        os.kill(os.getpid(), signal.SIGINT)
        return world.result(job)

    world.episode = episode
    assert harness("run", "-n", "1", "--out", "out")[0] == 130
    world.episode = None
    world.jobs.clear()
    return Path("out")


def test_who_gets_the_folder_when_another_driver_is_done_goes_by_what_that_one_left(
    harness: Harness, world: World, interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = fcntl.flock
    others: list[int] = []

    def after_another(descriptor: int, how: int) -> None:
        if not others:
            others.append(0)
            others.append(harness("run", "--resume", "out")[0])
        really(descriptor, how)

    monkeypatch.setattr("harness.receipt.locking.fcntl.flock", after_another)
    code, _, err = harness("run", "--resume", "out")

    assert (others, code) == ([0, 0], 0)
    assert err == "harness: all 2 episodes are finished: nothing is left to play\n"
    assert [job.loaded.scenario.id for job in world.jobs] == ["pack/b"]
    assert len(read_run(interrupted).receipts) == 2


@pytest.mark.parametrize("more", [(), ("--replay-damaged",), ("--max-time", "1h")])
def test_while_somebody_drives_a_run_nobody_reads_what_is_left_of_it(
    harness: Harness, world: World, interrupted: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    def remainder(*_: object, **__: object) -> None:
        raise AssertionError("what is left was read")

    monkeypatch.setattr("harness.cli.resuming.remainder", remainder)
    monkeypatch.setattr("harness.cli.run.asked_of", remainder)
    before = {path: path.read_bytes() for path in interrupted.iterdir() if path.is_file()}
    held = sole(interrupted)
    try:
        code, _, err = harness("run", "--resume", "out", *more)
    finally:
        os.close(held)
    assert (code, err.count("\n"), world.jobs) == (4, 1, [])
    assert f"out: another run is writing here (process {os.getpid()}); wait for its end" in err
    assert {path: path.read_bytes() for path in interrupted.iterdir() if path.is_file()} == before


def test_a_run_that_was_killed_before_it_began_is_begun_again(harness: Harness, world: World) -> None:
    left = Path("out")
    left.mkdir()
    for name in ("episodes.part.jsonl", ".manifest.json.part", "asked.json"):
        (left / name).touch()
    code, _, err = harness("run", "--resume", "out")
    assert (code, world.jobs) == (4, [])
    assert err == (
        "harness: out: its run was killed before it began, so nothing was played; begin it again: harness run ... "
        "--out out\n"
    )
    assert harness("run", "--out", "out")[0] == 0
    assert harness("run", "--resume", "out")[0] == 0
    assert not (left / ".manifest.json.part").exists()
