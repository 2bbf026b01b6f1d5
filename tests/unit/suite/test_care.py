"""Providers of live models are spared: bounds on episodes at once, further attempts, and being left alone."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from machine import PATIENCE_S

from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite import Care, SuiteEnd, run_suite

Live = Callable[[int, str], EpisodeJob]
Played = Callable[[EpisodeJob], EpisodeResult]
Failed = Callable[[EpisodeJob, str], EpisodeResult]
AT_ONCE = Care(pause_s=0)


class Told:
    """Who was told what, by place and attempt."""

    def __init__(self) -> None:
        self.done: list[tuple[int, int]] = []
        self.again: list[tuple[int, int]] = []
        self.refs: list[str] = []

    def take(self, index: int, result: EpisodeResult) -> None:
        self.refs.append(result.receipt.actor.ref)
        self.done.append((index, result.receipt.attempt))

    def take_again(self, index: int, result: EpisodeResult) -> None:
        self.again.append((index, result.receipt.attempt))


def run(
    jobs: list[EpisodeJob],
    episode: Played,
    care: Care,
    *,
    at_once: int = 1,
    stop: threading.Event | None = None,
    before: Sequence[EpisodeResult] = (),
) -> tuple[SuiteEnd, Told]:
    told = Told()
    end = run_suite(
        jobs,
        episode=episode,
        jobs_at_once=at_once,
        done=told.take,
        stop=stop or threading.Event(),
        care=care,
        again=told.take_again,
        before=before,
    )
    return end, told


def test_a_provider_gets_no_more_episodes_at_once_than_it_may_and_others_go_on(make_live: Live, passed: Played) -> None:
    lock, running, most = threading.Lock(), Counter[str](), Counter[str]()
    three = threading.Barrier(3, timeout=PATIENCE_S)

    def episode(job: EpisodeJob) -> EpisodeResult:
        name = job.actor.identity.provider or ""
        with lock:
            running[name] += 1
            most[name] = max(most[name], running[name])
        three.wait()  # always one of the bounded provider and two of the other
        with lock:
            running[name] -= 1
        return passed(job)

    jobs = [make_live(trial, "slow") for trial in (1, 2)] + [make_live(trial, "fast") for trial in (1, 2, 3, 4)]
    end, _ = run(jobs, episode, Care(concurrency={"slow": 1, "fast": 2}), at_once=4)

    assert (most, end) == ({"slow": 1, "fast": 2}, SuiteEnd(6, (), stopped=False))


def test_episodes_start_in_the_order_of_the_plan_whoever_answers_them(make_live: Live, passed: Played) -> None:
    started: list[tuple[str | None, int]] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        started.append((job.actor.identity.provider, job.trial))
        return passed(job)

    order = [("a", 1), ("b", 1), ("b", 2), ("a", 2), ("c", 1), ("a", 3)]
    run([make_live(trial, name) for name, trial in order], episode, Care())

    assert started == order


def test_scripts_and_recordings_are_bounded_by_no_provider(
    make_job: Callable[[int], EpisodeJob], passed: Played
) -> None:
    both = threading.Barrier(2, timeout=PATIENCE_S)

    def episode(job: EpisodeJob) -> EpisodeResult:
        both.wait()
        return passed(job)

    jobs = []
    for trial in (1, 2):
        job = make_job(trial)
        identity = job.actor.identity.model_copy(update={"kind": "recorded", "provider": "slow"})
        jobs.append(job.model_copy(update={"actor": job.actor.model_copy(update={"identity": identity})}))
    end, _ = run(jobs, episode, Care(concurrency={"slow": 1}), at_once=2)

    assert end.delivered == 2


def test_an_outage_is_tried_again_under_further_attempts_that_are_no_trials(
    make_live: Live, make_failed: Failed, passed: Played
) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        return make_failed(job, "overloaded") if job.trial == 1 and job.attempt < 3 else passed(job)

    end, told = run([make_live(1, "a"), make_live(2, "a")], episode, Care(retries=2, pause_s=0))

    # a further attempt comes after everything else that the provider waits for
    assert (told.again, told.done) == ([(0, 1), (0, 2)], [(1, 1), (0, 3)])
    assert end == SuiteEnd(4, (), stopped=False)


def test_the_last_of_too_many_failed_attempts_is_the_result(make_live: Live, make_failed: Failed) -> None:
    end, told = run([make_live(1, "a")], lambda job: make_failed(job, "timeout"), Care(retries=1, pause_s=0))

    assert (told.again, told.done, end.stopped) == ([(0, 1)], [(0, 2)], False)


def test_one_that_is_gone_on_with_counts_the_attempts_before(make_live: Live, make_failed: Failed) -> None:
    job = make_live(1, "a").model_copy(update={"attempt": 3})
    _, told = run([job], lambda one: make_failed(one, "timeout"), Care(retries=2, pause_s=0))

    assert (told.again, told.done) == ([], [(0, 3)])


@pytest.mark.parametrize("category", ["auth", "quota_exhausted", "invalid_request", "model_not_found"])
def test_what_will_not_change_is_not_asked_again(make_live: Live, make_failed: Failed, category: str) -> None:
    _, told = run([make_live(1, "a")], lambda job: make_failed(job, category), Care(retries=2, pause_s=0))

    assert (told.again, told.done) == ([], [(0, 1)])


def test_neither_a_verdict_nor_an_outage_of_a_script_is_tried_again(
    make_live: Live, make_job: Callable[[int], EpisodeJob], make_failed: Failed, passed: Played
) -> None:
    care = Care(retries=2, pause_s=0)
    for job, result in (
        (make_live(1, "a"), passed(make_live(1, "a"))),
        (make_job(1), make_failed(make_job(1), "timeout")),
    ):
        _, told = run([job], lambda _, result=result: result, care)  # type: ignore[misc]
        assert (told.again, told.done) == ([], [(0, 1)])


def test_a_further_attempt_waits_twice_as_long_each_time_and_never_forever() -> None:
    care = Care(pause_s=1.0)
    assert [care.pause(retry) for retry in (1, 2, 3, 4, 5, 6, 7, 100)] == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_run_that_is_stopped_in_a_pause_plays_no_further_attempt(make_live: Live, make_failed: Failed) -> None:
    stop = threading.Event()
    played: list[int] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        played.append(job.attempt)
        return make_failed(job, "timeout")

    told = Told()

    def again(index: int, result: EpisodeResult) -> None:
        told.take_again(index, result)
        threading.Timer(0.05, stop.set).start()

    end = run_suite(
        [make_live(1, "a")],
        episode=episode,
        jobs_at_once=1,
        done=told.take,
        stop=stop,
        care=Care(retries=1, pause_s=PATIENCE_S),
        again=again,
    )

    assert (played, told.done, end.stopped) == ([1], [], True)


@pytest.mark.parametrize("category", ["auth", "quota_exhausted"])
def test_a_provider_that_refuses_several_in_a_row_is_left_alone_and_others_are_not(
    make_live: Live, make_failed: Failed, passed: Played, category: str
) -> None:
    played: list[tuple[str | None, int]] = []

    def episode(job: EpisodeJob) -> EpisodeResult:
        provider = job.actor.identity.provider
        played.append((provider, job.trial))
        return make_failed(job, category) if provider == "bad" else passed(job)

    jobs = [make_live(trial, name) for trial in range(1, 7) for name in ("bad", "good")]
    end, told = run(jobs, episode, AT_ONCE)

    assert Counter(name for name, _ in played) == {"bad": 3, "good": 6}
    assert (end.left_alone, end.stopped, end.delivered) == ({"bad": 3}, False, 9)
    assert len(told.done) == 9


def _of(job: EpisodeJob, ref: str, address: str, key_env: str) -> EpisodeJob:
    """The same dialect asked at an address with a key."""
    identity = job.actor.identity.model_copy(update={"ref": ref, "digest": f"sha256:{ref}"})
    actor = job.actor.model_copy(update={"identity": identity, "base_url": address, "key_env": key_env})
    return job.model_copy(update={"actor": actor})


@pytest.mark.parametrize(
    ("other", "together"),
    [(("b.example", "KEY"), False), (("a.example", "OTHER_KEY"), False), (("a.example", "KEY"), True)],
)
def test_who_refuses_is_an_address_with_a_key_and_not_a_dialect(
    make_live: Live, make_failed: Failed, passed: Played, other: tuple[str, str], together: bool
) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        return make_failed(job, "auth") if job.trial < 4 or job.actor.identity.ref == "bad" else passed(job)

    bad = [_of(make_live(trial, "x"), "bad", "a.example", "KEY") for trial in range(1, 7)]
    good = [_of(make_live(trial, "x"), "good", *other) for trial in range(4, 10)]
    end, told = run([*bad, *good], episode, AT_ONCE)

    played = Counter(told.refs)
    assert played == ({"bad": 3} if together else {"bad": 3, "good": 6})
    assert end.left_alone == ({"x": 9} if together else {"x of actor bad": 3})
    before = [make_failed(job, "auth") for job in bad[:3]]
    end, _ = run([*bad[3:], *good], episode, AT_ONCE, before=before)
    assert end.left_alone == ({"x": 9} if together else {"x of actor bad": 3})


def test_a_limit_by_name_holds_for_all_addresses_of_that_name(make_live: Live, passed: Played) -> None:
    at_once, most, lock = 0, 0, threading.Lock()

    def episode(job: EpisodeJob) -> EpisodeResult:
        nonlocal at_once, most
        with lock:
            at_once, most = at_once + 1, max(most, at_once + 1)
        threading.Event().wait(0.01)
        with lock:
            at_once -= 1
        return passed(job)

    jobs = [_of(make_live(trial, "x"), ref, ref, "KEY") for trial in (1, 2, 3) for ref in ("one", "two")]
    run(jobs, episode, Care(concurrency={"x": 1}), at_once=4)
    assert most == 1


def test_a_reply_in_between_shows_that_the_provider_still_answers(
    make_live: Live, make_failed: Failed, passed: Played
) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        return passed(job) if job.trial % 3 == 0 else make_failed(job, "auth")

    end, _ = run([make_live(trial, "a") for trial in range(1, 10)], episode, AT_ONCE)

    assert (end.delivered, end.left_alone) == (9, {})


def test_an_outage_in_between_shows_nothing(make_live: Live, make_failed: Failed) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        return make_failed(job, "connection_lost" if job.trial == 2 else "auth")

    end, _ = run([make_live(trial, "a") for trial in range(1, 10)], episode, AT_ONCE)

    assert (end.delivered, end.left_alone) == (4, {"a": 5})


@pytest.mark.parametrize(("refusals", "played"), [(0, 9), (1, 1), (5, 5)])
def test_how_many_refusals_are_enough_can_be_said(
    make_live: Live, make_failed: Failed, refusals: int, played: int
) -> None:
    care = Care(refusals=refusals, pause_s=0)
    end, _ = run([make_live(trial, "a") for trial in range(1, 10)], lambda job: make_failed(job, "auth"), care)

    assert end.delivered == played


def test_further_attempts_at_a_provider_that_is_left_alone_are_not_made_and_not_counted(
    make_live: Live, make_failed: Failed
) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        return make_failed(job, "timeout" if job.trial == 1 else "auth")

    end, told = run([make_live(trial, "a") for trial in (1, 2, 3, 4, 5)], episode, Care(retries=2, pause_s=0))

    assert (told.again, [index for index, _ in told.done]) == ([(0, 1)], [1, 2, 3])
    assert end.left_alone == {"a": 1}


def test_where_nothing_more_may_start_no_further_attempt_is_made(make_live: Live, make_failed: Failed) -> None:
    told = Told()
    end = run_suite(
        [make_live(1, "a"), make_live(2, "a")],
        episode=lambda job: make_failed(job, "timeout"),
        jobs_at_once=1,
        done=told.take,
        stop=threading.Event(),
        care=Care(retries=3, pause_s=0),
        may_start=lambda: len(told.again) < 2,
        again=told.take_again,
    )

    assert (told.again, told.done, end) == ([(0, 1), (1, 1)], [], SuiteEnd(2, (), stopped=True))
