"""The file that ``--policy`` names, and which scenarios each of its demands is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.errors import CatalogError, UsageError
from harness.scenario import select
from harness.scenario.problem import KeyPath, Problem
from harness.scenario.refusing import refusal, unreadable
from harness.scenario.schema_errors import schema_problems
from harness.schema.decision import Demand
from harness.schema.policy import Policy, Tier
from harness.schema.run import ScenarioSummary

__all__ = ["demands", "read_policy"]

_SHARES = ("rate", "margin", "alpha", "power", "most")


def read_policy(path: Path) -> Policy:
    """The policy of a TOML file. Raises ConfigError: file, line, key, and what is allowed there."""
    text = ""
    try:
        text = decoded(read_file(path))
        table = parse_toml(text)
    except DocumentError as error:
        raise unreadable(str(path), error, text) from None
    try:
        found = Policy.model_validate_json(json.dumps(table))
    except ValidationError as error:
        problems = schema_problems(error, table, Policy.model_json_schema())
        raise refusal(str(path), text, [_of_hundred(one) for one in problems]) from None
    wrong = list(_problems(found))
    if wrong:
        raise refusal(str(path), text, wrong)
    return found


def demands(policy: Policy, scenarios: Sequence[ScenarioSummary], where: str) -> tuple[Demand, ...]:
    """What is asked of these scenarios, all of them first; ``where`` is the file of the policy, to be named.

    Raises UsageError for a tier that chooses none of them, or names one that is not there: its demand would be passed
    over in silence.
    """
    tags = {one.id: one.tags for one in scenarios}
    found = list(_asked(policy, None, tuple(tags), policy.trials))
    for name, tier in policy.tier.items():
        try:
            chosen = select(tags, tier.scenarios, tags=tags.__getitem__)
        except CatalogError as error:
            raise UsageError(f"{where}: tier.{name}: {error}") from None
        if not chosen:
            raise UsageError(
                f"{where}: tier.{name}: chooses none of the scenarios that are played ({' '.join(tier.scenarios)})"
            )
        found += _asked(tier, name, chosen, tier.trials or policy.trials)
    return tuple(found)


def _asked(told: Policy | Tier, name: str | None, scenarios: tuple[str, ...], trials: int) -> Iterator[Demand]:
    if told.every:
        yield Demand(tier=name, kind="every", scenarios=scenarios, wanted=1.0, trials=trials)
    if told.rate is not None:
        yield Demand(tier=name, kind="rate", scenarios=scenarios, wanted=told.rate, trials=trials)
    if told.margin is not None:
        yield Demand(tier=name, kind="drop", scenarios=scenarios, wanted=told.margin, trials=trials)


def _of_hundred(problem: Problem) -> Problem:
    """Whoever writes 95 for 95 % is told what it is called here."""
    if not problem.path or problem.path[-1] not in _SHARES or not problem.allowed:
        return problem
    return Problem(problem.path, problem.text, f"{problem.allowed}: a share, 0.05 is 5 %")


def _problems(found: Policy) -> Iterator[Problem]:
    if found.is_empty and not found.tier:
        yield Problem((), "nothing is demanded", "rate, every or margin, here or in [tier.NAME]")
    places: list[tuple[KeyPath, Policy | Tier]] = [
        ((), found),
        *((("tier", name), one) for name, one in found.tier.items()),
    ]
    for path, one in places:
        if one.every and one.rate is not None:
            yield Problem((*path, "rate"), "every trial is to pass already", "one of every, rate")
        if path and one.is_empty:
            yield Problem(path, "nothing is demanded", "rate, every or margin")
