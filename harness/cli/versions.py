"""``--plane``: the versions of control planes that scenarios are played on, instead of the one that each names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import provision, wiring
from harness.errors import InputError, PlaneMissingError, UsageError
from harness.schema.process import PlaneIdentity
from harness.schema.scenario import LoadedScenario
from harness.wiring.built_in import built_in_identities

__all__ = ["planes_of", "versions"]


def versions(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """``loopx==0.4.8,2.1.1`` as references by the name of their plane, in the order in which they were given.

    Raises UsageError and ProvisionError.
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, mark, given = text.partition("==")
        if any(one.ref == name.strip() for one in built_in_identities()):
            raise UsageError(f"--plane {text}: {name} is part of harness and has one version; leave it out")
        if not mark:
            provision.parse_ref(text)  # refuses it as it was typed
        for one in given.split(","):
            parsed, version = provision.parse_ref(f"{name}=={one.strip()}")
            ref = f"{parsed}=={version}"
            if ref in found.setdefault(parsed, []):
                raise UsageError(f"--plane: {ref} is given twice; use --trials to repeat it")
            found[parsed].append(ref)
    return {name: tuple(refs) for name, refs in found.items()}


def planes_of(
    settings: wiring.Settings, chosen: Sequence[LoadedScenario], texts: Sequence[str] = ()
) -> dict[str, tuple[PlaneIdentity, ...]]:
    """What each of the scenarios is played on, by the plane that it names itself.

    Raises UsageError for a plane on which none of them is played, and for what is not installed: of several together.
    """
    asked = versions(texts)
    own = dict.fromkeys(one.scenario.plane for one in chosen)
    names = {ref.partition("==")[0] for ref in own}
    for name in asked:
        if name not in names:
            raise UsageError(
                f"--plane: no chosen scenario is played on {name}, only on {', '.join(sorted(names))}; leave it out"
            )
    wanted = {ref: asked.get(ref.partition("==")[0], (ref,)) for ref in own}
    identities = _found(settings, tuple(dict.fromkeys(ref for refs in wanted.values() for ref in refs)))
    return {ref: tuple(identities[one] for one in refs) for ref, refs in wanted.items()}


def _found(settings: wiring.Settings, refs: Sequence[str]) -> Mapping[str, PlaneIdentity]:
    found: dict[str, PlaneIdentity] = {}
    missing: list[PlaneMissingError] = []
    for ref in refs:
        try:
            found[ref] = wiring.plane_identity(settings, ref)
        except PlaneMissingError as error:
            missing.append(error)
    if len(missing) == 1:
        raise missing[0]
    if missing:
        told = ", ".join(f"{one.plane} {one.state}" for one in missing)
        raise InputError(f"control planes: {told}; type: {' && '.join(one.to_type for one in missing)}")
    return found
