"""The plan of a run that is gone on with: what is there now is held against it, and nothing is added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness import wiring
from harness.cli.selection import choose
from harness.errors import UsageError
from harness.receipt import read_manifest
from harness.schema.run import EpisodeJob, PlannedEpisode
from harness.schema.scenario import LoadedScenario

__all__ = ["choose_again", "keep_to_plan", "plan_before"]


def plan_before(run: Path) -> tuple[PlannedEpisode, ...]:
    """The whole plan of a run, also of one that plays a shard of it. Raises StoreError."""
    manifest = read_manifest(run)
    return manifest.plan if manifest.shard is None else manifest.shard.plan


def choose_again(
    settings: wiring.Settings, patterns: Sequence[str], before: Sequence[PlannedEpisode]
) -> tuple[LoadedScenario, ...]:
    """The scenarios of a plan as they are now, whatever else ``patterns`` would choose by now.

    Raises UsageError for one that is gone, ScenarioError for a broken file.
    """
    names = dict.fromkeys(place.scenario for place in before)
    files = [pattern for pattern in patterns if pattern.endswith(".toml")]
    of_files = {one.scenario.id: one for one in (choose(settings, files) if files else ())}
    others = [name for name in names if name not in of_files]
    known = wiring.scenarios(settings) if others else {}
    for name in others:
        if name not in known:
            raise _gone(f"scenario {name}")
    of_names = {one.scenario.id: one for one in (choose(settings, others) if others else ())}
    found = {**of_files, **of_names}
    return tuple(found[name] for name in sorted(names))


def keep_to_plan(jobs: Sequence[EpisodeJob], before: Sequence[PlannedEpisode]) -> tuple[EpisodeJob, ...]:
    """The jobs that have a place in the plan, in their order. Raises UsageError for a place that nothing fills now."""
    free = Counter((place.scenario, place.actor, place.trial) for place in before)
    kept = []
    for job in jobs:
        place = (job.loaded.scenario.id, job.actor.identity.ref, job.trial)
        if free[place]:
            free[place] -= 1
            kept.append(job)
    for scenario, actor, trial in free.elements():
        raise _gone(f"actor {actor} of {scenario}, trial {trial},")
    return tuple(kept)


def _gone(what: str) -> UsageError:
    return UsageError(
        f"--resume: {what} is not there any more, and a run is gone on with as it was planned; "
        "give it back, or begin a new run"
    )
