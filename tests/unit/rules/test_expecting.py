from __future__ import annotations

import json

import pytest

from harness.rules.expecting import Miss, examine, phrase, same
from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING
from harness.schema.rules import AnswerCheck, Expectation, Near

ANSWER: dict[str, JsonValue] = {
    "text": "run task 7",
    "number": 1,
    "yes": True,
    "nothing": None,
    "list": ["a", 2],
    "none": [],
    "twin": ["a", 2],
    "commands": ["go one", "go two", "stop", 5],
}


def kind_of(text: str) -> str | None:
    return text.split(maxsplit=1)[0] if " " in text else None


@pytest.mark.parametrize(
    ("at", "expectation"),
    [
        ("/text", "run task 7"),
        ("/number", 1),
        ("/number", 1.0),
        ("/yes", True),
        ("/nothing", None),
        ("/text", AnswerCheck(equals="run task 7")),
        ("/nothing", AnswerCheck()),
        ("/text", AnswerCheck(contains="task")),
        ("/list", AnswerCheck(contains=2)),
        ("/number", AnswerCheck(one_of=("x", 1))),
        ("/number", AnswerCheck(near=Near(to=0.999999, within=1e-6))),
        ("/number", AnswerCheck(near=Near(to=1, within=0))),
        ("/nothing", AnswerCheck(one_of=(None, "x"))),
        ("/list", AnswerCheck(same_as="/twin")),
        ("/none", AnswerCheck(empty=True)),
        ("/nothing", AnswerCheck(empty=True)),
        ("/gone", AnswerCheck(absent=True)),
        ("/commands", AnswerCheck(commands={"go": 2, "halt": 0}, none_contains="drop")),
        ("/commands", AnswerCheck(none_contains="drop")),
    ],
)
def test_expectation_holds(at: str, expectation: Expectation) -> None:
    assert examine(ANSWER, at, expectation, kind_of) == ()


@pytest.mark.parametrize(
    ("at", "expectation", "expected", "got"),
    [
        ("/text", "run task 8", "run task 8", "run task 7"),
        ("/yes", 1, 1, True),
        ("/number", True, True, 1),
        ("/gone", None, None, MISSING),
        ("/gone", "x", "x", MISSING),
        ("/text", AnswerCheck(contains="todo"), 'contains "todo"', "run task 7"),
        ("/yes", AnswerCheck(one_of=(1, "é")), 'one of [1, "é"]', True),
        ("/gone", AnswerCheck(one_of=(None,)), "one of [null]", MISSING),
        ("/text", AnswerCheck(contains=7), "contains 7", "run task 7"),
        ("/number", AnswerCheck(contains=1), "contains 1", 1),
        ("/list", AnswerCheck(contains=True), "contains true", ["a", 2]),
        ("/number", AnswerCheck(near=Near(to=0.9, within=0.09)), "a number near 0.9 (within 0.09)", 1),
        ("/yes", AnswerCheck(near=Near(to=1, within=1)), "a number near 1.0 (within 1.0)", True),
        ("/gone", AnswerCheck(near=Near(to=0, within=1)), "a number near 0.0 (within 1.0)", MISSING),
        ("/text", AnswerCheck(same_as="/twin"), "the value at #/twin", "run task 7"),
        ("/gone", AnswerCheck(same_as="/gone"), "the value at #/gone", MISSING),
        ("/list", AnswerCheck(empty=True), "empty", ["a", 2]),
        ("/number", AnswerCheck(empty=True), "empty", 1),
        ("/gone", AnswerCheck(empty=True), "empty", MISSING),
        ("/nothing", AnswerCheck(absent=True), "absent", None),
        ("/commands", AnswerCheck(commands={"go": 1}), "1 of kind go", 2),
        ("/text", AnswerCheck(commands={"go": 1}), "1 of kind go", "run task 7"),
        ("/gone", AnswerCheck(commands={}), "an array of commands", MISSING),
        ("/commands", AnswerCheck(none_contains="two"), 'no command contains "two"', "go two"),
        ("/gone", AnswerCheck(none_contains="two"), 'no command contains "two"', MISSING),
    ],
)
def test_expectation_is_missed_with_what_was_wanted_and_what_is_there(
    at: str, expectation: Expectation, expected: JsonValue, got: JsonValue
) -> None:
    assert examine(ANSWER, at, expectation, kind_of) == (Miss(expected, got),)


def test_every_miscounted_kind_is_told_and_the_first_forbidden_command() -> None:
    check = AnswerCheck(commands={"go": 1, "stop": 1}, none_contains="go")
    assert examine(ANSWER, "/commands", check, kind_of) == (
        Miss("1 of kind go", 2),
        Miss("1 of kind stop", 0),
        Miss('no command contains "go"', "go one"),
    )


def test_phrase_of_a_count_names_every_kind() -> None:
    check = AnswerCheck(commands={"go": 1, "stop": 0}, none_contains="x")
    assert phrase(check) == ("1 of kind go", "0 of kind stop", 'no command contains "x"')


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 0}, {"b": 0}, False),
        ([1], [1, 2], False),
        ([True], [1], False),
        ({}, [], False),
        (None, False, False),
        ("1", 1, False),
    ],
)
def test_values_are_the_same_as_json_compares_them(left: JsonValue, right: JsonValue, equal: bool) -> None:
    assert same(left, right) is equal
    assert same(right, left) is equal


def test_deep_values_are_compared_without_running_out_of_stack() -> None:
    deep: JsonValue = 1
    other: JsonValue = 2
    for _ in range(50_000):
        deep, other = [deep], [other]
    assert same(deep, deep)
    assert not same(deep, other)


def test_phrase_is_plain_for_equality() -> None:
    assert phrase(AnswerCheck(equals=False)) == (False,)
    assert json.dumps(phrase(AnswerCheck())) == "[null]"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_near_to_none(number: float) -> None:
    assert examine({"a": number}, "/a", AnswerCheck(near=Near(to=0, within=1e308))) != ()


def test_a_place_that_nobody_knows_equals_nothing() -> None:
    elsewhere = AnswerCheck.model_validate({"from": {"file": "project/a.json", "at": "/text"}})
    assert examine(ANSWER, "/text", elsewhere) != ()
    assert examine(ANSWER, "/text", elsewhere, known=lambda _: "run task 7") == ()
