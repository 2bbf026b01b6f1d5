"""What ends a scenario besides its rules, and what waits: names that exist, and nothing that can never count."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.problem import Problem, nearest
from harness.schema.control import CONTROL_NAMES
from harness.schema.scenario import Scenario

__all__ = ["control_problems"]


def control_problems(scenario: Scenario) -> Iterator[Problem]:
    """Everything in ``[control]`` that the schema alone cannot see, and tools with the names of control tools."""
    spec, tools = scenario.control, scenario.tool
    for name in tools:
        if name in CONTROL_NAMES:
            yield Problem(("tool", name), f"the name {name!r} is taken", f"names other than {', '.join(CONTROL_NAMES)}")
    for index, offered in enumerate(spec.offer):
        if offered in spec.offer[:index]:
            yield Problem(("control", "offer", index), f"{offered!r} is offered twice", "each name once")
    for index, name in enumerate(spec.stop_at_tools):
        if name not in tools:
            text = f"unknown tool {name!r}{nearest(name, tools)}"
            yield Problem(("control", "stop_at_tools", index), text, ", ".join(tools))
    asks = "request_user_input" in spec.offer or spec.no_call == "wait_user"
    if spec.answers and not asks:
        text = "nobody can ask for an answer"
        yield Problem(("control", "answers"), text, 'beside offer = ["request_user_input"] or no_call = "wait_user"')
    if "nudge" in spec.model_fields_set and spec.no_call != "continue":
        yield Problem(("control", "nudge"), "nobody is ever nudged", 'beside no_call = "continue"')
