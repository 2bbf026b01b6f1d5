"""Shards of one plan put together: only where every episode of it is there, and there once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harness.errors import StoreError
from harness.schema.base import digest_json
from harness.schema.confinement import Confinement, weakest
from harness.schema.quarantine import QuarantineEntry
from harness.schema.receipt import Receipt
from harness.schema.run import Enforcement, EpisodeResult, Manifest, PlannedEpisode, RunView, Shard

__all__ = ["Merged", "merge"]


@dataclass(frozen=True, slots=True)
class Merged:
    """The manifest of a whole run that has no receipt yet, when it ended (UTC ISO 8601), and its results by place."""

    manifest: Manifest
    finished_at: str
    results: tuple[tuple[int, EpisodeResult], ...]


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    view: RunView
    shard: Shard

    @property
    def said(self) -> str:
        return f"{self.name} (shard {self.shard.number}/{self.shard.count})"


def merge(runs: Mapping[str, RunView], *, run_id: str) -> Merged:
    """The run that all shards together are, whatever their order; ``runs`` are read runs by the name to call them by.

    Raises StoreError for a run that is no shard, for shards of different plans or versions, and for an episode that is
    missing or doubled, which is named.
    """
    parts = [_part(name, view) for name, view in runs.items()]
    parts.sort(key=lambda part: (part.shard.number, part.name))
    first = parts[0]
    for part in parts[1:]:
        _refuse_different(first, part)
    results = _placed(parts)
    shard = first.shard
    _refuse_missing(shard, parts, {place for place, _ in results})
    if digest_json(list(_episodes(results))) != shard.digest:
        raise StoreError(f"{first.name}: its receipts are not those of the plan that {first.said} was cut from")
    manifests = [part.view.manifest for part in parts]
    return Merged(
        manifest=_whole(manifests, shard, [result.receipt for _, result in results], run_id),
        finished_at=max(one.finished_at or one.created_at for one in manifests),
        results=tuple(results),
    )


def _part(name: str, view: RunView) -> _Part:
    shard = view.manifest.shard
    if shard is None:
        raise StoreError(f"{name}: is no shard; only runs of harness run --shard I/N are put together")
    return _Part(name, view, shard)


def _refuse_different(first: _Part, other: _Part) -> None:
    one, two = first.view.manifest, other.view.manifest
    both = f"{first.said} and {other.said}"
    if one.harness_version != two.harness_version:
        raise StoreError(f"{both} were played by harness {one.harness_version} and {two.harness_version}")
    if (first.shard.count, first.shard.digest) != (other.shard.count, other.shard.digest):
        raise StoreError(f"{both} are parts of different plans: {_difference(first, other)}")
    if (_options(one), one.stale) != (_options(two), two.stale):
        raise StoreError(f"{both} were played under different options (--executor, --stale)")


def _options(manifest: Manifest) -> Enforcement:
    """How the boundary was held, without what follows from the episodes and the machine of a part."""
    apart = {"plane_environment": (), "fixed_clocks": ()}
    return manifest.enforcement.model_copy(update=apart).confined(Confinement())


def _difference(first: _Part, other: _Part) -> str:
    """The first thing in which two plans differ."""
    if first.shard.count != other.shard.count:
        return "they were cut into another number of shards"
    one, two = first.shard.plan, other.shard.plan
    for place in range(max(len(one), len(two))):
        if one[place : place + 1] != two[place : place + 1]:
            here = [_said(plan[place]) if place < len(plan) else "nothing" for plan in (one, two)]
            return f"episode {place + 1} is {here[0]} in one and {here[1]} in the other"
    digests = {summary.id: summary.digest for summary in first.view.manifest.scenarios}
    for summary in other.view.manifest.scenarios:
        if digests.get(summary.id, summary.digest) != summary.digest:
            return f"scenario {summary.id} is not the same in both"
    return "a scenario, the settings of an actor or the wheel of a control plane is not the same in both"


def _placed(parts: Sequence[_Part]) -> list[tuple[int, EpisodeResult]]:
    """All results with their places in the whole plan, in its order."""
    placed: list[tuple[int, EpisodeResult]] = []
    owners: dict[str, str] = {}
    for part in parts:
        shard = part.shard
        free: dict[PlannedEpisode, deque[int]] = {}
        for place in range(shard.number - 1, len(shard.plan), shard.count):
            free.setdefault(_bare(shard.plan[place]), deque()).append(place)
        places: dict[str, int] = {}
        for receipt, log in zip(part.view.receipts, part.view.log, strict=True):
            if receipt.key in owners:
                raise StoreError(f"{_told(receipt)} is doubled: it is in {owners[receipt.key]} and in {part.said}")
            owners[receipt.key] = part.said
            if receipt.episode not in places:
                places[receipt.episode] = _next_free(free, receipt, part)
            placed.append((places[receipt.episode], EpisodeResult(receipt=receipt, log=log)))
    placed.sort(key=lambda one: (one[0], one[1].receipt.attempt))
    return placed


def _next_free(free: Mapping[PlannedEpisode, deque[int]], receipt: Receipt, part: _Part) -> int:
    of_kind = free.get(
        PlannedEpisode(scenario=receipt.scenario, actor=receipt.actor.ref, plane=receipt.plane.ref, trial=receipt.trial)
    )
    if not of_kind:
        raise StoreError(f"{_told(receipt)} is in {part.said}, which was not to play it")
    return of_kind.popleft()


def _refuse_missing(shard: Shard, parts: Sequence[_Part], there: set[int]) -> None:
    missing = [place for place in range(len(shard.plan)) if place not in there]
    if not missing:
        return
    number = missing[0] % shard.count + 1
    part = next((one for one in parts if one.shard.number == number), None)
    why = f"shard {number}/{shard.count} is not given"
    if part is not None:
        why = f"{part.said} did not finish it; go on with harness run --resume first"
    more = "" if len(missing) == 1 else f" (and {len(missing) - 1} more)"
    raise StoreError(f"{_said(shard.plan[missing[0]])} is missing{more}: {why}")


def _whole(manifests: Sequence[Manifest], shard: Shard, receipts: Sequence[Receipt], run_id: str) -> Manifest:
    """As the manifest of a run that was never cut, before its first receipt."""
    environment = {name for one in manifests for name in one.enforcement.plane_environment}
    fixed = tuple(dict.fromkeys(name for one in manifests for name in one.enforcement.fixed_clocks))
    bounds = [one.max_cost_usd for one in manifests if one.max_cost_usd is not None]
    summaries = {summary.id: summary for one in manifests for summary in one.scenarios}
    return Manifest(
        run_id=run_id,
        harness_version=manifests[0].harness_version,
        python=", ".join(dict.fromkeys(one.python for one in manifests)),
        platform=", ".join(dict.fromkeys(one.platform for one in manifests)),
        created_at=min(one.created_at for one in manifests),
        finished_at=None,
        state="running",
        scenarios=tuple(summaries[name] for name in dict.fromkeys(one.scenario for one in shard.plan)),
        actors=tuple({(one.actor.ref, one.actor.digest): one.actor for one in receipts}.values()),
        planes=tuple({one.plane.ref: one.plane for one in receipts}.values()),
        enforcement=manifests[0]
        .enforcement.model_copy(update={"plane_environment": tuple(sorted(environment)), "fixed_clocks": fixed})
        .confined(weakest([one.enforcement.confinement for one in manifests])),
        plan=shard.plan,
        receipts=(),
        verdicts={},
        stale=manifests[0].stale,
        merged=tuple(one.run_id for one in manifests),
        prices=tuple({price.actor: price for one in manifests for price in one.prices}.values()),
        quarantine=_quarantine(manifests),
        max_cost_usd=None if len(bounds) < len(manifests) else sum(bounds, Decimal(0)),
    )


def _quarantine(manifests: Sequence[Manifest]) -> tuple[QuarantineEntry, ...]:
    """What no part held against itself; an entry that covers nothing of a part is not told there, so all are taken."""
    return tuple(dict.fromkeys(entry for one in manifests for entry in one.quarantine))


def _episodes(results: Sequence[tuple[int, EpisodeResult]]) -> Iterator[str]:
    yield from dict.fromkeys(result.receipt.episode for _, result in results)


def _bare(place: PlannedEpisode) -> PlannedEpisode:
    return place.model_copy(update={"provenance": None})


def _told(receipt: Receipt) -> str:
    attempt = "" if receipt.attempt == 1 else f", attempt {receipt.attempt}"
    return f"trial {receipt.trial} of {receipt.scenario} by {receipt.actor.ref}{attempt} on {receipt.plane.ref}"


def _said(place: PlannedEpisode) -> str:
    return f"trial {place.trial} of {place.scenario} by {place.actor} on {place.plane}"
