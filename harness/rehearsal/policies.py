"""Policy files: reading, checking, and those that are made from a pass rate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.errors import ConfigError
from harness.scenario.problem import KeyPath, Problem, nearest
from harness.scenario.refusing import refusal, unreadable
from harness.scenario.schema_errors import schema_problems
from harness.schema.rehearsal import FaultSpec, PolicyFile, RehearsedModel, RehearsedPolicy
from harness.schema.scenario import Scenario

__all__ = ["bundled", "load", "rated"]

#: Faults that can be told which error they are.
_WITH_STATUS: Final = ("status", "error_body", "error_event")


def bundled() -> PolicyFile:
    """The policies that come with this package, for the bundled scenarios: ``good``, ``hasty``, ``wanderer``."""
    return _read((files("harness.rehearsal") / "policies.toml").read_bytes(), "policies.toml")


def load(path: Path) -> PolicyFile:
    """The policies of a TOML file. Raises ConfigError: file, line, key, and what is allowed there."""
    try:
        data = read_file(path)
    except DocumentError as error:
        raise unreadable(str(path), error, "") from None
    return _read(data, str(path))


def rated(scenarios: Sequence[Scenario], rates: Mapping[str, float]) -> PolicyFile:
    """Models with known pass rates: each plays the reference so often, and else one of the scenario's wrong scripts.

    The wrong scripts of a scenario share what is left equally. Two models draw apart. Raises ConfigError where a
    rate is no share, or a scenario has no wrong script to play.
    """
    policies: dict[str, RehearsedPolicy] = {}
    models: dict[str, RehearsedModel] = {}
    for number, (model, rate) in enumerate(rates.items(), 1):
        if not 0 <= rate <= 1:
            raise ConfigError(f"pass rate of {model}: {rate:g} is no share; allowed: 0 to 1")
        if rate > 0:
            policies[f"m{number}-pass"] = RehearsedPolicy(script="reference", weight=rate)
        for place, one in enumerate(scenarios, 1) if rate < 1 else ():
            wrong = tuple(one.script.wrong)
            if not wrong:
                raise ConfigError(f"pass rate of {model}: scenario {one.id} has no wrong script to play")
            for code in wrong:
                policies[f"m{number}-s{place}-{code}"] = RehearsedPolicy(
                    script=f"wrong:{code}", weight=(1 - rate) / len(wrong), scenarios=(one.id,)
                )
        mine = tuple(name for name in policies if name.startswith(f"m{number}-"))
        models[model] = RehearsedModel(policies=mine, draws=model)
    try:
        return PolicyFile.model_validate({"schema": 1, "policy": policies, "model": models})
    except ValidationError:
        raise ConfigError("a model name is 1 to 200 printable ASCII characters without spaces") from None


def _read(data: bytes, name: str) -> PolicyFile:
    text = ""
    try:
        text = decoded(data)
        table = parse_toml(text)
    except DocumentError as error:
        raise unreadable(name, error, text) from None
    try:
        found = PolicyFile.model_validate_json(json.dumps(table))
    except ValidationError as error:
        raise refusal(name, text, schema_problems(error, table, PolicyFile.model_json_schema())) from None
    problems = list(_problems(found))
    if problems:
        raise refusal(name, text, problems)
    return found


def _problems(found: PolicyFile) -> Iterator[Problem]:
    for name, policy in found.policy.items():
        yield from _latency_problems(policy.latency_ms, ("policy", name))
        yield from _fault_problems(policy.fault, ("policy", name))
    for name, model in found.model.items():
        yield from _latency_problems(model.latency_ms, ("model", name))
        yield from _fault_problems(model.fault, ("model", name))
        for index, policy_name in enumerate(model.policies):
            if policy_name not in found.policy:
                hint = nearest(policy_name, found.policy)
                path: KeyPath = ("model", name, "policies", index)
                yield Problem(path, f"there is no policy {policy_name!r}{hint}", ", ".join(found.policy))


def _latency_problems(latency: float | tuple[float, float] | None, path: KeyPath) -> Iterator[Problem]:
    if isinstance(latency, tuple) and latency[0] > latency[1]:
        yield Problem((*path, "latency_ms"), "the first number is the larger one", "[lowest, highest]")


def _fault_problems(faults: Sequence[FaultSpec], path: KeyPath) -> Iterator[Problem]:
    for index, fault in enumerate(faults):
        here = (*path, "fault", index)
        if (fault.rate is None) == (fault.at_turn is None):
            yield Problem(here, "it must be known when this happens", "exactly one of rate, at_turn")
        elif fault.status is None and fault.kind == "status":
            yield Problem(here, "it is not told which status", "status = 400 to 599")
        elif fault.status is not None and fault.kind not in _WITH_STATUS:
            allowed = f"beside kind = {' or '.join(map(repr, _WITH_STATUS))}"
            yield Problem((*here, "status"), f"a {fault.kind} has no status", allowed)
        elif fault.retry_after_s is not None and fault.kind != "status":
            yield Problem((*here, "retry_after_s"), f"a {fault.kind} tells no time to wait", 'beside kind = "status"')
        elif fault.retry_after_as != "seconds" and fault.retry_after_s is None:
            yield Problem((*here, "retry_after_as"), "it is not told how long to wait", "beside retry_after_s")
        elif fault.seconds is not None and fault.kind != "stall":
            yield Problem((*here, "seconds"), f"a {fault.kind} takes no time", 'beside kind = "stall"')
