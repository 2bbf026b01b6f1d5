"""Bounds on how often, by tool or kind, and by what became of the calls."""

from __future__ import annotations

import pytest
from evidenced import evidence
from hypothesis import given
from hypothesis import strategies as st

from harness import catalog
from harness.schema.base import JsonValue
from harness.schema.judging import Classifier
from harness.schema.scenario import Scenario

from .conftest import Make

CALLS = "look read look! look? look"


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ({"kind": "look", "most": 4}, []),
        ({"kind": "look", "most": 3}, [("most", (5, 1, 3, 4), "at most 3 calls of look")]),
        ({"tool": "use_look", "most": 1}, [("most", (3, 4, 5, 1), "at most 1 call of use_look")]),
        ({"kind": "look", "counts": ["executed"], "most": 2}, []),
        (
            {"kind": "look", "counts": ["failed", "blocked"], "most": 0},
            [("most", (3, 4), "at most 0 calls of look failed or blocked")],
        ),
        (
            {"kind": "read", "least": 2},
            [("least", (2,), "at least 2 calls of read")],
        ),
        ({"kind": "write", "least": 1}, [("least", (), "at least 1 call of write")]),
    ],
)
def test_a_bound_that_is_not_kept_is_told_with_the_calls(
    make: Make, use: JsonValue, found: list[tuple[str, tuple[int, ...], str]]
) -> None:
    budget = make(use=[use])
    said = budget.classify(evidence(CALLS))
    assert [(one.ground, one.steps, one.expected) for one in said] == found
    assert {one.expected for one in said} <= set(budget.phrases())
    assert all(one.missing is (not one.steps) for one in said)


@given(st.lists(st.sampled_from(["a", "b", "a?"]), max_size=12), st.integers(0, 6), st.integers(0, 6))
def test_it_says_what_counting_says(words: list[str], least: int, more: int) -> None:
    kind: type[Classifier] = catalog.module("classifiers", "tool_budget").CLASSIFIER
    use = {"kind": "a", "least": least, "most": least + more, "counts": ("executed",)}
    said = kind.model_validate({"use": (use,)}).classify(evidence(" ".join(words)))
    number = words.count("a")
    assert [one.ground for one in said] == ["least"] * (number < least) + ["most"] * (number > least + more)


@pytest.mark.parametrize(
    ("use", "at", "told"),
    [
        ({"most": 1}, ("use", 0), "not clear"),
        ({"tool": "exec", "kind": "look", "most": 1}, ("use", 0), "not clear"),
        ({"tool": "exce", "most": 1}, ("use", 0, "tool"), "no tool 'exce'"),
        ({"kind": "loook", "most": 1}, ("use", 0, "kind"), "no kind 'loook'"),
        ({"kind": "look"}, ("use", 0), "no bound"),
        ({"kind": "look", "least": 3, "most": 2}, ("use", 0, "most"), "fewer than the least"),
    ],
)
def test_a_bound_that_bounds_nothing_is_told(
    make: Make, scenario: Scenario, use: JsonValue, at: tuple[str | int, ...], told: str
) -> None:
    (problem,) = make(use=[use]).problems(scenario)
    assert (problem.at, told in problem.text) == (at, True)
