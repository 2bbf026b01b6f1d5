"""What it means when the actor stops, and when the scenario is satisfied."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from harness.schema.name import Code, Fact
from harness.schema.scenario import Scenario

__all__ = ["accepts", "silence"]


def silence(scenario: Scenario, facts: AbstractSet[Fact]) -> Code:
    """The code of stopping with these facts: that of the first rule that fits, the last rule's where none does."""
    rules = scenario.end.silence
    fitting = (rule.code for rule in rules if facts >= set(rule.has) and facts.isdisjoint(rule.lacks))
    return next(fitting, rules[-1].code)


def accepts(scenario: Scenario, facts: AbstractSet[Fact]) -> bool:
    """Whether these facts satisfy the scenario."""
    return facts >= set(scenario.end.accept)
