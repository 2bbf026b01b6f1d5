"""The packet of a scenario: it is shown, once and to nobody else, and each of its invariants asks for something."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.checking_answers import expectation_problems
from harness.scenario.placeholders import names_in
from harness.scenario.problem import KeyPath, Problem
from harness.schema.packet import EACH, PACKET_NAME, Conditions
from harness.schema.rules import AnswerCheck
from harness.schema.scenario import Scenario

__all__ = ["packet_problems"]


def packet_problems(scenario: Scenario) -> Iterator[Problem]:
    """Everything about a packet that the schema alone cannot see."""
    spec = scenario.packet
    if spec is None:
        return
    for table, names in (("values", scenario.values), ("late", scenario.late)):
        if PACKET_NAME in names:
            yield Problem((table, PACKET_NAME), f"the name {PACKET_NAME!r} is taken", "another name")
    shown = names_in(scenario.prompt.user).count(PACKET_NAME)
    if shown != 1:
        text = f"the packet stands in it {shown} times"
        yield Problem(("prompt", "user"), text, f"{{{PACKET_NAME}}} exactly once")
    for number, one in enumerate(spec.must):
        if not (one.holds or one.there or one.counts):
            yield Problem(("packet", "must", number), f"{one.code!r} asks for nothing", "holds, there, counts")
        for key, conditions in (("when", one.when), ("holds", one.holds)):
            yield from _conditions(scenario, conditions, ("packet", "must", number, key))


def _conditions(scenario: Scenario, conditions: Conditions, path: KeyPath) -> Iterator[Problem]:
    for at, expectation in conditions.items():
        yield from expectation_problems(scenario, expectation, (*path, at), of_answer=False)
        if EACH in at and isinstance(expectation, AnswerCheck) and expectation.same_as is not None:
            text = "what every element has is held against no other place"
            yield Problem((*path, at, "same_as"), text, "a test of one value")
