from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import ScriptError
from harness.scenario import load_scripts
from harness.schema.base import JsonValue


def script(tmp_path: Path, *actions: JsonValue) -> Path:
    path = tmp_path / "scripts.json"
    path.write_text(json.dumps({"scripts": {"one": {"actions": [*actions]}}}), encoding="utf-8")
    return path


def complaint(path: Path) -> str:
    with pytest.raises(ScriptError) as caught:
        load_scripts(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    assert caught.value.exit_code == 4
    return text


def test_every_form_of_an_answer_is_loaded(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "bare text",
        {"command": "ls", "assistant_content": "Looking.", "replace": [["l", "p"]], "id": "c1"},
        {"content": ""},
        {"calls": [{"name": "close", "arguments": {"id": [1, None]}}], "assistant_content": "Both."},
        {"raw_message": {"role": "assistant"}},
        {"raw_response": None},
        {"raise": "TimeoutError"},
    )
    actions = load_scripts(path).scripts["one"].actions
    assert len(actions) == 7
    assert actions[0] == "bare text"


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"comand": "ls"}, ["scripts.one.actions[0].comand", "mean 'command'", "raise"]),
        ({"command": 1}, ["actions[0].command", "1 cannot stand here", "text"]),
        (7, ["actions[0]", "7 cannot stand here", "text or a table"]),
        ({}, ["actions[0]", "no answer", "exactly one of command, content"]),
        ({"assistant_content": "x"}, ["no answer"]),
        ({"command": "a", "content": "b"}, ["more than one answer"]),
        ({"command": "a", "raw_response": None}, ["more than one answer"]),
        ({"calls": [], "replace": [["a", "b"]]}, ["actions[0].replace", "beside command or content only"]),
        ({"content": "a", "assistant_content": "b"}, ["actions[0].assistant_content", "no call beside"]),
        ({"command": "a", "finish": "end"}, ["actions[0].finish", '"stop", "tool_calls"']),
    ],
)
def test_action_that_is_no_answer_is_refused(tmp_path: Path, action: JsonValue, said: list[str]) -> None:
    text = complaint(script(tmp_path, action))
    for part in said:
        assert part in text


def test_number_of_further_problems_is_told(tmp_path: Path) -> None:
    assert complaint(script(tmp_path, {"a": 1}, {"b": 2})).endswith("(and 1 more)")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", ":1: is no JSON"),
        (b'{\n"scripts": }', ":2: is no JSON"),
        (b'{"scripts": {"a": {"actions": []}, "a": {"actions": []}}}', "'a' is given twice"),
        (b"[" * 100_000, "nested too deeply"),
        (
            b'{"scripts": {}}',
            "scripts: a table cannot stand here; allowed: a table (at least 1 entries, at most 1000 entries)",
        ),
        (b'{"skripts": {}}', "unknown key 'skripts'; did you mean 'scripts'?"),
        (b"[]", "scripts.json: an array of 0 cannot stand here"),
        (b"\xff", "is no UTF-8 text"),
        (b'{"scripts": {"a": {"actions": ["\\ud800"]}}}', "scripts.json: half of a surrogate pair is no character"),
    ],
)
def test_file_that_holds_no_scripts_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "scripts.json"
    path.write_bytes(content)
    assert said in complaint(path)


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in complaint(tmp_path / "none.json")
