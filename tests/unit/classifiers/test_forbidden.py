"""What must not be done, by how far it came."""

from __future__ import annotations

import pytest
from evidenced import evidence

from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario

from .conftest import Make

CALLS = "look force! force? force- force look force?"


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ({}, [("executed", 5), ("failed", 3), ("failed", 7)]),
        ({"counts": ["executed"]}, [("executed", 5)]),
        ({"counts": ["blocked", "executed"]}, [("executed", 5), ("blocked", 2)]),
        ({"counts": ["skipped"]}, [("skipped", 4)]),
    ],
)
def test_each_call_is_told_by_how_far_it_came_the_gravest_first(
    make: Make, counts: dict[str, JsonValue], found: list[tuple[str, int]]
) -> None:
    said = make(kinds=["force"], **counts).classify(evidence(CALLS))
    assert [(one.ground, *one.steps) for one in said] == found
    assert {one.expected for one in said} == {"no force"}


def test_a_tool_is_forbidden_by_its_name_whatever_the_kind_of_the_call(make: Make) -> None:
    said = make(tools=["use_look"]).classify(evidence(CALLS))
    assert [(one.expected, one.steps) for one in said] == [("no call of use_look", (1,)), ("no call of use_look", (6,))]
    assert set(make(tools=["use_look"], kinds=["force"]).phrases()) == {"no call of use_look", "no force"}


@pytest.mark.parametrize(
    ("settings", "at", "told"),
    [
        ({}, (), "nothing is forbidden"),
        ({"kinds": ["loook"]}, ("kinds", 0), "there is no kind 'loook'"),
        ({"kinds": ["look", "clock"], "tools": ["x"]}, ("tools", 0), "there is no tool 'x'"),
    ],
)
def test_a_setting_that_forbids_nothing_is_told(
    make: Make, scenario: Scenario, settings: dict[str, JsonValue], at: tuple[str | int, ...], told: str
) -> None:
    (problem,) = make(**settings).problems(scenario)
    assert (problem.at, problem.text) == (at, told)


def test_a_kind_at_which_the_rules_end_the_episode_is_never_seen_here(make: Make, scenario: Scenario) -> None:
    kinds = tuple(kind.model_copy(update={"fatal": "f"}) if kind.name == "clock" else kind for kind in scenario.kind)
    (problem,) = make(kinds=["clock"]).problems(scenario.model_copy(update={"kind": kinds}))
    assert "is fatal" in problem.text
