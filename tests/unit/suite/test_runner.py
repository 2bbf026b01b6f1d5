from __future__ import annotations

import gc
import threading
from collections.abc import Callable

import pytest
from machine import PATIENCE_S

from harness.collecting import OBJECTS
from harness.errors import PlaneMissingError, StoreError
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.verdict import Verdict
from harness.suite import SuiteEnd, run_suite

Job = Callable[[int], EpisodeJob]
Played = Callable[[EpisodeJob], EpisodeResult]


def _ignore(index: int, result: EpisodeResult) -> None:
    del index, result


def test_results_come_with_their_place_in_the_plan_as_they_finish(make_job: Job, passed: Played) -> None:
    jobs = [make_job(trial) for trial in (1, 2)]
    second_is_done = threading.Event()
    came: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        if job.trial == 1:
            assert second_is_done.wait(PATIENCE_S)
        return passed(job)

    def done(index: int, result: EpisodeResult) -> None:
        assert result.receipt.trial == index + 1
        came.append(index)
        if index == 1:
            second_is_done.set()

    end = run_suite(jobs, episode=episode, jobs_at_once=2, done=done, stop=threading.Event())

    assert (came, end) == ([1, 0], SuiteEnd(2, (), stopped=False))


def test_done_is_called_by_the_calling_thread_only(make_job: Job, passed: Played) -> None:
    threads: set[int] = set()

    run_suite(
        [make_job(trial) for trial in range(1, 9)],
        episode=passed,
        jobs_at_once=4,
        done=lambda _index, _result: threads.add(threading.get_ident()),
        stop=threading.Event(),
    )

    assert threads == {threading.get_ident()}


def test_never_more_than_asked_for_run_at_once(make_job: Job, passed: Played) -> None:
    lock, running, most = threading.Lock(), 0, 0
    both = threading.Barrier(2, timeout=PATIENCE_S)

    def episode(job: EpisodeJob) -> EpisodeResult:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1
        return passed(job)

    jobs = [make_job(trial) for trial in range(1, 9)]
    end = run_suite(jobs, episode=episode, jobs_at_once=2, done=_ignore, stop=threading.Event())

    assert (most, end.delivered) == (2, 8)


def test_a_bug_in_one_episode_harms_no_other_and_tells_no_message(make_job: Job, passed: Played) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        if job.trial == 2:
            raise RuntimeError("sk-canary-in-a-message")
        return passed(job)

    jobs = [make_job(trial) for trial in (1, 2, 3)]
    end = run_suite(jobs, episode=episode, jobs_at_once=1, done=_ignore, stop=threading.Event())

    (crash,) = end.crashes
    assert (end.delivered, crash.index, end.stopped) == (2, 1, False)
    assert crash.place.startswith("RuntimeError at test_runner.py:")
    assert "canary" not in repr(end)


def test_once_stopped_what_is_in_flight_is_finished_and_nothing_new_starts(make_job: Job, passed: Played) -> None:
    stop = threading.Event()
    started: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        started.append(job.trial)
        stop.set()
        return passed(job)

    jobs = [make_job(trial) for trial in (1, 2, 3)]
    end = run_suite(jobs, episode=episode, jobs_at_once=1, done=_ignore, stop=stop)

    assert (started, end) == ([1], SuiteEnd(1, (), stopped=True))


def test_an_episode_cancelled_by_the_stop_counts_as_not_run(make_job: Job, make_cancelled: Played) -> None:
    stop = threading.Event()
    came: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        stop.set()
        return make_cancelled(job)

    end = run_suite([make_job(1)], episode=episode, jobs_at_once=1, done=lambda index, _: came.append(index), stop=stop)

    assert (came, end) == ([], SuiteEnd(0, (), stopped=True))


def test_a_cancelled_episode_is_kept_where_nobody_stopped_the_run(make_job: Job, make_cancelled: Played) -> None:
    end = run_suite([make_job(1)], episode=make_cancelled, jobs_at_once=1, done=_ignore, stop=threading.Event())

    assert end == SuiteEnd(1, (), stopped=False)


def test_input_error_keeps_anything_new_from_starting(make_job: Job) -> None:
    started: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        started.append(job.trial)
        raise PlaneMissingError("plane==1", "home")

    with pytest.raises(PlaneMissingError):
        run_suite([make_job(1), make_job(2)], episode=episode, jobs_at_once=1, done=_ignore, stop=threading.Event())

    assert started == [1]


def test_input_error_is_raised_after_those_in_flight_are_delivered(make_job: Job, passed: Played) -> None:
    both = threading.Barrier(2, timeout=PATIENCE_S)
    came: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        both.wait()
        if job.trial == 1:
            raise PlaneMissingError("plane==1", "home")
        return passed(job)

    with pytest.raises(PlaneMissingError):
        run_suite(
            [make_job(1), make_job(2)],
            episode=episode,
            jobs_at_once=2,
            done=lambda index, _: came.append(index),
            stop=threading.Event(),
        )

    assert came == [1]


def test_an_error_of_done_stops_the_run_and_is_raised(make_job: Job, passed: Played) -> None:
    stop = threading.Event()
    started: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        started.append(job.trial)
        return passed(job)

    def done(index: int, result: EpisodeResult) -> None:
        del index, result
        raise StoreError("disk full")

    jobs = [make_job(trial) for trial in (1, 2, 3)]
    with pytest.raises(StoreError):
        run_suite(jobs, episode=episode, jobs_at_once=1, done=done, stop=stop)

    assert (started, stop.is_set()) == ([1], True)


def test_keyboard_interrupt_in_an_episode_is_raised(make_job: Job) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        del job
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_suite([make_job(1)], episode=episode, jobs_at_once=1, done=_ignore, stop=threading.Event())


def test_a_verdict_is_no_reason_to_stop(
    make_job: Job, make_result: Callable[[EpisodeJob, Verdict], EpisodeResult]
) -> None:
    end = run_suite(
        [make_job(trial) for trial in (1, 2)],
        episode=lambda job: make_result(job, "fail"),
        jobs_at_once=1,
        done=_ignore,
        stop=threading.Event(),
    )

    assert end.delivered == 2


def test_while_episodes_are_played_cycles_are_looked_for_less_often(
    make_job: Job, passed: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "freeze", lambda: None)  # of the other tests' objects none is to stay
    before, during = gc.get_threshold(), []

    def episode(job: EpisodeJob) -> EpisodeResult:
        during.append(gc.get_threshold()[0])
        return passed(job)

    run_suite([make_job(1)], episode=episode, jobs_at_once=1, done=_ignore, stop=threading.Event())
    assert during == [max(OBJECTS, before[0])]
    assert gc.get_threshold() == before
