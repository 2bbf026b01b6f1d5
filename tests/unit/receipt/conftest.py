"""A plan of three episodes and results for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from planned import job_of, receipt_of

from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_text
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters
from harness.schema.run import Enforcement, EpisodeResult, Manifest, PlannedEpisode, RunLogEntry

PLANE = PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="0" * 64)
ACTOR = ActorIdentity(ref="script", kind="script", digest=digest_text("script"))
SCENARIOS = ("demo/first", "demo/second", "demo/third")


@pytest.fixture(scope="session")
def manifest() -> Manifest:
    return Manifest(
        run_id="run-1",
        harness_version="0.1.0",
        python="3.11.7",
        platform="Linux",
        created_at="2026-08-12T00:00:00+00:00",
        finished_at=None,
        state="running",
        scenarios=(),
        actors=(ACTOR,),
        planes=(PLANE,),
        enforcement=Enforcement(executor="warm"),
        plan=tuple(PlannedEpisode(scenario=name, actor="script", plane="loopx==0.4.8", trial=1) for name in SCENARIOS),
        receipts=(),
        verdicts={},
    )


@pytest.fixture(scope="session")
def make_result() -> Callable[[int], EpisodeResult]:
    def make(position: int) -> EpisodeResult:
        name = SCENARIOS[position]
        receipt = receipt_of(
            job_of(name),
            "pass",
            Outcome(status="completed", reason="scenario_satisfied"),
            scenario_digest=digest_text(name),
            actor=ACTOR,
            plane=PLANE,
            counters=Counters(model_turns=1, tool_calls=0, executed_calls=0, refused_calls=0),
            boundary=Boundary(measured=True),
        )
        log = RunLogEntry(key=receipt.key, started_at="2026-08-12T00:00:00+00:00", seconds=0.5, executor="warm")
        return EpisodeResult(receipt=receipt, log=log)

    return make
