from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from machine import PATIENCE_S
from orphaned import appears, began_and_orphaned
from planned import job_of
from pooled import DeskPlayer, asks, desk_players, first_dies, passes, refuses, sits

from harness.errors import EnvironmentProblem, StoreError, UsageError
from harness.pools.workers import Workers, build
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite import SuiteEnd, run_suite

JOBS = [job_of("pack/a", trial) for trial in range(1, 9)]


@dataclass
class Clerk:
    """Doubles numbers, and notes what it hears."""

    heard: list[object] = field(default_factory=list)
    closed: int = 0
    trouble: Exception | None = None

    def answer(self, question: object) -> object:
        if self.trouble is not None:
            raise self.trouble
        match question:
            case (int() as trial, int() as number):
                return trial, 2 * number
            case _:
                return question

    def hear(self, news: object) -> None:
        self.heard.append(news)

    def close(self) -> None:
        self.closed += 1


@dataclass
class Office:
    """A clerk for each episode, and what belongs to none."""

    trouble: Exception | None = None
    clerks: list[Clerk] = field(default_factory=list)
    news: list[object] = field(default_factory=list)

    def clerk_of(self, _: EpisodeJob) -> Clerk:
        self.clerks.append(Clerk(trouble=self.trouble))
        return self.clerks[-1]


@contextmanager
def pool_of(
    play: Callable[[DeskPlayer, EpisodeJob], EpisodeResult], folder: Path, sizes: list[int], office: Office
) -> Iterator[Workers]:
    pool = build(
        JOBS,
        sizes,
        desk_players(play, folder),  # type: ignore[arg-type]  # what is yielded plays
        clerk_of=office.clerk_of,
        news=office.news.append,
        stop=threading.Event(),
    )
    try:
        yield pool
    finally:
        pool.close()


def play_all(pool: Workers, at_once: int) -> tuple[SuiteEnd, dict[int, EpisodeResult]]:
    came: dict[int, EpisodeResult] = {}

    def unused(job: object) -> EpisodeResult:
        raise AssertionError(job)

    end = run_suite(
        JOBS, episode=unused, jobs_at_once=at_once, done=came.__setitem__, stop=threading.Event(), pool=pool
    )
    return end, came


@pytest.mark.slow
def test_threads_of_several_processes_are_each_answered_what_they_asked(tmp_path: Path) -> None:
    office = Office()
    with pool_of(asks, tmp_path, [2, 1], office) as pool:
        end, came = play_all(pool, 3)
        again = pool.submit(1, JOBS[1].model_copy(update={"attempt": 3}), 0.0).result(PATIENCE_S)

    assert end == SuiteEnd(8, (), stopped=False)
    assert came == {place: passes(None, job) for place, job in enumerate(JOBS)}  # type: ignore[arg-type]  # not looked at
    assert again is not None
    assert (again.receipt.trial, again.receipt.attempt) == (2, 3)
    trials = [*range(1, 9), 2]
    assert sorted(str(one) for clerk in office.clerks for one in clerk.heard) == sorted(f"told by {n}" for n in trials)
    assert sorted(map(str, office.news)) == sorted(f"reported by {n}" for n in trials)
    assert {clerk.closed for clerk in office.clerks} == {1}
    assert len(appears(tmp_path, "closed-*", 2)) == 2


@pytest.mark.slow
def test_a_process_that_is_killed_loses_its_own_episodes_only(tmp_path: Path) -> None:
    office = Office()
    with pool_of(first_dies, tmp_path, [1, 1], office) as pool:
        end, came = play_all(pool, 2)

    assert end == SuiteEnd(7, (), stopped=False, lost=1)
    assert sorted(came) == [1, 2, 3, 4, 5, 6, 7]
    assert [clerk.closed for clerk in office.clerks] == [1] * 8


@pytest.mark.slow
def test_where_all_processes_were_killed_nobody_is_waited_for(tmp_path: Path) -> None:
    with pool_of(first_dies, tmp_path, [1], Office()) as pool, pytest.raises(EnvironmentProblem, match="fewer --jobs"):
        play_all(pool, 1)


def test_what_a_clerk_cannot_keep_ends_the_run_in_its_own_words(tmp_path: Path) -> None:
    office = Office(trouble=StoreError("the disk is full"))
    with pool_of(asks, tmp_path, [2], office) as pool, pytest.raises(StoreError, match="the disk is full"):
        play_all(pool, 2)


def test_what_runs_ends_when_it_is_told_to_and_a_pause_when_nothing_more_is_begun(tmp_path: Path) -> None:
    with pool_of(sits, tmp_path, [2], Office()) as pool:
        running = [pool.submit(place, JOBS[place], 0.0) for place in (0, 1)]
        began = appears(tmp_path, "began-*", 2)
        os.kill(int(began[0].name.rpartition("-")[2]), signal.SIGTERM)  # it is for the one that began it to say
        pausing = pool.submit(2, JOBS[2], 3600.0)
        pool._stop.set()
        pool.shut_down()
        results = [one.result(PATIENCE_S) for one in running]
        assert pausing.result(PATIENCE_S) is None
    assert [result is not None for result in results] == [True, True]
    assert len(appears(tmp_path, "closed-*-shut", 1)) == 1


@pytest.mark.slow
def test_an_episode_that_cannot_be_played_ends_the_run_in_its_own_words(tmp_path: Path) -> None:
    with (
        pool_of(refuses, tmp_path, [1], Office()) as pool,
        pytest.raises(UsageError, match=r"^trial [1-8] cannot be played$"),
    ):
        play_all(pool, 1)


PROGRAM = """
import sys, threading
sys.path[:0] = {path!r}
if __name__ == "__main__":
    from pathlib import Path
    from test_workers import JOBS, Office, build, desk_players, sits
    office, opened = Office(), desk_players(sits, Path({folder!r}))
    pool = build(
        JOBS, [2, 1], opened, clerk_of=office.clerk_of, news=office.news.append, stop=threading.Event()
    )
    [pool.submit(place, job, 0.0) for place, job in enumerate(JOBS)]
    input()
"""


@pytest.mark.slow
def test_processes_shut_down_with_the_one_that_began_them_however_it_ends(tmp_path: Path) -> None:
    pids = began_and_orphaned(PROGRAM, tmp_path, Path(__file__).parent, 3)

    closed = appears(tmp_path, "closed-*-shut", 2)

    assert {path.name.split("-")[1] for path in closed} == pids
