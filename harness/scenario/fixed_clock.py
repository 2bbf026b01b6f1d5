"""The time that a control plane's processes see where a scenario says that its clock is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from harness.errors import ScenarioError, ScriptError
from harness.scenario.placeholders import static_values, substitute
from harness.scenario.problem import Problem
from harness.schema.scenario import Scenario

__all__ = ["fixed_clock_problems", "fixed_time"]


def fixed_time(scenario: Scenario) -> str | None:
    """The instant that the tools tell, ISO 8601 with a zone; None where the control plane sees the machine's time.

    Raises ScenarioError where that is not one time.
    """
    if scenario.call is None or scenario.call.clock == "machine":
        return None
    try:
        (told,) = _told(scenario)
        return datetime.fromisoformat(told).isoformat()
    except (ValueError, ScriptError):
        raise ScenarioError(scenario.id, "the tools tell no one time to show", key="call.clock") from None


def fixed_clock_problems(scenario: Scenario, *, in_process: bool) -> Iterator[Problem]:
    """Why there is no one time to show. ``in_process``: the control plane has no process of its own."""
    if scenario.call is None or scenario.call.clock == "machine":
        return
    path = ("call", "clock")
    if in_process:
        yield Problem(path, "a control plane that runs inside of harness has no clock of its own", '"machine"')
        return
    try:
        told = _told(scenario)
    except (ScenarioError, ScriptError):  # told at the values
        return
    if len(told) != 1:
        what = "no tool has a clock" if not told else "the clocks of the tools differ"
        yield Problem(path, f"a fixed time, but {what}", "one time, the `clock` of a tool")


def _told(scenario: Scenario) -> set[str]:
    """What the tools' clocks tell, with the static values in place."""
    known = static_values(scenario)
    return {substitute(tool.clock, known.get) for tool in scenario.command_tools.values() if tool.clock is not None}
