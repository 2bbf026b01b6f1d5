from __future__ import annotations

from hashlib import sha256

import pytest
from pydantic import JsonValue

from harness.redaction import missing, name, value, workspace_path
from harness.redaction.text import SHOWN_MAX

LOG = "runtime/goals/portfolio-goal/rollout-event-log.jsonl"


def short(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("given", "shown"),
    [(None, "null"), (True, "true"), (False, "false"), (0, "0"), (-7, "-7"), (1.5, "1.5"), ([], "[]"), ({}, "{}")],
)
def test_a_value_without_texts_is_shown_as_json(given: JsonValue, shown: str) -> None:
    assert value(given, frozenset()) == shown


def test_a_text_of_the_scenario_is_shown_in_quotes_so_that_it_is_not_taken_for_a_boolean() -> None:
    assert value("true", frozenset({"true"})) == '"true"'


def test_any_other_text_is_told_by_length_and_digest() -> None:
    assert value("hunter2-hunter2-hunter22", frozenset({"hunter2"})) == (
        "text of 24 characters, " + short("hunter2-hunter2-hunter22")
    )
    assert value("x", frozenset()) == "text of 1 character, " + short("x")


def test_an_array_of_the_scenarios_texts_is_shown_and_one_strange_text_hides_it() -> None:
    sayable = frozenset({"private_read", "contains"})
    assert value(["private_read", 2, None], sayable) == '["private_read", 2, null]'
    assert value({"contains": ["private_read"]}, sayable) == '{"contains": ["private_read"]}'
    assert value(["private_read", "token"], sayable) == "array of 2 items (2 texts)"
    assert value({"token": 1}, sayable) == "object of 1 key"


def test_the_shape_of_an_array_counts_its_items_by_sort() -> None:
    mixed: JsonValue = ["secret", None, True, 3, 4, ["a"], {"k": "v"}]
    assert value(mixed, frozenset()) == "array of 7 items (1 array, 1 boolean, 1 null, 2 numbers, 1 object, 1 text)"


def test_what_is_shown_is_bounded_whatever_its_size() -> None:
    long = "word " * 100
    assert value(long, frozenset({long})).startswith("text of 500 characters, sha256:")
    assert value([1] * 200, frozenset()) == "array of 200 items (200 numbers)"
    deep: JsonValue = []
    for _ in range(2_000):
        deep = [deep]
    assert value(deep, frozenset()) == "array of 1 item (1 array)"
    assert value(10**5_000, frozenset()) == "whole number of 16610 bits"
    assert value(["x" * 40] * 4, frozenset({"x" * 40})) == "array of 4 items (4 texts)"
    assert len(value({str(key): key for key in range(500)}, frozenset())) <= SHOWN_MAX


def test_characters_that_act_or_hide_are_escaped() -> None:
    text = "a\x1b[31m\u202eb\ud800é"
    assert value(text, frozenset({text})) == '"a\\u001b[31m\\u202eb\\ud800é"'


def test_missing_is_not_null() -> None:
    assert missing() == "nothing"
    assert missing() != value(None, frozenset())


def test_only_declared_tool_names_are_said() -> None:
    assert name("exec_command", {"exec_command"}) == "exec_command"
    assert name("exec_command_sk-live", {"exec_command"}) == "undeclared"
    assert name("undeclared", {"exec_command"}) == "undeclared"


@pytest.mark.parametrize("path", [LOG, "runtime/goals/portfolio-goal", "runtime/goals", "runtime"])
def test_a_declared_path_and_the_folders_on_the_way_to_it_are_shown(path: str) -> None:
    assert workspace_path(path, [LOG]) == path


def test_another_path_is_told_by_the_deepest_declared_folder_digest_and_depth() -> None:
    path = "runtime/goals/portfolio-goal/hunter2.txt"
    assert workspace_path(path, [LOG]) == f"runtime/goals/portfolio-goal/{short(path)} (depth 4)"
    below = "runtime/a/b/hunter2"
    assert workspace_path(below, [LOG]) == f"runtime/{short(below)} (depth 4)"


def test_a_root_that_nobody_declared_is_not_shown() -> None:
    assert workspace_path("hunter2/x", [LOG]) == f"undeclared/{short('hunter2/x')} (depth 2)"
    assert workspace_path("hunter2/x", ["hunter2"]) == f"hunter2/{short('hunter2/x')} (depth 2)"


def test_a_pattern_declares_its_folder_and_nothing_below() -> None:
    declared = ["project/.codex/**"]
    assert workspace_path("project/.codex", declared) == "project/.codex"
    path = "project/.codex/sk-live"
    assert workspace_path(path, declared) == f"project/.codex/{short(path)} (depth 3)"
