"""Our side of ``concurrency.py``: ``python live_side.py URL EPISODES AT_ONCE FOLDER``, prints JSON.

What ``own_side.py`` plays, with a live actor over HTTP: AT_ONCE episodes at a time, their logs in FOLDER.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from own_side import CALLS, PLANE, SCENARIO, BenchPlane, NoReads, manifest_of
from server_side import MODEL

from harness import episode
from harness.clock import SystemClock
from harness.episode import EpisodeParts
from harness.receipt import RunStore
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import digest_json
from harness.schema.message import GenerationSettings
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario, Scenario
from harness.suite import Care, plan, run_suite
from harness.wiring.actors import Transports, open_actor
from harness.wiring.places import Settings
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
    """Plays episodes as a session does, with a plane of this process."""

    transports: Transports
    place: Settings
    removals: Removals = field(default_factory=Removals)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode."""
        parts = EpisodeParts(
            job=job,
            actor=open_actor(self.place, job.actor, self.transports),
            open_plane=lambda _: BenchPlane(),
            executor=NoReads(),
            clock=SystemClock(),
            cancelled=self.stop.is_set,
            search_path="/usr/bin:/bin",
            remove_later=self.removals.hand_over,
        )
        return episode.run(parts)[0]


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


def play(url: str, count: int, at_once: int, folder: Path) -> Counted:
    """Run all of them into ``folder``."""
    jobs, counted = jobs_of(url, count), Counted()
    place = Settings(Path.cwd(), folder, (), dict(os.environ))
    player = Player(Transports(place), place)

    def done(position: int, result: EpisodeResult) -> None:
        whole = result.receipt.verdict == "pass" and result.receipt.counters.executed_calls == CALLS
        counted.passed[result.receipt.trial] += whole
        counted.add(result)
        store.add(position, result)

    def again(position: int, result: EpisodeResult) -> None:
        counted.repeated += 1
        counted.add(result)
        store.add(position, result)

    with (
        contextlib.closing(player.removals),
        contextlib.closing(player.transports),
        RunStore(folder / "run", manifest_of(jobs), SecretGuard(), sync=False) as store,
    ):
        run_suite(
            jobs,
            episode=player.run,
            jobs_at_once=at_once,
            done=done,
            again=again,
            stop=player.stop,
            care=Care(retries=5),
        )
        store.finish("2026-01-01T00:00:01Z")
    return counted


def main() -> int:
    """Play one that does not count, for what is loaded late; then all of them, and print."""
    url, count, at_once, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    play(url, 1, 1, folder / "first")
    started, burnt = time.perf_counter(), time.process_time()
    counted = play(url, count, at_once, folder / "all")
    told = {
        "seconds": time.perf_counter() - started,
        "processor_seconds": time.process_time() - burnt,
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
