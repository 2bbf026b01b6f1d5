"""Jobs and results of a scenario that is never played here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from planned import job_of, loaded_of, result_of

from harness.schema.actor import ActorSpec
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.schema.verdict import Verdict


@pytest.fixture
def make_loaded() -> Callable[[str], LoadedScenario]:
    """A scenario of the id that is given."""
    return loaded_of


@pytest.fixture
def make_job() -> Callable[[int], EpisodeJob]:
    """A scripted job by its trial."""
    return lambda trial: job_of("pack/a", trial)


@pytest.fixture
def live_job() -> EpisodeJob:
    """A job of a live actor."""
    return job_of("pack/a", live=True)


@pytest.fixture
def make_result() -> Callable[[EpisodeJob, Verdict], EpisodeResult]:
    """What a job leaves behind, with the verdict that is given."""
    return lambda job, verdict: result_of(job, verdict, Outcome(status="completed", reason="final_response"))


@pytest.fixture
def passed() -> Callable[[EpisodeJob], EpisodeResult]:
    """What a job leaves behind that passed."""
    return lambda job: result_of(job, "pass", Outcome(status="completed", reason="scenario_satisfied"))


@pytest.fixture
def make_cancelled() -> Callable[[EpisodeJob], EpisodeResult]:
    """What a job leaves behind that was cancelled."""
    return lambda job: result_of(job, "not_judged", Outcome(status="cancelled", reason="cancellation_requested"))


@pytest.fixture
def make_live() -> Callable[[int, str], EpisodeJob]:
    """A live job by its trial and provider."""

    def make(trial: int, provider: str) -> EpisodeJob:
        job = job_of("pack/a", trial, live=True)
        identity = job.actor.identity.model_copy(update={"provider": provider, "digest": f"sha256:{provider}"})
        return job.model_copy(update={"actor": ActorSpec(identity=identity)})

    return make


@pytest.fixture
def make_failed() -> Callable[[EpisodeJob, str], EpisodeResult]:
    """What a live job leaves behind whose provider failed, by the category of the failure."""

    def make(job: EpisodeJob, category: str) -> EpisodeResult:
        outcome = Outcome(status="failed", reason="model_error", detail="server")
        result = result_of(job, "not_judged", outcome)
        row = AttemptRow(operation="x", attempt=1, status="failed", usage=None, seconds=0.0, error=category)
        return EpisodeResult(
            receipt=result.receipt.model_copy(update={"cause": "provider"}),
            log=result.log.model_copy(update={"attempts": (row,)}),
        )

    return make
