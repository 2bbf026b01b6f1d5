"""Jobs and results of a scenario that is never played here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Receipt
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult, RunLogEntry
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.verdict import Verdict


def _loaded(name: str) -> LoadedScenario:
    scenario = Scenario.model_validate(
        {
            "schema": 1,
            "id": name,
            "asks": "Look.",
            "plane": "plane==1",
            "workspace": {"roots": ("project",)},
            "prompt": {"user": "Go."},
            "tool": {"exec": {"about": "Run.", "argument": "cmd", "grammar": "g"}},
            "kind": ({"name": "look", "read": "content", "sets": "seen"},),
            "end": {"accept": ("seen",), "silence": ({"code": "stopped"},)},
            "script": {"reference": ("look",)},
        }
    )
    return LoadedScenario(scenario=scenario, digest=f"sha256:{name}", path=f"{name}.toml")


def _job(name: str, trial: int = 1, *, live: bool = False) -> EpisodeJob:
    identity = ActorIdentity(ref="script", kind="live" if live else "script", digest="sha256:a")
    return EpisodeJob(
        loaded=_loaded(name),
        actor=ActorSpec(identity=identity),
        plane=PlaneIdentity(name="plane", version="1", wheel_sha256="ab"),
        trial=trial,
    )


def _result(job: EpisodeJob, verdict: Verdict, outcome: Outcome) -> EpisodeResult:
    receipt = Receipt(
        scenario=job.loaded.scenario.id,
        scenario_digest=job.loaded.digest,
        definition_digest=None,
        classifier_version=1,
        actor=job.actor.identity,
        plane=job.plane,
        trial=job.trial,
        attempt=job.attempt,
        outcome=outcome,
        verdict=verdict,
        cause=None,
        failure_code=None,
        findings=(),
        facts=(),
        steps=(),
        turns=(),
        counters=Counters(model_turns=0, tool_calls=0, executed_calls=0, refused_calls=0),
        boundary=Boundary(measured=False),
    )
    log = RunLogEntry(key=receipt.key, started_at="2026-01-01T00:00:00Z", seconds=0.0, executor="warm")
    return EpisodeResult(receipt=receipt, log=log)


@pytest.fixture
def make_loaded() -> Callable[[str], LoadedScenario]:
    """A scenario of the id that is given."""
    return _loaded


@pytest.fixture
def make_job() -> Callable[[int], EpisodeJob]:
    """A scripted job by its trial."""
    return lambda trial: _job("pack/a", trial)


@pytest.fixture
def live_job() -> EpisodeJob:
    """A job of a live actor."""
    return _job("pack/a", live=True)


@pytest.fixture
def make_result() -> Callable[[EpisodeJob, Verdict], EpisodeResult]:
    """What a job leaves behind, with the verdict that is given."""
    return lambda job, verdict: _result(job, verdict, Outcome(status="completed", reason="final_response"))


@pytest.fixture
def passed() -> Callable[[EpisodeJob], EpisodeResult]:
    """What a job leaves behind that passed."""
    return lambda job: _result(job, "pass", Outcome(status="completed", reason="scenario_satisfied"))


@pytest.fixture
def make_cancelled() -> Callable[[EpisodeJob], EpisodeResult]:
    """What a job leaves behind that was cancelled."""
    return lambda job: _result(job, "not_judged", Outcome(status="cancelled", reason="cancellation_requested"))


@pytest.fixture
def make_live() -> Callable[[int, str], EpisodeJob]:
    """A live job by its trial and provider."""

    def make(trial: int, provider: str) -> EpisodeJob:
        job = _job("pack/a", trial, live=True)
        identity = job.actor.identity.model_copy(update={"provider": provider, "digest": f"sha256:{provider}"})
        return job.model_copy(update={"actor": ActorSpec(identity=identity)})

    return make


@pytest.fixture
def make_failed() -> Callable[[EpisodeJob, str], EpisodeResult]:
    """What a live job leaves behind whose provider failed, by the category of the failure."""

    def make(job: EpisodeJob, category: str) -> EpisodeResult:
        outcome = Outcome(status="failed", reason="model_error", detail="server")
        result = _result(job, "not_judged", outcome)
        row = AttemptRow(operation="x", attempt=1, status="failed", usage=None, seconds=0.0, error=category)
        return EpisodeResult(
            receipt=result.receipt.model_copy(update={"cause": "provider"}),
            log=result.log.model_copy(update={"attempts": (row,)}),
        )

    return make
