"""What it means when the actor stops, and when the scenario is satisfied."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from harness.rules.expecting import examine
from harness.schema.base import JsonValue
from harness.schema.finding import RawFinding
from harness.schema.name import Code, Fact
from harness.schema.pointer import MISSING
from harness.schema.scenario import Scenario

__all__ = ["accepts", "closes", "ending_findings", "satisfies", "silence"]


def silence(scenario: Scenario, facts: AbstractSet[Fact]) -> Code:
    """The code of stopping with these facts: that of the first rule that fits, the last rule's where none does.

    There are rules wherever there are facts.
    """
    rules = scenario.end.silence
    fitting = (rule.code for rule in rules if facts >= set(rule.has) and facts.isdisjoint(rule.lacks))
    return next(fitting, rules[-1].code if rules else scenario.end.unexpected)


def accepts(scenario: Scenario, facts: AbstractSet[Fact]) -> bool:
    """Whether these facts are all that the scenario asks for."""
    return facts >= set(scenario.end.accept)


def satisfies(scenario: Scenario, facts: AbstractSet[Fact]) -> bool:
    """Whether these facts end the episode: with checks of the end, or classifiers, only the actor's own stop does."""
    is_heard = scenario.end.check or scenario.classify or scenario.closing is not None
    return accepts(scenario, facts) and not is_heard


def closes(scenario: Scenario, facts: AbstractSet[Fact]) -> bool:
    """Whether nothing may be called any more with these facts: what is left is the closing turn."""
    return scenario.closing is not None and accepts(scenario, facts)


def ending_findings(scenario: Scenario, ending: JsonValue) -> tuple[RawFinding, ...]:
    """Everything in which the final answer and the control plane's state miss the end's checks, in file order."""
    return tuple(
        RawFinding(
            code=check.code,
            check="end",
            pointer=at,
            expected=miss.expected,
            got=None if miss.got is MISSING else miss.got,
            missing=miss.got is MISSING,
        )
        for check in scenario.end.check
        for at, expectation in check.holds.items()
        for miss in examine(ending, at, expectation)
    )
