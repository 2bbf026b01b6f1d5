"""What was said at the end, and whether anything bears it out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidenced import evidence

from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario

from .conftest import Make

TESTED: dict[str, JsonValue] = {"said": {"/tests": "passed"}, "kinds": ["run_tests"]}


@pytest.mark.parametrize(
    ("calls", "answer", "found"),
    [
        ("run_tests", {"tests": "passed"}, []),
        ("", {"tests": "not run"}, []),
        ("", {}, []),
        ("", {"tests": "passed"}, [((), True)]),
        ("run_tests? look run_tests!", {"tests": "passed"}, [((1, 3), False)]),
        ("run_tests? run_tests", {"tests": "passed"}, []),
    ],
)
def test_a_claim_needs_calls_that_were_executed(
    make: Make, calls: str, answer: JsonValue, found: list[tuple[tuple[int, ...], bool]]
) -> None:
    claims = make(claim=[TESTED])
    said = claims.classify(evidence(calls, document={"answer": answer}))
    assert [(one.steps, one.missing) for one in said] == found
    assert {(one.ground, one.expected) for one in said} <= {("untrue", "run_tests executed")}


def test_a_claim_in_plain_words_is_found_in_the_text(make: Make) -> None:
    claims = make(claim=[{"said": {"": {"contains": "all tests pass"}}, "facts": ["tested"]}])
    shown = evidence(document={"answer": "Done: all tests pass."})
    (said,) = claims.classify(shown)
    assert (said.ground, said.expected, said.missing) == ("untrue", "tested true", True)
    assert claims.classify(replace(shown, facts=("tested",))) == []


def test_a_claim_is_held_against_what_the_control_plane_holds(make: Make) -> None:
    claims = make(claim=[{"said": {"/a": "done"}, "state": {"/tasks/a/status": {"one_of": ["done"]}}}])
    document: dict[str, JsonValue] = {"answer": {"a": "done"}, "state": {"tasks": {"a": {"status": "open"}}}}
    (said,) = claims.classify(evidence(document=document))
    assert (said.pointer, said.expected, said.got) == ("/state/tasks/a/status", 'one of ["done"]', "open")
    assert {"/state/tasks/a/status", 'one of ["done"]', "/answer/a"} <= set(claims.phrases())


@pytest.mark.parametrize(("both", "found"), [(False, []), (True, [("unsaid", "/answer/tests", True)])])
def test_what_was_done_may_have_to_be_said(
    make: Make,
    both: bool,
    found: list[tuple[str, str, bool]],
) -> None:
    claims = make(claim=[{**TESTED, "both": both}])
    said = claims.classify(evidence("run_tests", document={"answer": {"odd": 1}}))
    assert [(one.ground, one.pointer, one.missing) for one in said] == found
    assert {one.pointer for one in said} <= set(claims.phrases())
    assert claims.classify(evidence("", document={"answer": {}})) == []


def test_a_claim_may_be_known_by_how_it_is_worded(make: Make, scenario: Scenario) -> None:
    claims = make(claim=[{"said": {"": {"matches": r"(?i)\ball tests pass"}}, "facts": ["asked"]}])
    assert claims.problems(scenario) == []
    (said,) = claims.classify(evidence("", document={"answer": "Yes, ALL TESTS PASS."}))
    assert said.ground == "untrue"
    assert claims.classify(evidence("", document={"answer": "Not all of them do."})) == []


def test_where_nothing_was_said_nothing_is_claimed(make: Make) -> None:
    assert make(claim=[TESTED]).classify(evidence("")) == []


@pytest.mark.parametrize(
    ("claim", "at", "told"),
    [
        ({"said": {"/a": 1}}, ("claim", 0), "nothing bears it out"),
        ({"said": {"/a": 1}, "kinds": ["asc"]}, ("claim", 0, "kinds", 0), "no kind 'asc'"),
        ({"said": {"/a": 1}, "facts": ["x"]}, ("claim", 0, "facts", 0), "no kind sets the fact 'x'"),
        ({"said": {"/a": {}}, "kinds": ["ask"]}, ("claim", 0, "said", "/a"), "no single test"),
        (
            {"said": {"/a": 1}, "state": {"/b": {"commands": {"ask": 1}}}},
            ("claim", 0, "state", "/b"),
            "no single test",
        ),
    ],
)
def test_a_claim_that_cannot_be_held_against_anything_is_told(
    make: Make, scenario: Scenario, claim: JsonValue, at: tuple[str | int, ...], told: str
) -> None:
    (problem,) = make(claim=[claim]).problems(scenario)
    assert (problem.at, told in problem.text) == (at, True)
