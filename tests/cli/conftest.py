"""The command line over a made-up world: no control plane, no model, episodes whose verdicts the test chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import pytest
from planned import receipt_of

from harness import wiring
from harness.cli.main import main
from harness.errors import CatalogError, PlaneMissingError
from harness.meter import Ceiling
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.confinement import Confinement
from harness.schema.message import GenerationSettings
from harness.schema.outcome import Outcome
from harness.schema.price import Price
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Counters
from harness.schema.run import EpisodeJob, EpisodeResult, RunLogEntry
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.verdict import Verdict

#: What is seen to hold in that world.
HELD = Confinement(held=("writes", "attributes", "tcp", "udp", "unix", "processes"), means=("made-up",))
PLANE = PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="ab")


class Ended(NamedTuple):
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


class Harness(Protocol):
    """Runs one command line in this process."""

    def __call__(self, *argv: str) -> Ended:
        """How it ended."""


def _loaded(name: str, changed: str = "") -> LoadedScenario:
    scenario = Scenario.model_validate(
        {
            "schema": 1,
            "id": name,
            "asks": "Look at the target.",
            "tags": ("tier:pr",) if name.endswith("a") else (),
            "plane": "loopx==0.4.8",
            "workspace": {"roots": ("project",)},
            "prompt": {"user": "Go."},
            "tool": {"exec": {"about": "Run.", "argument": "cmd", "grammar": "loopx-0.4"}},
            "kind": ({"name": "look", "read": "content", "failed": "look_failed", "sets": "seen"},),
            "end": {"accept": ("seen",), "silence": ({"lacks": ("seen",), "code": "stopped"},)},
            "script": {"reference": ("cat target",), "wrong": {"stopped": ("date",)}},
        }
    )
    return LoadedScenario(scenario=scenario, digest=f"sha256:{name}{changed}", path=f"scenarios/{name}.toml")


@dataclass
class World:
    """What there is, and how episodes end: by ``verdicts[scenario]``, or however ``episode`` says.

    A scenario in ``changed`` is another one than it was.
    """

    folder: Path
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    names: tuple[str, ...] = ("pack/a", "pack/b")
    changed: dict[str, str] = field(default_factory=dict)
    planes: tuple[str, ...] = ("loopx==0.4.8",)
    jobs: list[EpisodeJob] = field(default_factory=list)
    cancelled: int = 0
    swept: int = 0
    episode: Callable[[EpisodeJob], EpisodeResult] | None = None
    ceiling: Ceiling | None = None
    is_new: bool | None = None

    def result(self, job: EpisodeJob) -> EpisodeResult:
        name = job.loaded.scenario.id
        verdict = self.verdicts.get(name, "pass")
        receipt = receipt_of(
            job,
            verdict,
            Outcome(status="completed", reason="final_response"),
            cause="model" if verdict == "fail" else None,
            failure_code="stopped" if verdict == "fail" else None,
            counters=Counters(model_turns=1, tool_calls=0, executed_calls=0, refused_calls=0),
        )
        kept = str(self.folder / "kept") if job.options.keep_workspace else None
        log = RunLogEntry(
            key=receipt.key, started_at="2026-01-01T00:00:00Z", seconds=0.5, executor="warm", workspace=kept
        )
        return EpisodeResult(receipt=receipt, log=log)

    def actor_specs(self, text: str) -> tuple[ActorSpec, ...]:
        if text == "nobody":
            raise CatalogError("actor", text, ("script",))
        kind = "live" if "/" in text else "script"
        identity = ActorIdentity(
            ref=text,
            kind="live" if kind == "live" else "script",
            provider=text.partition("/")[0] if kind == "live" else None,
            digest=f"sha256:{text}",
        )
        needed = kind == "live" and not text.startswith("openai-compatible/")
        key_env = "SOME_API_KEY" if kind == "live" else None
        price = Price(input=Decimal(1), output=Decimal(5), source="made up") if "priced" in text else None
        if "bounded" in text:
            identity = identity.model_copy(update={"settings": GenerationSettings(max_output_tokens=100)})
        return (ActorSpec(identity=identity, key_env=key_env, key_required=needed, price=price),)


class MadeUpSession:
    """Plays jobs in the world it was made for."""

    def __init__(self, world: World, ceiling: Ceiling | None) -> None:
        self.world = world
        world.ceiling = ceiling

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def forget(self, job: EpisodeJob) -> None:
        """Nothing of it is kept on disk."""

    def run(self, job: EpisodeJob) -> EpisodeResult:
        self.world.jobs.append(job)
        return self.world.result(job) if self.world.episode is None else self.world.episode(job)

    def cancel(self) -> None:
        self.world.cancelled += 1

    def shut_down(self) -> None:
        self.cancel()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """A made-up world in place of what wiring would make."""
    made = World(tmp_path)

    def plane_identity(place: wiring.Settings, ref: str) -> PlaneIdentity:
        if ref not in made.planes:
            raise PlaneMissingError(ref, place.home)
        name, _, version = ref.partition("==")
        return PlaneIdentity(name=name, version=version, wheel_sha256="ab")

    def sweep() -> int:
        made.swept += 1
        return 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SOME_API_KEY", "sk-canary-0123456789")

    def session(*_: object, ceiling: Ceiling | None = None, is_new: bool = False, **__: object) -> MadeUpSession:
        made.is_new = is_new
        return MadeUpSession(made, ceiling)

    monkeypatch.setattr(wiring, "Session", session)

    def load_scenario(_: wiring.Settings, name: str) -> LoadedScenario:
        name = name.removesuffix(".toml")
        return _loaded(name, made.changed.get(name, ""))

    monkeypatch.setattr(wiring, "load_scenario", load_scenario)
    monkeypatch.setattr(wiring, "scenarios", lambda *_: {name: tmp_path / f"{name}.toml" for name in made.names})
    monkeypatch.setattr(wiring, "plane_identity", plane_identity)
    monkeypatch.setattr(wiring, "actor_specs", lambda _place, text, _loaded, _sets: made.actor_specs(text))
    monkeypatch.setattr(wiring, "secret_guard", lambda *_: SecretGuard(["canary-secret"]))
    monkeypatch.setattr("harness.workspace.sweep", sweep)
    monkeypatch.setattr("harness.wiring.sandboxing.measured", lambda: HELD)
    return made


@pytest.fixture
def harness(capsys: pytest.CaptureFixture[str]) -> Harness:
    """Run one command line in this process."""

    def call(*argv: str) -> Ended:
        capsys.readouterr()
        code = main(argv)
        printed = capsys.readouterr()
        return Ended(int(code), printed.out, printed.err)

    return call


@pytest.fixture
def result(world: World) -> Callable[[Verdict], EpisodeResult]:
    """What an episode leaves behind, by its verdict."""

    def make(verdict: Verdict) -> EpisodeResult:
        world.verdicts = {"pack/a": verdict}
        (spec,) = world.actor_specs("script")
        return world.result(EpisodeJob(loaded=_loaded("pack/a"), actor=spec, plane=PLANE))

    return make
