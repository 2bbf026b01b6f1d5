from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harness.rules import match
from harness.schema.base import JsonValue
from harness.schema.command import ParsedCommand
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]
Parsed = Callable[[tuple[str, ...]], ParsedCommand]
ReadAs = Callable[[str], ParsedCommand]


def name_of(found: KindSpec | None) -> str | None:
    return None if found is None else found.name


def test_first_kind_of_the_file_wins_when_two_match(build: Build, parsed: Parsed) -> None:
    scenario = build(
        {"kind": [{"name": "narrow", "call": ["show x"], "word": "x"}, {"name": "wide", "call": ["show x"]}]}
    )
    assert name_of(match(scenario, tool="run", arguments={}, parsed=parsed(("show", "x")))) == "narrow"


def test_call_needs_its_words_side_by_side_anywhere(build: Build, parsed: Parsed) -> None:
    scenario = build({"kind": [{"name": "show", "call": ["show item", "list all items"]}]})

    def found(*tokens: str) -> str | None:
        return name_of(match(scenario, tool="run", arguments={}, parsed=parsed(tokens)))

    assert found("--format", "json", "show", "item", "--id", "1") == "show"
    assert found("list", "all", "items") == "show"
    assert found("show", "--id", "item") is None
    assert found("item", "show") is None
    assert found("show") is None


@pytest.mark.parametrize(
    ("wanted", "tokens", "matches"),
    [
        ("a", ("go", "--id", "a"), True),
        ("a", ("go", "--id", "b"), False),
        ("a", ("go", "--id=a"), False),
        ("a", ("go", "--id"), False),
        ("a", ("go", "--id", "b", "--id", "a"), False),
        ("a", ("go", "--id", "a", "--id", "b"), True),
        ("*", ("go", "--id", "anything"), True),
        ("*", ("go", "--id", ""), False),
        ("*", ("go", "--id", "--other"), False),
        ("*", ("go",), False),
        (True, ("go", "--id"), True),
        (True, ("go",), False),
        (False, ("go",), True),
        (False, ("go", "--id"), False),
    ],
)
def test_option_is_the_token_after_its_first_place(
    build: Build, parsed: Parsed, wanted: JsonValue, tokens: tuple[str, ...], matches: bool
) -> None:
    scenario = build({"kind": [{"name": "go", "with": {"id": wanted}}]})
    assert (match(scenario, tool="run", arguments={}, parsed=parsed(tokens)) is not None) is matches


def test_option_that_may_be_repeated_matches_in_any_place(build: Build, parsed: Parsed) -> None:
    scenario = build({"kind": [{"name": "go", "with": {"cap": "b"}}], "many": ["cap"]})
    tokens = ("go", "--cap", "a", "--cap", "b")
    assert name_of(match(scenario, tool="run", arguments={}, parsed=parsed(tokens))) == "go"


def test_word_is_a_whole_token(build: Build, parsed: Parsed) -> None:
    scenario = build({"kind": [{"name": "go", "word": "todo_1"}]})
    assert match(scenario, tool="run", arguments={}, parsed=parsed(("go", "todo_1"))) is not None
    assert match(scenario, tool="run", arguments={}, parsed=parsed(("go", "todo_12"))) is None


def test_call_kind_does_not_match_a_command_that_is_no_call(build: Build, read_as: ReadAs) -> None:
    scenario = build({"kind": [{"name": "go", "word": "x"}]})
    assert match(scenario, tool="run", arguments={}, parsed=read_as("content")) is None
    assert match(scenario, tool="run", arguments={}, parsed=None) is None


@pytest.mark.parametrize("role", ["content", "metadata", "other"])
def test_read_matches_by_the_role_of_what_it_reads(build: Build, read_as: ReadAs, role: str) -> None:
    scenario = build({"kind": [{"name": role, "read": role} for role in ("content", "metadata", "other")]})
    assert name_of(match(scenario, tool="run", arguments={}, parsed=read_as(role))) == role
    assert match(scenario, tool="run", arguments={}, parsed=read_as("clock")) is None
    assert match(scenario, tool="run", arguments={}, parsed=None) is None


def test_clock_matches_a_question_for_the_time_only(build: Build, read_as: ReadAs) -> None:
    scenario = build({"kind": [{"name": "clock", "read": "clock"}]})
    assert name_of(match(scenario, tool="run", arguments={}, parsed=read_as("clock"))) == "clock"
    assert match(scenario, tool="run", arguments={}, parsed=read_as("metadata")) is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"id": "a", "version": 1}, "old"),
        ({"id": "a", "version": 2}, "old"),
        ({"id": "a", "version": 3}, "right"),
        ({"id": "b", "version": 1}, None),
        ({"id": "a", "version": True}, "right"),
        ({}, None),
    ],
)
def test_arguments_match_by_one_of_several_values(
    build: Build, arguments: dict[str, JsonValue], name: str | None
) -> None:
    scenario = build(
        {
            "kind": [
                {"name": "old", "tool": "run", "where": {"/id": "a", "/version": {"one_of": [1, 2]}}},
                {"name": "right", "tool": "run", "where": {"/id": "a"}},
            ]
        }
    )
    assert name_of(match(scenario, tool="run", arguments=arguments, parsed=None)) == name


def test_tool_and_arguments_match_where_no_command_is_read(build: Build) -> None:
    scenario = build(
        {"kind": [{"name": "close", "tool": "close_task", "where": {"/task/id": 7, "/why": {"contains": "done"}}}]}
    )

    def found(tool: str, arguments: dict[str, JsonValue]) -> str | None:
        return name_of(match(scenario, tool=tool, arguments=arguments, parsed=None))

    assert found("close_task", {"task": {"id": 7}, "why": "all done"}) == "close"
    assert found("close_task", {"task": {"id": True}, "why": "all done"}) is None
    assert found("close_task", {"task": {"id": 7}}) is None
    assert found("open_task", {"task": {"id": 7}, "why": "all done"}) is None
