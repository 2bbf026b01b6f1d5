"""Partial orders, held against a reading that tries every place."""

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

BETWEEN: JsonValue = {"never": "d", "after": "a", "before": "b"}
MARKS = st.sampled_from(["a", "b", "c", "d", "a?", "b?", "d!", "d-"])


@pytest.mark.parametrize(
    ("calls", "steps"),
    [
        ("a b", []),
        ("c a c b c", []),
        ("a b b a b", []),
        ("", []),
        ("b a", [(1, 2)]),
        ("b", [(1,)]),
        ("b b a b", [(1, 3), (2, 3)]),
        ("a? b a", [(2, 3)]),
        ("b? a b", []),
    ],
)
def test_the_second_needs_the_first_before_it(make: Make, calls: str, steps: list[tuple[int, ...]]) -> None:
    found = make(before=[["a", "b"]]).classify(evidence(calls))
    assert [one.steps for one in found] == steps
    assert {(one.ground, one.expected) for one in found} <= {("before", "a before b")}


@pytest.mark.parametrize(
    ("calls", "steps"),
    [
        ("a b", []),
        ("d a c b d", []),
        ("a d", []),
        ("a d b", [(2, 1, 3)]),
        ("a d a b", [(2, 1, 4)]),
        ("a b d a b", []),
        ("a d d! b", [(2, 1, 4)]),
        ("a b? d b", [(3, 1, 4)]),
    ],
)
def test_none_stands_between(make: Make, calls: str, steps: list[tuple[int, ...]]) -> None:
    found = make(never_between=[BETWEEN]).classify(evidence(calls))
    assert [one.steps for one in found] == steps
    assert {(one.ground, one.expected) for one in found} <= {("between", "no d between a and b")}


@pytest.mark.parametrize(
    ("calls", "steps"),
    [
        ("b", []),
        ("a c b", []),
        ("a d b", []),
        ("c a b", [(3, 2)]),
        ("a c a b", [(4, 3)]),
        ("a c b b", []),
        ("a b c b b", [(2, 1)]),
        ("a c? b", [(3, 1)]),
        ("a? b", []),
    ],
)
def test_what_was_learned_before_is_old(make: Make, calls: str, steps: list[tuple[int, ...]]) -> None:
    found = make(some_between=[{"some": ["c", "d"], "after": "a", "before": "b"}]).classify(evidence(calls))
    assert [one.steps for one in found] == steps
    assert {(one.ground, one.expected) for one in found} <= {("missing", "c or d between a and b")}


def test_attempts_count_where_that_is_asked_for(make: Make) -> None:
    order = make(before=[["a", "b"]], never_between=[BETWEEN], attempted=True)
    assert [one.steps for one in order.classify(evidence("b! a d- b"))] == [(1, 2), (3, 2, 4)]


@given(st.lists(MARKS, max_size=9), st.booleans())
def test_it_says_what_trying_every_place_says(words: list[str], attempted: bool) -> None:
    kind: type[Classifier] = catalog.module("classifiers", "order").CLASSIFIER
    needed: JsonValue = {"some": ["c"], "after": "a", "before": "b"}
    settings = {"before": (("a", "b"),), "never_between": (BETWEEN,), "some_between": (needed,)}
    order = kind.model_validate({**settings, "attempted": attempted}, strict=False)
    seen = [(word[0] if attempted or len(word) == 1 else "") for word in words]
    places = range(len(seen))
    early = {b + 1 for b in places if seen[b] == "b" and "a" not in seen[:b]}
    inside = {
        d + 1
        for a in places
        for b in places
        for d in range(a + 1, b)
        if (seen[a], seen[d], seen[b]) == ("a", "d", "b") and "b" not in seen[a + 1 : b]
    }
    lacking = {
        b + 1
        for b in places
        if seen[b] == "b" and "a" in seen[:b] and "c" not in seen[b - seen[:b][::-1].index("a") : b]
    }
    found = order.classify(evidence(" ".join(words)))
    assert {one.steps[0] for one in found if one.ground == "before"} == early
    assert {one.steps[0] for one in found if one.ground == "between"} == inside
    assert {one.steps[0] for one in found if one.ground == "missing"} == lacking
    assert len(found) == len(early) + len(inside) + len(lacking)


@pytest.mark.parametrize(
    ("settings", "at", "told"),
    [
        ({}, (), "no order is asked for"),
        ({"before": [["ask", "raed"]]}, ("before", 0, 1), "there is no kind 'raed'"),
        (
            {"never_between": [{"never": "look", "after": "ask", "before": "x"}]},
            ("never_between", 0, "before"),
            "there is no kind 'x'",
        ),
        (
            {"some_between": [{"some": ["look", "x"], "after": "ask", "before": "read"}]},
            ("some_between", 0, "some", 1),
            "there is no kind 'x'",
        ),
        (
            {"never_between": [{"never": "read", "after": "ask", "before": "read"}]},
            ("never_between", 0, "never"),
            "'read' is what it ends with",
        ),
        (
            {"some_between": [{"some": ["look", "ask"], "after": "ask", "before": "read"}]},
            ("some_between", 0, "some", 1),
            "'ask' is what it begins with",
        ),
        ({"before": [["ask", "ask"]]}, ("before", 0), "'ask' would have to come before itself"),
        ({"before": [["ask", "read"], ["read", "look"], ["look", "ask"]]}, ("before", 0), "'ask' would have to come"),
    ],
)
def test_an_order_that_nothing_keeps_is_told(
    make: Make, scenario: Scenario, settings: dict[str, JsonValue], at: tuple[str | int, ...], told: str
) -> None:
    first = make(**settings).problems(scenario)[0]
    assert (first.at, told in first.text) == (at, True)


def test_what_is_wanted_is_among_its_phrases(make: Make, scenario: Scenario) -> None:
    order = make(before=[["ask", "read"]], never_between=[{"never": "look", "after": "ask", "before": "read"}])
    assert order.problems(scenario) == ()
    assert order.phrases() == ("ask before read", "no look between ask and read")
