"""What is there at the end, and what else was changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidenced import evidence
from hypothesis import given
from hypothesis import strategies as st

from harness import catalog
from harness.rules.expecting import same
from harness.schema.base import JsonValue
from harness.schema.classifier import ChangeEvidence, Evidence
from harness.schema.judging import Classifier
from harness.schema.pointer import MISSING, pointer
from harness.schema.scenario import Scenario

from .conftest import Make

BEFORE: dict[str, JsonValue] = {"tasks": {"a": {"status": "open", "n": 1}, "b": {"status": "open"}}, "by": ["a", "b"]}
NOW: dict[str, JsonValue] = {
    "tasks": {"a": {"status": "done", "n": 1}, "c/d": {"status": "open"}},
    "by": ["a"],
}


def seen(now: JsonValue = NOW, before: dict[str, JsonValue] | None = BEFORE, **files: str) -> Evidence:
    """An episode that left these behind."""
    named = {name.replace("__", "/") + ".json": text for name, text in files.items()}
    return replace(evidence(document={"state": now}, files=named), before=before)


def test_the_control_plane_holds_what_it_has_to(make: Make) -> None:
    state = make(holds={"/tasks/a/status": {"one_of": ["done", "gone"]}, "/tasks/a/n": 2, "/tasks/b": {"absent": True}})
    (said,) = state.classify(seen())
    assert (said.ground, said.pointer, said.expected, said.got) == ("holds", "/state/tasks/a/n", 2, 1)
    assert {"/state/tasks/a/n", 'one of ["done", "gone"]', "done"} <= set(state.phrases())


def test_a_file_holds_what_it_has_to_as_json_or_as_text(make: Make) -> None:
    state = make(
        files={
            "project/a.json": {"/x": 1, "/y": {"absent": True}},
            "project/b.json": {"": {"contains": "no json"}},
            "project/c.json": {"": {"absent": True}, "/x": 1},
        }
    )
    said = state.classify(seen(project__a='{"x": 2}', project__b="this is no json"))
    told = [(one.ground, one.pointer, one.missing) for one in said]
    assert told == [
        ("files", "/files/project~1a.json/x", False),
        ("files", "/files/project~1c.json", False),
        ("files", "/files/project~1c.json/x", True),
    ]
    assert {one.pointer for one in said} <= set(state.phrases())


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (["/tasks", "/by"], []),
        (["/tasks/a/status", "/tasks/b", "/tasks/c~1d", "/by"], []),
        (["/tasks/a", "/tasks/c~1d", "/by"], [("/state/tasks/b", "unchanged", True)]),
        (["/tasks/a", "/tasks/b", "/by"], [("/state/tasks", "nothing new", False)]),
        (
            [],
            [
                ("/state/by", "unchanged", False),
                ("/state/tasks/a/status", "unchanged", False),
                ("/state/tasks/b", "unchanged", True),
                ("/state/tasks", "nothing new", False),
            ],
        ),
    ],
)
def test_nothing_else_in_the_control_plane_may_differ(
    make: Make, only: list[JsonValue], found: list[tuple[str, str, bool]]
) -> None:
    said = make(only=only).classify(seen())
    assert [(one.pointer, one.expected, one.missing) for one in said] == found
    assert {one.ground for one in said} <= {"damage"}


VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, "a"]),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "c/~"]), inner, max_size=3),
    max_leaves=8,
)
TABLES = st.dictionaries(st.sampled_from(["a", "b"]), VALUES, max_size=2)


@given(TABLES, TABLES)
def test_damage_is_told_wherever_there_is_any_at_places_that_were_there_before(
    before: dict[str, JsonValue], now: dict[str, JsonValue]
) -> None:
    kind: type[Classifier] = catalog.module("classifiers", "state").CLASSIFIER
    said = kind.model_validate({"only": ()}).classify(seen(now, before))
    assert bool(said) is not same(before, now)
    assert all(pointer({"state": before}, one.pointer or "") is not MISSING for one in said)


def test_nothing_else_in_the_workspace_may_differ(make: Make) -> None:
    changed = [
        ChangeEvidence(path=path, change="added", by="tool", allowed=True)
        for path in ("project", "project/out", "project/out/a", "project/outer", "project/b")
    ]
    state = make(only_files=["project/out/**", "project/b"])
    said = state.classify(replace(evidence(), changes=tuple(changed)))
    assert [(one.ground, one.path) for one in said] == [("damage", "project/outer")]


@pytest.mark.parametrize(
    ("settings", "at", "told"),
    [
        ({}, (), "nothing is looked at"),
        ({"holds": {"/a": {"equals": 1, "absent": True}}}, ("holds", "/a"), "no single test"),
        ({"holds": {"/a": {"matches": "("}}}, ("holds", "/a", "matches"), "no regular expression"),
        ({"holds": {"/a": {"equals": 1, "code": "c"}}}, ("holds", "/a"), "no single test"),
        ({"files": {"nowhere/a": {"/x": 1}}}, ("files", "nowhere/a"), "in no root"),
        ({"files": {"project/a": {"/x": {}}}}, ("files", "project/a", "/x"), "no single test"),
        ({"only_files": ["project/../a"]}, ("only_files", 0), "in no root"),
    ],
)
def test_what_can_never_be_looked_at_is_told(
    make: Make, scenario: Scenario, settings: dict[str, JsonValue], at: tuple[str | int, ...], told: str
) -> None:
    (problem,) = make(**settings).problems(scenario)
    assert (problem.at, told in problem.text) == (at, True)
