"""Who may play what: the policies of each model, held against the scenarios that are there."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.rehearsal.draws import Draws
from harness.rehearsal.reading import texts_in
from harness.scenario.problem import nearest
from harness.schema.base import as_json
from harness.schema.rehearsal import FaultSpec, PolicyFile, RehearsedModel, RehearsedPolicy, Visit
from harness.schema.scenario import Scenario
from harness.schema.script import Action, Script, ScriptSet

__all__ = ["Part", "Role", "cast"]

#: What sums of rates may be above 1 by, for decimal fractions are not exact.
_SLACK = 1e-9
#: Most characters that the texts of a small action have together.
_SMALL = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Role:
    """One policy in one scenario. ``latency`` is lowest and highest, in milliseconds.

    ``steady`` tells of each action whether it is small and names no value: whatever a request shows, its answer is the
    same but for the count of what was asked.
    """

    scenario: Scenario
    policy: str
    weight: float
    actions: tuple[Action, ...]
    steady: tuple[bool, ...]
    latency: tuple[float, float]
    faults: tuple[FaultSpec, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One model: its draws, and by scenario the roles that it may take."""

    draws: Draws
    roles: Mapping[str, tuple[Role, ...]]

    def role(self, visit: Visit) -> Role | None:
        """The role of a trial, drawn once for all its turns; None where the model has none in that scenario."""
        roles = self.roles.get(visit.scenario, ())
        return roles[self.draws.choice([role.weight for role in roles], visit)] if roles else None


def cast(scenarios: Sequence[Scenario], file: PolicyFile, seed: int) -> dict[str, Part]:
    """The part of each model. Raises ConfigError for a script that a scenario lacks, or rates above 1 together."""
    return {
        name: Part(
            draws=Draws(seed, model.draws),
            roles={
                one.id: tuple(
                    _role(policy, file.policy[policy], model, one, scenarios)
                    for policy in model.policies
                    if any(fnmatch.fnmatchcase(one.id, pattern) for pattern in file.policy[policy].scenarios)
                )
                for one in scenarios
            },
        )
        for name, model in file.model.items()
    }


def _role(
    name: str, policy: RehearsedPolicy, model: RehearsedModel, scenario: Scenario, scenarios: Sequence[Scenario]
) -> Role:
    faults = (*policy.fault, *model.fault)
    if sum(fault.rate or 0 for fault in faults) > 1 + _SLACK:
        raise ConfigError(f"policy.{name}.fault: the rates of its faults and its model's are above 1 together")
    latency = model.latency_ms if policy.latency_ms is None else policy.latency_ms
    script = _script(name, policy, scenario, scenarios)
    actions = tuple(Action(command=entry) if isinstance(entry, str) else entry for entry in script)
    return Role(
        scenario=scenario,
        policy=name,
        weight=policy.weight,
        actions=actions,
        steady=tuple(_is_steady(action) for action in actions),
        latency=latency if isinstance(latency, tuple) else (latency, latency),
        faults=faults,
    )


def _script(name: str, policy: RehearsedPolicy, scenario: Scenario, scenarios: Sequence[Scenario]) -> Script:
    known = _scripts(scenario.script)
    if policy.script not in known:
        having = next((one.id for one in scenarios if policy.script in _scripts(one.script)), None)
        hint = nearest(policy.script, known)
        if having is not None:
            hint = (
                f"; serve one that has it: harness wire rehearse {having}, or give the policy scenarios = [{having!r}]"
            )
        raise ConfigError(
            f"policy.{name}.script: scenario {scenario.id} has no script {policy.script!r}"
            f"{hint or f'; harness scenario show {scenario.id} tells which it has'}"
        )
    return known[policy.script]


def _is_steady(action: Action) -> bool:
    texts = texts_in(as_json(action))
    return sum(map(len, texts)) <= _SMALL and not any("{" in text for text in texts)


def _scripts(scripts: ScriptSet) -> dict[str, Script]:
    return {
        "reference": scripts.reference,
        **{f"right:{name}": script for name, script in scripts.right.items()},
        **{f"wrong:{name}": script for name, script in scripts.wrong.items()},
    }
