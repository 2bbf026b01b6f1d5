"""The packet of a scenario: it is shown, once and to nobody else, and each of its invariants asks for something."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.placeholders import names_in
from harness.scenario.problem import Problem
from harness.schema.packet import PACKET_NAME
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
