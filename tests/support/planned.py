"""Jobs and results of a scenario that is never played."""

from __future__ import annotations

from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Receipt
from harness.schema.run import EpisodeJob, EpisodeResult, RunLogEntry
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.verdict import Verdict

__all__ = ["job_of", "loaded_of", "receipt_of", "result_of"]


def loaded_of(name: str) -> LoadedScenario:
    """A scenario of that id."""
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


def job_of(name: str, trial: int = 1, *, live: bool = False) -> EpisodeJob:
    """A job of a script, or of a live model."""
    identity = ActorIdentity(ref="script", kind="live" if live else "script", digest="sha256:a")
    return EpisodeJob(
        loaded=loaded_of(name),
        actor=ActorSpec(identity=identity),
        plane=PlaneIdentity(name="plane", version="1", wheel_sha256="ab"),
        trial=trial,
    )


def receipt_of(job: EpisodeJob, verdict: Verdict, outcome: Outcome, **more: object) -> Receipt:
    """A receipt that says so, with ``more`` of its fields."""
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
    return receipt.model_copy(update=more)


def result_of(job: EpisodeJob, verdict: Verdict, outcome: Outcome, **more: object) -> EpisodeResult:
    """A result with such a receipt."""
    receipt = receipt_of(job, verdict, outcome, **more)
    log = RunLogEntry(key=receipt.key, started_at="2026-01-01T00:00:00Z", seconds=0.0, executor="warm")
    return EpisodeResult(receipt=receipt, log=log)
