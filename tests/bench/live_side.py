"""Our side of ``concurrency.py``: ``python live_side.py URL EPISODES AT_ONCE FOLDER``, prints JSON.

What ``own_side.py`` plays, with a live actor over HTTP: AT_ONCE episodes at a time in a process a processor, as
``harness run --pool processes`` plays them, at one account and one pace for all; their logs in FOLDER. Not in it is
what a run keeps on disk to be gone on with, for the others keep nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from own_side import CALLS, PLANE, PROCESSES, SCENARIO, BenchPlane, NoReads, burnt, manifest_of
from server_side import MODEL

from harness import catalog, episode
from harness.clock import SystemClock
from harness.episode import EpisodeParts
from harness.meter import Bound, Ceiling
from harness.ports import Pool
from harness.receipt import RunStore
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import digest_json
from harness.schema.message import GenerationSettings
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario, Scenario
from harness.suite import Care, plan, run_suite
from harness.wiring.actors import Transports, open_actor
from harness.wiring.pacing import Paces
from harness.wiring.places import Settings
from harness.wiring.quota import EpisodeQuota
from harness.wiring.sharing import Clerk, news_to
from harness.wiring.worker import Away, Desk
from harness.workspace import Removals


def jobs_of(url: str, count: int) -> tuple[EpisodeJob, ...]:
    """So many trials of the one scenario with the model there."""
    scenario = Scenario.model_validate_json(json.dumps(SCENARIO))
    loaded = LoadedScenario(scenario=scenario, digest=digest_json(SCENARIO), path="bench.toml")
    ref = f"openai-compatible/{MODEL}"
    identity = ActorIdentity(
        ref=ref,
        kind="live",
        provider="openai-compatible",
        model=MODEL,
        settings=GenerationSettings(max_output_tokens=100),
        digest=digest_json(ref),
    )
    spec = ActorSpec(identity=identity, base_url=url, key_required=False)
    return plan([loaded], {scenario.id: [spec]}, {"bench==1": (PLANE,)}, trials=count)


@dataclass
class Player:
    """Plays episodes as a session of a process does, with a plane of this process."""

    place: Settings
    away: Away
    transports: Transports
    removals: Removals = field(default_factory=Removals)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode."""
        parts = EpisodeParts(
            job=job,
            actor=open_actor(self.place, job.actor, self.transports, hearing=self.away.hearing(job.actor.identity)),
            open_plane=lambda _: BenchPlane(),
            executor=NoReads(),
            clock=SystemClock(),
            cancelled=self.stop.is_set,
            search_path="/usr/bin:/bin",
            quota=EpisodeQuota(self.away, job),
            pace=self.away.visitor(job.actor.identity),
            late_row=self.away.late_row,
            remove_later=self.removals.hand_over,
        )
        return episode.run(parts)[0]

    def cancel(self) -> None:
        """End what runs."""
        self.stop.set()

    shut_down = cancel


@contextlib.contextmanager
def opened(folder: Path, desk: Desk) -> Iterator[Player]:
    """One for a process."""
    place = Settings(Path.cwd(), folder, (), dict(os.environ))
    player = Player(place, Away(desk), Transports(place))
    with contextlib.closing(player.removals), contextlib.closing(player.transports):
        yield player


@dataclass
class Counted:
    """What came of the episodes: which trials were judged, and how many attempts at calls and at trials there were."""

    passed: Counter[int] = field(default_factory=Counter)
    calls: int = 0
    refused_calls: int = 0
    repeated: int = 0

    def add(self, result: EpisodeResult) -> None:
        """One that counts, or one that is tried again."""
        self.calls += len(result.log.attempts)
        self.refused_calls += sum(row.status != "completed" for row in result.log.attempts)


def play(jobs: Sequence[EpisodeJob], at_once: int, folder: Path, pool: Pool, paces: Paces) -> Counted:
    """Run all of them into ``folder``."""
    counted = Counted()

    def done(position: int, result: EpisodeResult) -> None:
        whole = result.receipt.verdict == "pass" and result.receipt.counters.executed_calls == CALLS
        counted.passed[result.receipt.trial] += whole
        counted.add(result)
        store.add(position, result)

    def again(position: int, result: EpisodeResult) -> None:
        counted.repeated += 1
        counted.add(result)
        store.add(position, result)

    with RunStore(folder, manifest_of(jobs), SecretGuard(), sync=False) as store:
        run_suite(
            jobs,
            episode=_never,
            jobs_at_once=at_once,
            done=done,
            again=again,
            stop=threading.Event(),
            care=Care(retries=5),
            pool=pool,
            pacing=paces,
        )
        store.finish("2026-01-01T00:00:01Z")
    return counted


def _never(job: EpisodeJob) -> EpisodeResult:
    raise AssertionError(job.trial)


def main() -> int:
    """Play some that do not count, for what is loaded late; then all of them, and print."""
    url, count, at_once, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    jobs, clock = jobs_of(url, max(count, at_once)), SystemClock()
    paces, ceiling = Paces(clock, at_once=at_once), Ceiling(Bound(), clock.monotonic)
    sizes = [len(range(first, at_once, PROCESSES)) for first in range(PROCESSES)]
    pool: Pool = catalog.module("pools", "workers").build(
        jobs,
        sizes,
        partial(opened, folder),
        clerk_of=partial(Clerk, ceiling=ceiling, paces=paces),
        news=news_to(paces, lambda _: None),
        stop=threading.Event(),
    )
    with contextlib.closing(pool):
        play(jobs[: 2 * PROCESSES], at_once, folder / "first", pool, paces)
        before, started = burnt(), time.perf_counter()
        counted = play(jobs[:count], at_once, folder / "all", pool, paces)
        seconds = time.perf_counter() - started
    told = {
        "seconds": seconds,
        "processor_seconds": burnt() - before,
        "passed": sum(counted.passed.values()),
        "trials": len(counted.passed),
        "calls": counted.calls,
        "refused_calls": counted.refused_calls,
        "repeated_trials": counted.repeated,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return int(counted.passed != Counter(range(1, count + 1)))


if __name__ == "__main__":
    sys.exit(main())
