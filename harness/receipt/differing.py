"""What is different now about an episode that was played before: named, so that nobody has to guess."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.schema.actor import ActorIdentity
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeJob, Manifest

__all__ = ["Differences"]

#: So many changed parts of a scenario are named.
_NAMED: Final = 3


class Differences:
    """Between the run that ``manifest`` is of and a plan."""

    def __init__(self, manifest: Manifest, jobs: Sequence[EpisodeJob]) -> None:
        self._parts = {one.id: one.parts for one in manifest.scenarios}
        self._before, self._jobs = manifest, jobs

    def of_plan(self) -> Iterator[str]:
        """Whatever is different of what the run was to play, whether any of it was finished or not."""
        of_scenarios = {job.loaded.scenario.id: job for job in self._jobs}
        for one in self._before.scenarios:
            job = of_scenarios.get(one.id)
            if job is not None and job.loaded.digest != one.digest:
                yield self._scenario(job)
        now = {job.actor.identity.digest: job.actor.identity for job in self._jobs}
        for actor in self._before.actors:
            same = [one for one in now.values() if one.ref == actor.ref]
            if same and actor.digest not in now:
                yield _actor(actor, same)
        planes = {job.plane.ref: job.plane for job in self._jobs}
        for plane in self._before.planes:
            if planes.get(plane.ref, plane) != plane:
                yield _plane(plane)

    def of(self, receipt: Receipt) -> str:
        """The first thing that is different about an episode that fits no place of the plan."""
        of_scenario = [job for job in self._jobs if job.loaded.scenario.id == receipt.scenario]
        if not of_scenario:
            return f"scenario {receipt.scenario} is not chosen any more"
        if of_scenario[0].loaded.digest != receipt.scenario_digest:
            return self._scenario(of_scenario[0])
        of_actor = [job for job in of_scenario if job.actor.identity.digest == receipt.actor.digest]
        if not of_actor:
            return _actor(receipt.actor, [job.actor.identity for job in of_scenario])
        if all(job.plane != receipt.plane for job in of_actor):
            return _plane(receipt.plane)
        if all(job.trial != receipt.trial for job in of_actor):
            return f"trial {receipt.trial} of {receipt.scenario} is not planned any more"
        return "how episodes are judged changed with the version of harness"

    def _scenario(self, job: EpisodeJob) -> str:
        return f"scenario {job.loaded.scenario.id} changed{_in(self._changed_parts(job))}"

    def _changed_parts(self, job: EpisodeJob) -> list[str]:
        before, now = self._parts.get(job.loaded.scenario.id, {}), job.loaded.parts
        if not before or not now:
            return []
        return [name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name)]


def _plane(before: PlaneIdentity) -> str:
    return f"control plane {before.ref} changed"


def _actor(before: ActorIdentity, now: Sequence[ActorIdentity]) -> str:
    named = next((one for one in now if one.ref == before.ref), None)
    if named is None:
        return f"actor {before.ref} does not play"
    if named.kind != "live":
        return f"actor {before.ref} changed"
    return f"actor {before.ref} changed: {', '.join(_fields(before, named)) or 'its address'}"


def _fields(before: ActorIdentity, now: ActorIdentity) -> Iterator[str]:
    for name in ("provider", "model"):
        if getattr(before, name) != getattr(now, name):
            yield name
    if before.settings is not None and now.settings is not None:
        for name in type(now.settings).model_fields:
            if getattr(before.settings, name) != getattr(now.settings, name):
                yield name


def _in(parts: Sequence[str]) -> str:
    """The parts of a scenario, the first few by name."""
    if not parts:
        return ""
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return f": {', '.join(parts[:_NAMED])}{more}"
