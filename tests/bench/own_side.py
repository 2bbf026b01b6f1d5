"""Our side of ``episodes.py``: ``python own_side.py EPISODES FOLDER`` plays them in a process a processor, prints JSON.

One scenario, a scripted actor that makes five calls and says a last word, a control plane in this process, one run
folder. All that ``harness run`` does for an episode is done: each answer's wire form, a workspace of its own that is
looked at around each call, journal, gate and rules, the receipt, and a line in the run folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness import catalog, episode
from harness.clock import SystemClock
from harness.episode import EpisodeParts
from harness.ports import Pool, Provider
from harness.receipt import RunStore
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.process import Completed, PlaneIdentity, ProcessCommand
from harness.schema.run import Enforcement, EpisodeJob, EpisodeResult, Manifest, PlannedEpisode
from harness.schema.scenario import LoadedScenario, Scenario
from harness.suite import plan, run_suite
from harness.workspace import Removals

CALLS = 5
#: A process for each processor, as ``harness run --pool processes`` has by default.
PROCESSES = min(os.cpu_count() or 1, 8)
#: Episodes that warm all of them.
WARMING = 8 * PROCESSES
ANSWER = b'{"target": "notes/a.json", "stamp": 17}'
PLANE = PlaneIdentity(name="bench", version="1", wheel_sha256="0" * 64)
SCENARIO: dict[str, JsonValue] = {
    "schema": 1,
    "id": "bench/five-calls",
    "asks": "Ask the control plane five times, then say that it is done.",
    "plane": "bench==1",
    "limits": {"model_turns": 8},
    "outcomes": {"completed/final_response": {"verdict": "pass"}},
    "workspace": {"roots": ["project"], "file": [{"at": ["project/a.json"], "text": '{"a": 1}'}]},
    "prompt": {"user": "Do the steps in {project_root}."},
    "tool": {"exec": {"about": "Run one command.", "argument": "cmd", "grammar": "loopx-0.4"}},
    "call": {"program": "bench", "allow": {"step": ["number"]}, "volatile": ["/stamp"]},
    "kind": [
        {"name": "step", "call": ["step"], "failed": "step_failed", "sets": "stepped"},
        {"name": "never", "read": "clock", "sets": "never"},
    ],
    "end": {"accept": ["never"], "silence": [{"code": "stopped_early"}]},
    "script": {"reference": [*(f"bench step --number {n + 1}" for n in range(CALLS)), {"content": "done"}]},
}


@dataclass
class BenchPlane:
    """Answers at once and keeps nothing."""

    identity: PlaneIdentity = PLANE
    confined_to_fixture: bool = True

    def invoke(self, args: Sequence[str], *, timeout_s: float, output_bytes: int) -> Completed:
        """One call."""
        assert args[0] == "step"
        assert min(timeout_s, output_bytes) > 0
        return Completed(exit_code=0, stdout=ANSWER, stderr=b"", stdout_seen=len(ANSWER), stderr_seen=0)

    def close(self) -> None:
        """Nothing is open."""


class NoReads:
    """The scenario reads nothing."""

    def run(self, command: ProcessCommand) -> Completed:
        """Never asked."""
        raise AssertionError(command)

    def close(self) -> None:
        """Nothing is open."""


def jobs_of(count: int) -> tuple[EpisodeJob, ...]:
    """So many trials of the one scenario."""
    scenario = Scenario.model_validate_json(json.dumps(SCENARIO))
    loaded = LoadedScenario(scenario=scenario, digest=digest_json(SCENARIO), path="bench.toml")
    identity = ActorIdentity(ref="script:reference", kind="script", digest=digest_json("bench"))
    spec = ActorSpec(identity=identity, script=scenario.script.reference)
    return plan([loaded], {scenario.id: [spec]}, {"bench==1": (PLANE,)}, trials=count)


def manifest_of(jobs: Sequence[EpisodeJob]) -> Manifest:
    """The plan, as a run folder has it."""
    plane = PLANE.ref
    return Manifest(
        run_id="bench",
        harness_version="0",
        python="0",
        platform="0",
        created_at="2026-01-01T00:00:00Z",
        finished_at=None,
        state="running",
        scenarios=(),
        actors=(jobs[0].actor.identity,),
        planes=(PLANE,),
        enforcement=Enforcement(executor="warm"),
        plan=tuple(
            PlannedEpisode(scenario=job.loaded.scenario.id, actor=job.actor.identity.ref, plane=plane, trial=job.trial)
            for job in jobs
        ),
        receipts=(),
        verdicts={},
    )


@dataclass
class Player:
    """Plays episodes as a session does, with a plane of this process."""

    provider: Provider = field(default_factory=catalog.module("providers", "openai").build)
    removals: Removals = field(default_factory=Removals)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode."""
        parts = EpisodeParts(
            job=job,
            actor=catalog.module("actors", "scripted").build(job.actor, self.provider),
            open_plane=lambda _: BenchPlane(),
            executor=NoReads(),
            clock=SystemClock(),
            cancelled=self.stop.is_set,
            search_path="/usr/bin:/bin",
            remove_later=self.removals.hand_over,
        )
        return episode.run(parts)[0]

    def cancel(self) -> None:
        """End what runs."""
        self.stop.set()


@contextmanager
def open_player() -> Iterator[Player]:
    """One for a process."""
    player = Player()
    with contextlib.closing(player.removals):
        yield player


def play(jobs: Sequence[EpisodeJob], folder: Path, pool: Pool) -> int:
    """Run all of them into ``folder``; returns how many pass."""
    passed = 0

    def done(position: int, result: EpisodeResult) -> None:
        nonlocal passed
        passed += result.receipt.verdict == "pass" and result.receipt.counters.executed_calls == CALLS
        store.add(position, result)

    with RunStore(folder, manifest_of(jobs), SecretGuard(), sync=False) as store:
        run_suite(jobs, episode=Player().run, jobs_at_once=2 * PROCESSES, done=done, stop=threading.Event(), pool=pool)
        store.finish("2026-01-01T00:00:01Z")
    return passed


def burnt() -> float:
    """Seconds of processor that this process took, and those of it that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> int:
    """Play some that do not count, for what is loaded late; then all of them, and print."""
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    jobs = jobs_of(max(count, WARMING))
    pool: Pool = catalog.module("pools", "processes").build(jobs, PROCESSES, open_player)
    with contextlib.closing(pool):
        play(jobs[:WARMING], folder / "first", pool)
        before, started = burnt(), time.perf_counter()
        passed = play(jobs[:count], folder / "all", pool)
        seconds = time.perf_counter() - started
    told = {
        "seconds": seconds,
        "processor_seconds": burnt() - before,
        "passed": passed,
        "peak_kib": sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)),
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return int(passed != count)


if __name__ == "__main__":
    sys.exit(main())
