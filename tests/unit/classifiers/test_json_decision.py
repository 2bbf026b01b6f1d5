"""One JSON object that is the decision its packet asks for; every way in which an answer is not has a ground."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import cast

import pytest
from evidenced import evidence
from hypothesis import given
from hypothesis import strategies as st

from harness import catalog
from harness.schema.base import JsonValue
from harness.schema.classifier import Violation
from harness.schema.judging import Classifier

Table = dict[str, JsonValue]

SETTINGS: Table = {
    "fields": {
        "/next": {"type": "token", "one_of": ["go", "ask", "stay"], "route": True},
        "/contract/goal": {"type": "token", "nullable": True, "from": ["/goal_id", "/goal/id"]},
        "/contract/writes": {"type": "flag", "from": "/writes"},
        "/contract/has_todo": {"type": "flag", "present": "/open"},
        "/contract/idle": {"type": "flag", "lacks": "/open"},
        "/contract/is_ide": {"type": "flag", "if": {"/host": {"one_of": ["ide", "ide-plugin"]}}},
        "/contract/commands": {"type": "tokens", "listed": {"at": "/commands", "of": ["connect", "refresh"]}},
        "/contract/scope": {"type": "texts", "from": "/scope"},
        "/contract/plan": {"type": "table", "from": "/plan"},
        "/urgency": {"type": "token", "mapped": {"at": "/cadence", "to": {"now": "high", "later": "low"}}},
        "/external": {"type": "flag", "equals": False},
        "/kinds": {"type": "tokens", "least": 1, "most": 3, "from": "/plan/kinds", "where": {"/gate": True}},
        "/tries": {"type": "count", "least": 1, "most": 9},
        "/note": {"type": "text", "most": 10, "optional": True},
    },
    "route": [
        {"to": "ask", "when": {"/gate": True}, "there": ["/question"]},
        {"to": "go", "when": {"/steps/*/id": {"contains": "connect"}}},
        {"to": "stay"},
    ],
    "never": [
        {"name": "asks_nothing", "all": {"/answer/next": "ask", "/answer/kinds/0": "wait"}},
        {"name": "goes_over_gate", "all": {"/answer/next": "go", "/packet/gate": True}},
    ],
}
PACKET: Table = {
    "goal": {"id": "goal-a"},
    "open": 2,
    "host": "ide",
    "commands": {"refresh": "x", "connect": "y", "other": "z"},
    "cadence": "now",
    "steps": [{"id": "look"}, {"id": "connect"}],
}
RIGHT: Table = {
    "next": "go",
    "contract": {
        "goal": "goal-a",
        "writes": False,
        "has_todo": True,
        "idle": False,
        "is_ide": True,
        "commands": ["connect", "refresh"],
        "scope": [],
        "plan": {},
    },
    "urgency": "high",
    "external": False,
    "kinds": ["edit"],
    "tries": 1,
}


def decision(**changes: JsonValue) -> Classifier:
    kind: type[Classifier] = catalog.module("classifiers", "json_decision").CLASSIFIER
    return kind.model_validate_json(json.dumps({**SETTINGS, **changes}))


DECISION = decision()


def found(text: str, packet: JsonValue = None, judge: Classifier = DECISION) -> list[str]:
    """The grounds of everything that is wrong, each with its place."""
    seen = violations(text, PACKET if packet is None else packet, judge)
    return [one.ground if one.pointer in {None, one.ground} else f"{one.ground} {one.pointer}" for one in seen]


def violations(text: str, packet: JsonValue, judge: Classifier = DECISION) -> list[Violation]:
    return list(judge.classify(evidence(text=text, packet=packet)))


def parent_of(value: Table, at: str) -> tuple[Table, str]:
    """The object that a place is in, and its name there."""
    *way, key = at.split("/")[1:]
    for step in way:
        value = cast("Table", value[step])
    return value, key


def changed(value: Table, at: str, new: JsonValue) -> Table:
    """A copy with one place changed."""
    copy = deepcopy(value)
    parent, key = parent_of(copy, at)
    parent[key] = new
    return copy


def lacking(value: Table, at: str) -> Table:
    """A copy without one place."""
    copy = deepcopy(value)
    parent, key = parent_of(copy, at)
    del parent[key]
    return copy


def test_the_decision_that_the_packet_asks_for_is_right() -> None:
    assert found(json.dumps(RIGHT)) == []
    assert found(json.dumps({**RIGHT, "note": "because"}, indent=2)) == []


@pytest.mark.parametrize(
    ("at", "new", "grounds"),
    [
        ("/next", "stay", ["/next"]),
        ("/next", "run", ["not_allowed /next", "/next"]),
        ("/contract/goal", None, ["/contract/goal"]),
        ("/contract/goal", "goal-b", ["/contract/goal"]),
        ("/contract/goal", "/home/u", ["not_allowed /contract/goal", "/contract/goal"]),
        ("/contract/writes", True, ["/contract/writes"]),
        ("/contract/writes", "false", ["wrong_type /contract/writes", "/contract/writes"]),
        ("/contract/writes", 0, ["wrong_type /contract/writes", "/contract/writes"]),
        ("/contract/has_todo", False, ["/contract/has_todo"]),
        ("/contract/idle", True, ["/contract/idle"]),
        ("/contract/is_ide", False, ["/contract/is_ide"]),
        ("/contract/commands", ["refresh", "connect"], ["/contract/commands"]),
        ("/contract/commands", ["connect"], ["/contract/commands"]),
        ("/contract/scope", ["**"], ["/contract/scope"]),
        ("/contract/scope", None, ["wrong_type /contract/scope", "/contract/scope"]),
        ("/contract/plan", {"a": 1}, ["/contract/plan"]),
        ("/urgency", "low", ["/urgency"]),
        ("/external", True, ["/external"]),
        ("/kinds", [], ["not_allowed /kinds"]),
        ("/kinds", ["a", "b", "c", "d"], ["not_allowed /kinds"]),
        ("/kinds", ["two words"], ["not_allowed /kinds"]),
        ("/kinds", [1], ["wrong_type /kinds"]),
        ("/tries", 0, ["not_allowed /tries"]),
        ("/tries", 10, ["not_allowed /tries"]),
        ("/tries", True, ["wrong_type /tries"]),
        ("/tries", 1.5, ["wrong_type /tries"]),
        ("/note", "longer than ten", ["not_allowed /note"]),
        ("/contract", [], ["wrong_type /contract"]),
        ("/contract", "x", ["wrong_type /contract"]),
        ("/more", 1, ["unknown_field "]),
        ("/contract/more", 1, ["unknown_field /contract"]),
    ],
)
def test_one_thing_that_is_wrong_is_told_with_its_place(at: str, new: JsonValue, grounds: list[str]) -> None:
    assert found(json.dumps(changed(RIGHT, at, new))) == grounds


@pytest.mark.parametrize("at", ["/next", "/contract/goal", "/contract/idle", "/contract", "/external", "/tries"])
def test_what_is_not_there_is_missing_once(at: str) -> None:
    assert found(json.dumps(lacking(RIGHT, at))) == [f"missing_field {at}"]


def test_what_no_answer_may_say_comes_before_what_the_packet_says() -> None:
    gate: Table = {**PACKET, "gate": True, "question": "May I?", "plan": {"kinds": ["notify", "wait"]}}
    asks: Table = {**RIGHT, "next": "ask", "kinds": ["notify", "wait"]}
    asks = changed(asks, "/contract/plan", {"kinds": ["notify", "wait"]})
    assert found(json.dumps(asks), gate) == []
    assert found(json.dumps({**asks, "kinds": ["wait"]}), gate) == ["asks_nothing", "/kinds"]
    assert found(json.dumps({**asks, "next": "go"}), gate) == ["goes_over_gate", "/next"]
    assert found(json.dumps({**asks, "next": "go", "more": 1}), gate) == ["unknown_field ", "/next"]


@pytest.mark.parametrize(
    ("change", "route"),
    [
        ({"gate": True, "question": "x"}, "ask"),
        ({"gate": True, "question": ""}, "go"),
        ({"gate": True, "steps": []}, "stay"),
        ({"steps": "connect"}, "stay"),
    ],
)
def test_the_first_route_that_fits_is_taken(change: Table, route: str) -> None:
    assert "/next" not in found(json.dumps({**RIGHT, "next": route}), {**PACKET, **change})


def test_nothing_is_told_of_a_reply_but_where_it_is_wrong_and_how_many_fields_are_too_many() -> None:
    (one,) = violations(json.dumps({**RIGHT, "tries": 10}), PACKET)
    assert (one.pointer, one.expected, one.got, one.missing) == (
        "/tries",
        "an allowed value",
        "a value with a number",
        False,
    )
    (one,) = violations(json.dumps(lacking(RIGHT, "/tries")), PACKET)
    assert (one.pointer, one.got, one.missing) == ("/tries", None, True)
    (one,) = violations(json.dumps({**RIGHT, "mine": 1, "yours": 2}), PACKET)
    assert (one.pointer, one.expected, one.got) == ("", 0, 2)


def test_what_is_to_be_read_is_withheld_and_what_is_listed_is_not() -> None:
    made = DECISION.prepare({**PACKET, "scope": ["src/**", "a"], "plan": {"kinds": ["notify"]}})
    assert {at: texts for at, texts in made.withheld.items() if texts} == {
        "/contract/goal": ("goal-a",),
        "/contract/scope": ("src/**",),
    }
    assert made.unfit == ()


@pytest.mark.parametrize(
    ("change", "unfit"),
    [
        ({"cadence": "soon"}, ("/urgency",)),
        ({"cadence": None}, ("/urgency",)),
        ({"goal": {"id": "two words"}}, ("/contract/goal",)),
        ({"writes": "yes"}, ("/contract/writes",)),
        ({"plan": []}, ("/contract/plan",)),
        ({"scope": "**"}, ("/contract/scope",)),
        ({"gate": True, "plan": {"kinds": []}}, ("/kinds",)),
    ],
)
def test_a_packet_from_which_no_answer_can_follow_is_unfit(change: Table, unfit: tuple[str, ...]) -> None:
    packet = {**PACKET, **change}
    assert DECISION.prepare(packet).unfit == unfit
    assert found(json.dumps(RIGHT), packet) != []


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats(allow_nan=False)
    | st.sampled_from(["go", "goal-a", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*RIGHT, "goal", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.text(max_size=80), _JSON)
def test_no_text_raises_and_none_that_is_not_the_decision_passes(text: str, packet: JsonValue) -> None:
    assert violations(text, packet)


@given(_JSON, _JSON)
def test_no_value_raises_and_none_that_is_not_the_decision_passes(answer: JsonValue, packet: JsonValue) -> None:
    assert violations(json.dumps(answer), packet)


@given(
    st.sampled_from([at for at in cast("Table", SETTINGS["fields"]) if at not in {"/note", "/tries", "/kinds"}]), _JSON
)
def test_whatever_stands_in_place_of_what_the_packet_says_is_found(at: str, new: JsonValue) -> None:
    answer = changed(RIGHT, at, new)
    if json.dumps(answer) == json.dumps(RIGHT):
        assert found(json.dumps(answer)) == []
    else:
        assert found(json.dumps(answer))


@given(st.sampled_from(sorted(PACKET)), _JSON)
def test_with_another_packet_the_same_answer_passes_only_where_that_says_the_same(at: str, new: JsonValue) -> None:
    packet = {**PACKET, at: new}
    if DECISION.prepare(packet).unfit:
        assert found(json.dumps(RIGHT), packet)
