"""Whether rates may stand beside each other: only where the same question was put in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product

from harness.errors import UsageError
from harness.schema.actor import ActorIdentity
from harness.schema.message import GenerationSettings
from harness.schema.process import PlaneIdentity
from harness.schema.run import Manifest, RunView
from harness.schema.spending import Beyond

__all__ = ["by_version", "refuse_different", "refuse_mixed", "refuse_other_judges"]

#: So many differences are named.
_NAMED = 4


def by_version(name: str, view: RunView) -> dict[str, RunView]:
    """One run, by the name to call it by, or what it played on each control plane, where one of them is in versions.

    No rate is over two versions: what is told of each is told as of a run of its own, ``NAME on loopx==2.1.1``. Calls
    that are of no episode are told once.
    """
    if not view.manifest.in_versions:
        return {name: view}
    first, *others = dict.fromkeys(place.plane for place in view.manifest.plan)
    bare = view.model_copy(update={"beyond": Beyond()})
    return {f"{name} on {ref}": _only(whole, ref) for ref, whole in ((first, view), *((ref, bare) for ref in others))}


def _only(view: RunView, ref: str) -> RunView:
    """What a run played on one control plane."""
    manifest = view.manifest
    plan = tuple(place for place in manifest.plan if place.plane == ref)
    receipts = tuple(receipt for receipt in view.receipts if receipt.plane.ref == ref)
    keys, scenarios = {receipt.key for receipt in receipts}, {place.scenario for place in plan}
    own = manifest.model_copy(
        update={
            "plan": plan,
            "shard": None,
            "planes": tuple(plane for plane in manifest.planes if plane.ref == ref),
            "scenarios": tuple(one for one in manifest.scenarios if one.id in scenarios),
        }
    )
    log = tuple(entry for entry in view.log if entry.key in keys)
    return view.model_copy(update={"manifest": own, "receipts": receipts, "log": log})


def refuse_mixed(name: str, view: RunView) -> None:
    """One run, by the ``name`` to call it by: nothing in it may be counted together that is not the same.

    Raises UsageError naming the scenario or the actor that is two.
    """
    asked: dict[str, set[str]] = defaultdict(set)
    for scenario in view.manifest.scenarios:
        asked[scenario.id].add(scenario.digest)
    how = _how_judged(view)
    actors: dict[str, dict[ActorIdentity, None]] = defaultdict(dict)
    for receipt in view.receipts:
        asked[receipt.scenario].add(receipt.scenario_digest)
        actors[receipt.actor.ref][_counted_as(receipt.actor)] = None
    for scenario_id, digests in asked.items():
        if len(digests) > 1 or len(how[scenario_id]) > 1:
            raise UsageError(
                f"{name}: holds {scenario_id} in two versions (of the scenario, of the control plane, or of how it is "
                "judged), which no rate holds together; play it anew"
            )
    for ref, identities in actors.items():
        for one, other in pairwise(identities):
            what = ", ".join(_actor_parts(one, other)) or "address"
            raise UsageError(
                f"{name}: holds two actors named {ref}, which no rate holds together; different: {what}; "
                "give each a name of its own in harness.toml"
            )


def refuse_different(runs: Mapping[str, RunView]) -> None:
    """Runs by the names to call them by: scenarios, how they are judged, planes and settings must be the same.

    Raises UsageError naming what differs, of the first pair that does.
    """
    (first, one), *others = runs.items()
    for name, other in others:
        differences = list(_differences(one, other))
        if differences:
            more = len(differences) - _NAMED
            told = "; ".join(differences[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
            raise UsageError(f"{name} cannot stand beside {first}: {told}")


def refuse_other_judges(name: str, view: RunView, other: str, judged_by: Mapping[str, int]) -> None:
    """Before a run called ``other`` is played: by which versions of classifiers its scenarios will be judged.

    Raises UsageError where one of them was judged otherwise in the run that it is to stand beside.
    """
    for receipt in view.receipts:
        now = judged_by.get(receipt.scenario, receipt.classifier_version)
        if now != receipt.classifier_version:
            versions = f"{receipt.classifier_version} and {now}"
            raise UsageError(
                f"{other} cannot stand beside {name}: {receipt.scenario} is judged by classifier version {versions}"
            )


def _differences(one: RunView, other: RunView) -> Iterator[str]:
    yield from _scenarios(one.manifest, other.manifest)
    yield from _planes(one.manifest, other.manifest)
    here, there = _how_judged(one), _how_judged(other)
    for scenario in sorted(here.keys() & there.keys()):
        versions = [sorted({version for version, _ in how[scenario]}) for how in (here, there)]
        if versions[0] != versions[1]:
            yield f"{scenario} is judged by classifier version {versions[0][0]} and {versions[1][0]}"
    yield from _settings(one.manifest, other.manifest)


def _scenarios(one: Manifest, other: Manifest) -> Iterator[str]:
    here, there = ({summary.id: summary for summary in manifest.scenarios} for manifest in (one, other))
    for name in sorted(here.keys() ^ there.keys()):
        yield f"scenario {name} is in one of them only"
    for name in sorted(here.keys() & there.keys()):
        if here[name].digest != there[name].digest:
            before, now = here[name].parts, there[name].parts
            parts = [part for part in dict.fromkeys((*before, *now)) if before.get(part) != now.get(part)]
            yield f"scenario {name} differs" + (f" ({', '.join(parts[:_NAMED])})" if before and now and parts else "")


def _planes(one: Manifest, other: Manifest) -> Iterator[str]:
    here, there = ({plane.name: plane for plane in manifest.planes} for manifest in (one, other))
    for name in sorted(here.keys() & there.keys()):
        if here[name] == there[name]:
            continue
        versions = [plane.version for plane in (here[name], there[name])]
        told = " and ".join(versions) if versions[0] != versions[1] else f"{versions[0]}, of two different wheels"
        yield f"control plane {name} is {told}"


def _settings(one: Manifest, other: Manifest) -> Iterator[str]:
    """Of actors that play in both, else of whole casts: models stand side by side under the same settings."""
    here, there = ({actor.ref: actor for actor in manifest.actors} for manifest in (one, other))
    casts = [_cast(manifest) for manifest in (one, other)]
    told = [(name, list(_setting_parts(_set(here[name]), _set(there[name])))) for name in here if name in there]
    different = [(name, parts) for name, parts in told if parts]
    for name, parts in different:
        yield f"actor {name} has other settings: {', '.join(parts)}"
    if not different and all(casts) and set(casts[0]) != set(casts[1]):
        first, second = next(pair for pair in product(*casts) if pair[0] != pair[1])
        yield f"their actors have other settings: {', '.join(_setting_parts(first, second))}"


def _cast(manifest: Manifest) -> Sequence[GenerationSettings]:
    """The settings under which models play, each once."""
    return tuple(dict.fromkeys(_set(actor) for actor in manifest.actors if actor.kind != "script"))


def _set(actor: ActorIdentity) -> GenerationSettings:
    return actor.settings or GenerationSettings()


def _actor_parts(one: ActorIdentity, other: ActorIdentity) -> Iterator[str]:
    for name in ("kind", "provider", "model"):
        if getattr(one, name) != getattr(other, name):
            yield name
    yield from _setting_parts(_set(one), _set(other))


def _setting_parts(one: GenerationSettings, other: GenerationSettings) -> Iterator[str]:
    for name in GenerationSettings.model_fields:
        before, now = getattr(one, name), getattr(other, name)
        if before != now:
            yield f"{name} ({_said(before)} and {_said(now)})"


def _said(value: object) -> str:
    return "not set" if value is None else str(value).lower()


def _counted_as(actor: ActorIdentity) -> ActorIdentity:
    """Equal where trials of both may be counted together: a script is another one in each scenario."""
    return actor if actor.kind == "live" else actor.model_copy(update={"digest": ""})


def _how_judged(view: RunView) -> dict[str, set[tuple[int, PlaneIdentity]]]:
    """By scenario: versions of the classifier, each with the control plane."""
    found: dict[str, set[tuple[int, PlaneIdentity]]] = defaultdict(set)
    for receipt in view.receipts:
        found[receipt.scenario].add((receipt.classifier_version, receipt.plane))
    return found
