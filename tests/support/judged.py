"""Runs of made-up episodes: what came of each is given, and the folder is one that harness writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from planned import loaded_of, receipt_of

from harness import redaction
from harness.cli.folder import starting_manifest
from harness.receipt import RunStore
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import digest_text
from harness.schema.message import GenerationSettings, Usage
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Step
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeOptions, EpisodeResult, Manifest, RunLogEntry, RunView
from harness.schema.scenario import LoadedScenario
from harness.schema.verdict import Cause, Verdict

__all__ = ["MODEL", "PLANE", "Played", "all_of", "left_out", "several", "view_of", "write_run"]

PLANE = PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="8d" * 32)


def live(ref: str, settings: GenerationSettings | None = None, *, address: str = "") -> ActorIdentity:
    """A live actor."""
    chosen = settings or GenerationSettings()
    digest = digest_text(f"{ref} {chosen.model_dump_json()} {address}")
    return ActorIdentity(ref=ref, kind="live", provider="openai", model=ref, settings=chosen, digest=digest)


MODEL = live("openai/model")


@dataclass(frozen=True)
class Played:
    """One episode, or a place of the plan that nothing was played for (``verdict`` None).

    A call for each of ``costs``; each has the ``usage``.
    """

    scenario: str
    trial: int
    verdict: Verdict | None
    actor: ActorIdentity = MODEL
    cause: Cause | None = None
    code: str | None = None
    attempt: int = 1
    seconds: float = 1.0
    costs: Sequence[Decimal | None] = ()
    model: str | None = None
    fingerprint: str | None = None
    usage: Usage | None = None
    is_damaged: bool = False
    plane: PlaneIdentity = PLANE
    classifier: int = 1
    kinds: Sequence[str] = ()
    outcome: Outcome = field(default_factory=lambda: Outcome(status="completed", reason="final_response"))

    @property
    def loaded(self) -> LoadedScenario:
        """The scenario; one that is called ``ID#OTHER`` is another version of ID."""
        name, _, version = self.scenario.partition("#")
        loaded = loaded_of(name).model_copy(update={"parts": {"prompt": "a", "limits": version}})
        return loaded.model_copy(update={"digest": digest_text(self.scenario)})

    @property
    def place(self) -> tuple[str, str, str, int]:
        """What no other place of a plan has."""
        return (self.scenario, self.actor.ref, self.plane.ref, self.trial)

    @property
    def job(self) -> EpisodeJob:
        """Its place in the plan."""
        spec = ActorSpec(identity=self.actor)
        return EpisodeJob(loaded=self.loaded, actor=spec, plane=self.plane, trial=self.trial, attempt=self.attempt)

    @property
    def result(self) -> EpisodeResult:
        """What it left."""
        assert self.verdict is not None
        code = self.code or ("wrong" if self.verdict == "fail" else None)
        more = {"cause": self.cause, "failure_code": code, "classifier_version": self.classifier}
        steps = tuple(
            Step(
                ordinal=at,
                turn=at,
                tool=redaction.name("exec", ("exec",)),
                kind=kind,
                result="succeeded",
                executed=True,
            )
            for at, kind in enumerate(self.kinds, start=1)
        )
        receipt = receipt_of(self.job, self.verdict, self.outcome, steps=steps, **more)
        rows = tuple(
            AttemptRow(
                operation=f"turn-{number}/main",
                attempt=1,
                status="completed",
                usage=self.usage,
                seconds=0.1,
                model=self.model,
                fingerprint=self.fingerprint,
                cost_micro_usd=cost,
            )
            for number, cost in enumerate(self.costs, start=1)
        )
        log = RunLogEntry(
            key=receipt.key,
            started_at="2026-01-01T00:00:00Z",
            seconds=self.seconds,
            executor="warm",
            attempts=rows,
            at_least=self.is_damaged,
        )
        return EpisodeResult(receipt=receipt, log=log)


def several(scenario: str, passes: int, n: int, *, actor: ActorIdentity = MODEL, **more: object) -> list[Played]:
    """``n`` judged trials of which the first ``passes`` passed."""
    played = [Played(scenario, trial, "pass" if trial <= passes else "fail", actor) for trial in range(1, n + 1)]
    for one in played:
        for name, value in more.items():
            object.__setattr__(one, name, value)
    return played


def all_of(passes: Sequence[int], n: int, actor: ActorIdentity, **more: object) -> list[Played]:
    """Trials of as many scenarios, ``pack/s1`` and on, as there are numbers of passes."""
    played = []
    for number, some in enumerate(passes, 1):
        played += several(f"pack/s{number}", some, n, actor=actor, **more)
    return played


def left_out(played: Sequence[Played], *, every: int) -> list[Played]:
    """Each so many-th trial says nothing about its actor."""
    return [
        replace(one, verdict="not_judged", cause="provider") if number % every == 0 else one
        for number, one in enumerate(played, 1)
    ]


def _manifest(played: Sequence[Played], run_id: str) -> Manifest:
    jobs = [one.job for one in played if one.attempt == 1]
    return starting_manifest(jobs, EpisodeOptions(), run_id=run_id, created_at="2026-01-01T00:00:00Z")


def view_of(played: Sequence[Played], run_id: str = "run") -> RunView:
    """The run as it is read."""
    results = [one.result for one in played if one.verdict is not None]
    return RunView(
        manifest=_manifest(played, run_id),
        receipts=tuple(one.receipt for one in results),
        log=tuple(one.log for one in results),
    )


def write_run(folder: Path, played: Sequence[Played]) -> Path:
    """The run as it is written; it is not complete where a place was not played."""
    places = [one.place for one in played if one.attempt == 1]
    with RunStore(folder, _manifest(played, folder.name), SecretGuard([]), sync=False) as store:
        for one in played:
            if one.verdict is not None:
                store.add(places.index(one.place), one.result)
        store.finish("2026-01-01T00:10:00Z")
    return folder
