"""Mutants of the passing scripts, played: none may pass that did something else than a right script does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from harness.schema.check import CheckFinding, DeepCount
from harness.schema.scenario import LoadedScenario
from harness.schema.script import Script
from harness.suite.effects import Effects
from harness.suite.playing import Play, Played, ending, is_variant, play_all
from harness.suite.script_mutants import Mutant, mutants_of
from harness.suite.waiving import unused_equivalences

__all__ = ["MUTANTS_MAX", "check_mutants"]

#: Most mutants of one scenario that are played: those of the reference first.
MUTANTS_MAX: Final = 400


def check_mutants(
    play: Play, loaded: LoadedScenario, passing: Sequence[Played], *, jobs: int
) -> tuple[DeepCount, list[CheckFinding]]:
    """Play them on the real control plane.

    A mutant that passes with the effects of one of the scripts that are declared right is one more right way, as a
    second look at something is. One that passes with any others is a pass by accident, unless the scenario declares it
    equivalent, with its reason.
    """
    scenario = loaded.scenario
    scripts: Mapping[str, Script] = {"reference": scenario.script.reference, **scenario.script.right}
    right = {one.name: Effects.of(one.receipt, one.trace) for one in passing if one.trace is not None}
    every = [
        (one.name, mutant)
        for one in passing
        if one.trace is not None
        for mutant in _different(mutants_of(scripts[one.name], one.trace), scripts)
    ]
    chosen = list(islice(every, MUTANTS_MAX))
    declared = {(one.script, name) for one in scenario.waiver.equivalent for name in one.mutations}
    findings: list[CheckFinding] = []
    used: set[tuple[str, str]] = set()
    alike: list[str] = []
    named = [(f"{name} ({mutant.mutation})", mutant.script) for name, mutant in chosen]
    for (name, mutant), played in zip(chosen, play_all(play, loaded, named, jobs=jobs), strict=True):
        unlike = _unlike(played, [right[name], *right.values()])
        if unlike is None:
            alike += [played.name] if played.passed else []
        elif (name, mutant.mutation) in declared:
            used.add((name, mutant.mutation))
        else:
            findings.append(_finding(scenario.id, f"mutant of {name} ({mutant.mutation})", unlike))
    left = {(name, mutant.mutation) for name, mutant in every[MUTANTS_MAX:]}
    if not is_variant(loaded):
        findings += unused_equivalences(scenario, used | left)
    count = DeepCount(
        played=len(chosen),
        noticed=len(chosen) - len(alike) - len(used) - sum(one.where.startswith("mutant") for one in findings),
        same=len(alike),
        declared=len(used),
        left_out=len(left),
        alike=tuple(alike),
    )
    return count, findings


def _different(mutants: Iterable[Mutant], scripts: Mapping[str, Script]) -> Iterable[Mutant]:
    """Those that are no right script themselves."""
    return (mutant for mutant in mutants if mutant.script not in scripts.values())


def _unlike(played: Played, right: Sequence[Effects]) -> str | None:
    """What is wrong with a mutant's episode, in words of the first of the right ones; None where nothing is."""
    if played.receipt.cause == "harness":
        return f"it ends in a fault of the harness: {ending(played.result)}"
    if not played.passed or played.trace is None:
        return None
    effects = Effects.of(played.receipt, played.trace)
    different = [effects.unlike(one) for one in right]
    return None if None in different else f"it passes by accident: {different[0]}"


def _finding(scenario: str, where: str, what: str) -> CheckFinding:
    return CheckFinding(
        scenario=scenario,
        what=what,
        where=where,
        todo="let a rule or a check see the difference, or declare it in [waiver] equivalent with the reason",
    )
