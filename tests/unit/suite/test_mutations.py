from __future__ import annotations

import pytest

from harness.schema.base import JsonValue
from harness.schema.observation import Observation, ReadObservation
from harness.schema.rules import AnswerCheck, Expectation, ShowsSpec
from harness.suite.mutations import of_answer, of_reads

FILE = "project/a.json"


def answers(
    answer: dict[str, JsonValue] | None, pointer: str, expectation: Expectation
) -> dict[str, dict[str, JsonValue] | None]:
    observation = Observation(ran=True, ok=True, text="", answer=answer)
    return {mutation.what: mutation.observation.answer for mutation in of_answer(pointer, expectation, observation, {})}


@pytest.mark.parametrize(
    ("value", "another", "of_another_type"),
    [
        (True, False, 1),
        (False, True, 0),
        (3, 4, "3"),
        (0.5, 1.5, "0.5"),
        ("x", "changed by the check", 7),
        (["x"], [], 7),
        ([], ["changed by the check"], 7),
        ({"x": 1}, {}, 7),
        ({}, {"changed by the check": True}, 7),
    ],
)
def test_a_value_is_removed_changed_and_made_another_type(
    value: JsonValue, another: JsonValue, of_another_type: JsonValue
) -> None:
    changed = answers({"a": value, "b": 1}, "/a", None)

    assert {what: repr(answer) for what, answer in changed.items()} == {
        "removed": repr({"b": 1}),
        "another value": repr({"a": another, "b": 1}),
        "another type": repr({"a": of_another_type, "b": 1}),
    }


def test_null_has_no_other_value() -> None:
    assert answers({"a": None}, "/a", None) == {"removed": {}, "another type": {"a": 7}}


def test_an_array_is_cut_short_so_that_no_neighbour_slides_into_the_place() -> None:
    assert answers({"a": ["x", "x", "x"]}, "/a/1", "x")["removed"] == {"a": ["x"]}


def test_escaped_pointers_name_their_keys() -> None:
    changed = answers({"a/b": {"~c": 1}}, "/a~1b/~0c", 1)

    assert changed == {
        "removed": {"a/b": {}},
        "another value": {"a/b": {"~c": 2}},
        "another type": {"a/b": {"~c": "1"}},
    }


@pytest.mark.parametrize(
    ("answer", "pointer", "put"),
    [
        ({}, "/a", {"a": None}),
        ({}, "/a/b", {"a": {"b": None}}),
        ({"a": 1}, "/a/b", {"a": {"b": None}}),
        ({"a": ["x"]}, "/a/1", {"a": ["x", None]}),
        ({"a": ["x"]}, "/a/1/b", {"a": ["x", {"b": None}]}),
    ],
)
def test_what_must_be_absent_is_put_there(answer: dict[str, JsonValue], pointer: str, put: JsonValue) -> None:
    changed = answers(answer, pointer, AnswerCheck(absent=True))

    assert changed["null put there"] == put
    assert set(changed) == {"null put there", "a text put there"}


@pytest.mark.parametrize(
    ("answer", "pointer"), [(None, "/a"), ({"a": 1}, ""), ({"a": 1}, "/b"), ({"a": [1]}, "/a/x"), ({"a": [1]}, "/a/1")]
)
def test_a_place_that_is_not_there_gives_nothing_to_change(answer: dict[str, JsonValue] | None, pointer: str) -> None:
    assert answers(answer, pointer, 1) == {}


def test_the_answer_itself_is_never_touched() -> None:
    answer: dict[str, JsonValue] = {"a": {"b": ["x"]}}

    answers(answer, "/a/b/0", "x")
    answers(answer, "/a/c/d", AnswerCheck(absent=True))

    assert answer == {"a": {"b": ["x"]}}


def test_commands_are_repeated_and_a_forbidden_text_is_added() -> None:
    check = AnswerCheck(commands={"look": 1}, none_contains="todo")
    observation = Observation(ran=True, ok=True, text="", answer={"next": ["see", "hear"]})

    found = {one.what: one for one in of_answer("/next", check, observation, {"see": "look"})}

    assert found["every command twice"].observation.answer == {"next": ["see", "hear", "see", "hear"]}
    assert found["a forbidden text added"].observation.answer == {"next": ["see todo", "hear"]}
    assert found["a forbidden text added"].kinds == {"see todo": "look"}


def test_an_empty_array_is_right_where_no_command_is_demanded() -> None:
    check = AnswerCheck(none_contains="todo")

    assert set(answers({"next": ["see"]}, "/next", check)) == {"removed", "another type", "a forbidden text added"}
    assert set(answers({"next": []}, "/next", check)) == {"removed", "another value", "another type"}


def _read(target: str, *, ran: bool = True) -> ReadObservation:
    return ReadObservation(target=target, role="content", ran=ran, exit_code=0 if ran else None, text='{"a": 1}')


def test_a_read_shows_something_else_and_is_not_run() -> None:
    observation = Observation(ran=True, ok=True, text="", reads=(_read("project/b"), _read(FILE)))

    found = {one.what: one.observation.reads for one in of_reads(ShowsSpec(file=FILE, reads="all"), observation)}

    assert {what: (reads[1].text, reads[1].ran) for what, reads in found.items()} == {
        "read 2 shows nothing": ("", True),
        "read 2 shows another text": ('{"changed by the check": true}', True),
        "read 2 not run": ('{"a": 1}', False),
        "no read run": ('{"a": 1}', False),
    }
    assert all(reads[0] == observation.reads[0] for reads in found.values())


def test_one_read_that_did_not_run_is_fair_where_any_is_enough() -> None:
    observation = Observation(ran=True, ok=True, text="", reads=(_read(FILE), _read(FILE, ran=False)))

    found = [one.what for one in of_reads(ShowsSpec(file=FILE, reads="any"), observation)]

    assert found == ["read 1 shows nothing", "read 1 shows another text", "no read run"]


def test_without_a_read_of_the_file_there_is_nothing_to_change() -> None:
    observation = Observation(ran=True, ok=True, text="", reads=(_read("project/b"),))

    assert list(of_reads(ShowsSpec(file=FILE, reads="all"), observation)) == []
