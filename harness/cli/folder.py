"""The folder of a run: its name, its manifest, and the reports in it."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC
from decimal import Decimal
from pathlib import Path

from harness import __version__, catalog, rules
from harness.errors import CatalogError
from harness.ports import Clock, Reporter
from harness.scenario import fixed_time
from harness.schema.base import JsonValue
from harness.schema.confinement import Confinement
from harness.schema.early import EarlyStop
from harness.schema.quarantine import QuarantineEntry
from harness.schema.run import (
    ActorPrice,
    Enforcement,
    EpisodeJob,
    EpisodeOptions,
    Manifest,
    PlannedEpisode,
    RunView,
    ScenarioSummary,
    Shard,
)
from harness.schema.scenario import LoadedScenario

__all__ = ["as_json", "chosen_reporters", "keep_to_owner", "planned", "starting_manifest", "summary", "timestamp"]

_UNCONFINED = Confinement()
_NO_FILES: Mapping[str, str] = {}


def timestamp(clock: Clock) -> str:
    """Now, UTC, ISO 8601 to the second."""
    return clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def planned(job: EpisodeJob) -> PlannedEpisode:
    """A job's place in the plan."""
    return PlannedEpisode(
        scenario=job.loaded.scenario.id,
        actor=job.actor.identity.ref,
        plane=job.plane.ref,
        trial=job.trial,
        provenance=job.actor.provenance,
    )


def starting_manifest(
    jobs: Sequence[EpisodeJob],
    options: EpisodeOptions,
    *,
    run_id: str,
    created_at: str,
    tolerate_stale: bool = False,
    shard: Shard | None = None,
    max_cost_usd: Decimal | None = None,
    confinement: Confinement = _UNCONFINED,
    early: EarlyStop | None = None,
    quarantine: tuple[QuarantineEntry, ...] = (),
    files: Mapping[str, str] = _NO_FILES,
) -> Manifest:
    """The manifest of a run that has done nothing yet. Times are UTC ISO 8601; ``files`` are those of scenarios."""
    loaded = {job.loaded.scenario.id: job.loaded for job in jobs}
    planes = {job.plane.ref: job.plane for job in jobs}
    return Manifest(
        run_id=run_id,
        harness_version=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        created_at=created_at,
        finished_at=None,
        state="running",
        scenarios=tuple(_summary(one, files.get(name, "")) for name, one in loaded.items()),
        actors=tuple(
            {(job.actor.identity.ref, job.actor.identity.digest): job.actor.identity for job in jobs}.values()
        ),
        planes=tuple(planes.values()),
        enforcement=Enforcement(
            executor=options.executor,
            plane_environment=tuple(sorted({name for plane in planes.values() for name in _environment(plane.name)})),
            fixed_clocks=tuple(name for name, one in loaded.items() if fixed_time(one.scenario) is not None),
        ).confined(confinement),
        plan=tuple(planned(job) for job in jobs),
        receipts=(),
        verdicts={},
        stale="warn" if tolerate_stale else "fail",
        shard=shard,
        prices=_prices(jobs),
        max_cost_usd=max_cost_usd,
        early=early,
        quarantine=quarantine,
    )


def chosen_reporters(known: Mapping[str, Reporter], names: Sequence[str]) -> tuple[Reporter, ...]:
    """The reporters of these names; all where none is named. Raises CatalogError."""
    for name in names:
        if name not in known:
            raise CatalogError("report", name, tuple(known))
    return tuple(known[name] for name in (dict.fromkeys(names) or known))


def keep_to_owner(view: RunView, page: Path) -> None:
    """A page that embeds conversations is read by its owner only, as the recordings that they come from are."""
    if view.transcripts and page.suffix == ".html":
        page.chmod(0o600)


def summary(view: RunView, *, width: int, color: bool, folder: Path, written: Collection[str]) -> str:
    """What the terminal shows of a run. ``width`` in columns; ``written`` are names of reports in ``folder``."""
    terminal = catalog.module("reporters", "terminal")
    text: str = terminal.summary(view, width=width, color=color, folder=str(folder), written=written)
    return text


def as_json(view: RunView, folder: Path) -> dict[str, JsonValue]:
    """What ``--format json`` prints of a run in ``folder``."""
    receipts: list[JsonValue] = [receipt.model_dump(mode="json") for receipt in view.receipts]
    cost: JsonValue = catalog.shared("reporters", "spending").cost_json(view)
    manifest = view.manifest
    stopped: JsonValue = list(manifest.stopped)
    versions: list[JsonValue] = catalog.shared("reporters", "versions").matrices_json(view)
    aside: list[JsonValue] = [one.model_dump(mode="json") for one in manifest.quarantine]
    several: dict[str, JsonValue] = {"versions": versions} if versions else {}
    if manifest.early is not None:
        several["early"] = manifest.early.model_dump(mode="json")
    if aside:
        several["quarantine"] = aside
    return {
        "run": manifest.run_id,
        "folder": str(folder),
        "state": "killed" if view.killed else manifest.state,
        "stopped": stopped,
        "receipts": receipts,
        "verdicts": dict(manifest.verdicts),
        "cost": cost,
        **several,
    }


def _prices(jobs: Sequence[EpisodeJob]) -> tuple[ActorPrice, ...]:
    live = {job.actor.identity.ref: job.actor.price for job in jobs if job.actor.identity.kind == "live"}
    return tuple(ActorPrice(actor=ref, price=price) for ref, price in live.items())


def _summary(loaded: LoadedScenario, file: str) -> ScenarioSummary:
    scenario = loaded.scenario
    return ScenarioSummary(
        id=scenario.id,
        digest=loaded.digest,
        asks=scenario.asks,
        tags=scenario.tags,
        graph=rules.graph(scenario),
        parts=dict(loaded.parts),
        plane=scenario.plane,
        file=file,
    )


def _environment(plane: str) -> tuple[str, ...]:
    """Names of the environment variables that a control plane's process is given."""
    names: tuple[str, ...] = catalog.module("controlplanes", plane).ENVIRONMENT
    return names
