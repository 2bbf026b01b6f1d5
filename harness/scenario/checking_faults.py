"""Faults that a scenario declares: each can happen, and once."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.problem import Problem
from harness.schema.scenario import Scenario

__all__ = ["fault_problems"]


def fault_problems(scenario: Scenario) -> Iterator[Problem]:
    """What the schema alone cannot see in ``[[fault]]``."""
    turns = [fault.at for fault in scenario.fault]
    for index, fault in enumerate(scenario.fault):
        if fault.at in turns[:index]:
            yield Problem(("fault", index, "at"), f"turn {fault.at} has a fault already", "one fault a turn")
        elif fault.at > scenario.limits.model_turns:
            allowed = f"1 to {scenario.limits.model_turns}, which is limits.model_turns"
            yield Problem(("fault", index, "at"), "that turn never comes", allowed)
        if (fault.seconds is None) == (fault.kind == "delay"):
            yield Problem(("fault", index), "seconds and the kind delay belong together", 'kind = "delay" with seconds')
