"""A provider that wants fewer calls gets fewer episodes, before they are begun; nobody else waits for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite import Care, run_suite
from harness.suite.queue import PATIENCE_S, Entry, Queue

Live = Callable[[int, str], EpisodeJob]
Played = Callable[[EpisodeJob], EpisodeResult]
Failed = Callable[[EpisodeJob, str], EpisodeResult]


@dataclass
class Slow:
    """What each provider takes now."""

    most: dict[str, int] = field(default_factory=dict)
    closed: dict[str, float] = field(default_factory=dict)

    def at_most(self, provider: str) -> int:
        return self.most.get(provider, 9)

    def closed_s(self, provider: str) -> float:
        return self.closed.get(provider, 0.0)


def test_no_more_episodes_of_a_provider_run_than_it_takes_now_and_others_have_the_room(
    make_live: Live, passed: Played
) -> None:
    pacing, lock = Slow({"slow": 1}), threading.Lock()
    running, most = Counter[str](), Counter[str]()
    three = threading.Barrier(3, timeout=20)

    def episode(job: EpisodeJob) -> EpisodeResult:
        name = job.actor.identity.provider or ""
        with lock:
            running[name] += 1
            most[name] = max(most[name], running[name])
        three.wait()  # always one of the slow one, and two of the other
        with lock:
            running[name] -= 1
        return passed(job)

    jobs = [*(make_live(trial, "slow") for trial in range(1, 4)), *(make_live(trial, "fast") for trial in range(1, 7))]
    done: list[int] = []
    end = run_suite(
        jobs,
        episode=episode,
        jobs_at_once=3,
        done=lambda index, _: done.append(index),
        stop=threading.Event(),
        pacing=pacing,
    )
    assert most == {"slow": 1, "fast": 2}
    assert (end.delivered, sorted(done), end.stopped) == (9, list(range(9)), False)


def test_what_it_takes_is_asked_again_each_time(make_live: Live) -> None:
    pacing = Slow({"p": 2})
    queue = Queue([make_live(trial, "p") for trial in range(1, 6)], Care(concurrency={"p": 3}), pacing=pacing)
    first, second = queue.start(), queue.start()
    assert first is not None
    assert second is not None
    assert queue.start() is None
    pacing.most["p"] = 9
    assert queue.start() is not None
    assert queue.start() is None  # what was asked for bounds it all the same
    pacing.most["p"] = 1
    queue.ended(first, None)
    assert queue.start() is None


def test_an_episode_waits_for_its_provider_before_it_is_begun(
    make_live: Live, make_job: Callable[[int], EpisodeJob]
) -> None:
    pacing = Slow(closed={"p": 40.0, "gone": 7200.0})
    queue = Queue([], Care(pause_s=1.0), pacing=pacing)
    assert queue.pause_s(Entry(0, make_live(1, "p"))) == 40.0
    assert queue.pause_s(Entry(0, make_live(1, "p"), retry=9)) == 40.0
    assert queue.pause_s(Entry(0, make_live(1, "gone"))) == PATIENCE_S
    assert queue.pause_s(Entry(0, make_live(1, "other"))) == 0.0
    assert queue.pause_s(Entry(0, make_live(1, "other"), retry=3)) == 4.0
    assert queue.pause_s(Entry(0, make_job(1))) == 0.0
    assert Queue([], Care()).pause_s(Entry(0, make_live(1, "p"))) == 0.0
