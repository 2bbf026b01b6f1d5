from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path

import pytest
from machine import PATIENCE_S
from orphaned import appears, began_and_orphaned
from planned import job_of
from pooled import breaks, dies, passes, players, refuses, waits

from harness.errors import EnvironmentProblem, UsageError
from harness.pools.processes import Processes, build
from harness.receipt import line
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeResult
from harness.suite import SuiteEnd, run_suite

JOBS = [job_of("pack/a", trial) for trial in range(1, 5)]


@contextmanager
def pool_of(play: object, folder: Path) -> Iterator[Processes]:
    pool = build(JOBS, 2, players(play, folder))  # type: ignore[arg-type]  # each test names a function of pooled
    try:
        yield pool
    finally:
        pool.close()


def play_all(pool: Processes) -> tuple[SuiteEnd, dict[int, EpisodeResult]]:
    came: dict[int, EpisodeResult] = {}

    def unused(job: object) -> EpisodeResult:
        raise AssertionError(job)

    end = run_suite(JOBS, episode=unused, jobs_at_once=4, done=came.__setitem__, stop=threading.Event(), pool=pool)
    return end, came


def test_results_come_back_as_they_were_made_with_their_place_in_the_plan(tmp_path: Path) -> None:
    with pool_of(passes, tmp_path) as pool:
        end, came = play_all(pool)

    assert end == SuiteEnd(4, (), stopped=False)
    assert came == {place: passes(None, job) for place, job in enumerate(JOBS)}  # type: ignore[arg-type]  # not looked at
    assert appears(tmp_path, "closed-*")


def test_a_receipt_comes_with_its_line_which_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pool_of(passes, tmp_path) as pool:
        result = pool.submit(0, JOBS[0], 0.0).result(PATIENCE_S)
    assert result is not None
    made = line(result.receipt.model_copy())

    def anew(_: Receipt) -> str:
        raise AssertionError("it is made again")

    monkeypatch.setattr(line, "_function", anew)
    assert line(result.receipt) == made


def test_a_further_attempt_is_played_as_that_attempt(tmp_path: Path) -> None:
    again = JOBS[1].model_copy(update={"attempt": 3})

    with pool_of(passes, tmp_path) as pool:
        result = pool.submit(1, again, 0.01).result(PATIENCE_S)

    assert result is not None
    assert (result.receipt.trial, result.receipt.attempt) == (2, 3)


def test_an_episode_that_cannot_be_played_ends_the_run_in_its_own_words(tmp_path: Path) -> None:
    with pool_of(refuses, tmp_path) as pool, pytest.raises(UsageError, match=r"^trial [1-4] cannot be played$"):
        play_all(pool)


def test_a_bug_harms_no_other_episode_and_is_told_by_its_place_alone(tmp_path: Path) -> None:
    with pool_of(breaks, tmp_path) as pool:
        end, came = play_all(pool)

    assert (len(end.crashes), came) == (4, {})
    assert end.crashes[0].place.startswith("LookupError at pooled.py:")
    assert "a value of trial" not in str(end.crashes)


def test_a_process_that_is_killed_ends_the_run_with_advice(tmp_path: Path) -> None:
    with pool_of(dies, tmp_path) as pool, pytest.raises(EnvironmentProblem, match="fewer --jobs"):
        play_all(pool)


def test_what_runs_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with pool_of(waits, tmp_path) as pool:
        running = pool.submit(0, JOBS[0], 0.0)
        appears(tmp_path, "began-*")
        pool.cancel()

        with pytest.raises(UsageError, match="trial 1 was ended"):
            running.result(PATIENCE_S)


def test_what_no_process_has_taken_is_cancelled_with_the_pool_and_what_runs_is_waited_for(tmp_path: Path) -> None:
    with pool_of(waits, tmp_path) as pool:
        first = pool.submit(0, JOBS[0], 0.0)
        appears(tmp_path, "began-*")
        running = [first, pool.submit(1, JOBS[1], 0.0)]
        appears(tmp_path, "began-*", 2)
        left = [pool.submit(place, JOBS[place], 0.0) for place in (2, 3)]
        closing = threading.Thread(target=pool.close)
        closing.start()
        with pytest.raises(CancelledError):
            left[-1].result(PATIENCE_S)
        assert (left[0].cancelled(), [one.done() for one in running]) == (True, [False, False])
        pool.cancel()
        closing.join(PATIENCE_S)
        assert [type(one.exception(0)) for one in running] == [UsageError, UsageError]


def children(pool: Processes) -> list[int]:
    return [process.pid for process in pool._processes if process.pid is not None]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_what_a_terminal_sends_to_a_process_that_just_begins_ends_nothing(tmp_path: Path, number: int) -> None:
    with pool_of(passes, tmp_path) as pool:
        running = pool.submit(0, JOBS[0], 0.0)
        for child in children(pool):
            os.kill(child, number)
        result = running.result(PATIENCE_S)
        for child in children(pool):
            os.kill(child, number)  # and neither does it later
        again = pool.submit(1, JOBS[1], 0.0).result(PATIENCE_S)
    assert (result is not None, again is not None) == (True, True)


@pytest.mark.parametrize("at_once", [True, False], ids=["beginning", "playing"])
def test_processes_that_are_ended_with_their_run_are_no_failure(tmp_path: Path, at_once: bool) -> None:
    with pool_of(waits, tmp_path) as pool:
        running = pool.submit(0, JOBS[0], 0.0)
        if not at_once:
            appears(tmp_path, "began-*")
        for child in children(pool):
            os.kill(child, signal.SIGTERM if at_once else signal.SIGKILL)
        pool.cancel()
        assert running.result(PATIENCE_S) is None
        assert pool.submit(1, JOBS[1], 0.0).result(PATIENCE_S) is None


def test_what_a_terminal_sends_to_the_whole_group_is_answered_by_the_one_that_began_it(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    places = [str(Path(__file__).parent), *sys.path]
    script.write_text(GROUP.format(path=places, folder=str(tmp_path)), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        start_new_session=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "4\n", "")


def test_whoever_begins_processes_hears_what_was_sent_meanwhile(tmp_path: Path) -> None:
    with pool_of(passes, tmp_path) as pool:
        pool.submit(0, JOBS[0], 0.0)
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


GROUP = """
import os, signal, sys
sys.path[:0] = {path!r}
if __name__ == "__main__":
    from pathlib import Path
    from test_processes import JOBS, build, passes, players
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    pool = build(JOBS, 2, players(passes, Path({folder!r})))
    running = [pool.submit(place, job, 0.0) for place, job in enumerate(JOBS)]
    for number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(0, number)
    results = [one.result(50.0) for one in running]
    for number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(0, number)
    pool.close()
    print(sum(result is not None for result in results))
"""

PROGRAM = """
import sys
sys.path[:0] = {path!r}
if __name__ == "__main__":
    from pathlib import Path
    from test_processes import JOBS, build, players, waits
    pool = build(JOBS, 2, players(waits, Path({folder!r})))
    [pool.submit(place, job, 0.0) for place, job in enumerate(JOBS)]
    input()
"""


def test_processes_end_with_the_one_that_began_them_however_it_ends(tmp_path: Path) -> None:
    pids = began_and_orphaned(PROGRAM, tmp_path, Path(__file__).parent, 2)

    closed = appears(tmp_path, "closed-*", 2)

    assert {path.name.rpartition("-")[2] for path in closed} == pids
