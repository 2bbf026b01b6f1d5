from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from numbered import case

from harness.errors import ScenarioError
from harness.scenario import json_schema, load
from harness.schema.scenario import LoadedScenario

GRAMMARS = frozenset({"loopx-0.4", "other-1"})
SCENARIOS = Path(__file__).parents[3] / "scenarios"
Write = Callable[[str], Path]


def complaint(path: Path) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        load(path, grammars=GRAMMARS)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4
    return caught.value


def test_file_that_uses_everything_is_loaded(text: str, write: Write) -> None:
    path = write(text)
    loaded = load(path, grammars=GRAMMARS)
    assert isinstance(loaded, LoadedScenario)
    assert loaded.path == str(path)
    assert loaded.scenario.id == "demo/whole"
    assert [kind.name for kind in loaded.scenario.kind] == ["ask", "act", "proof", "quit"]


@pytest.mark.parametrize("name", ["capability-repair", "selected-todo"])
def test_bundled_scenario_is_whole_and_short(name: str) -> None:
    path = SCENARIOS / "loopx" / f"{name}.toml"
    scenario = load(path, grammars=GRAMMARS).scenario
    assert set(scenario.script.wrong) == set(scenario.codes)
    assert len(scenario.script.right) >= 3
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 200


def test_digest_is_that_of_what_the_file_says_not_of_its_layout(text: str, write: Write) -> None:
    def digest(content: str) -> str:
        return load(write(content), grammars=GRAMMARS).digest

    first = digest(text)
    assert first.startswith("sha256:")
    assert digest(text.replace("model_turns = 4", "# four\nmodel_turns   =   4\ntool_calls = 24")) == first
    assert digest(text.replace("model_turns = 4", "model_turns = 5")) != first
    assert digest(text.replace('"/mode" = "go"', '"/mode" = "gone"')) != first


#: What is replaced, by what, the line that is named (by its text), and what the complaint must say.
SCHEMA_FAULTS = {
    "unknown key at the top": ("[strict]", "[strikt]", "[strikt]", ["unknown key 'strikt'", "mean 'strict'", "limits"]),
    "unknown key in a kind": ('once = "asked', 'onse = "asked', "onse =", ["kind[0].onse", "mean 'once'", "needs"]),
    "unknown key in a limit": (
        "model_turns = 4",
        "turns = 4",
        "turns = 4",
        ["limits.turns", "unknown key", "deadline_s"],
    ),
    "unknown key inline": ("clock =", "clok =", "clok =", ["tool.run.clok", "did you mean 'clock'?"]),
    "unknown test": ("{ absent = true, code", "{ apsent = true, code", "apsent", ["unknown key 'apsent'", "same_as"]),
    "unknown action": (
        '{ content = "No." }',
        '{ kontent = "No." }',
        "kontent",
        ["script.wrong.did_nothing[0].kontent"],
    ),
    "missing key": ('about = "Runs a command."\n', "", "[tool.run]", ["tool.run.about", "missing", "text"]),
    "missing table": ('[end]\naccept = ["done", "proven"]', "[end]", "[end]", ["end.accept", "missing", "array"]),
    "not a member": ('read = "content"', 'read = "contents"', "contents", ["kind[2].read", '"clock", "content"']),
    "not a member inline": ('reads = "any"', 'reads = "most"', "most", ["check[0].shows.reads", '"any", "all"']),
    "wrong type": ("model_turns = 4", 'model_turns = "4"', '"4"', ["limits.model_turns", "whole number", ">= 0"]),
    "fraction": ("model_turns = 4", "model_turns = 4.0", "4.0", ["limits.model_turns", "4.0 cannot stand here"]),
    "too large": ("model_turns = 4", "deadline_s = 99999.0", "99999", ["limits.deadline_s", "<= 86400"]),
    "not a name": ('sets = "asked"', 'sets = "Asked!"', "Asked!", ["kind[0].sets", "matching ^[a-z]"]),
    "key is no name": ("needs = { asked", "needs = { Asked", "Asked", ["kind[1].needs.Asked", "cannot be a name here"]),
    "no pointer": ('"/mode" = "go"', '"mode" = "go"', '"mode"', ["check[1].answer.mode", "cannot be a name here"]),
    "too many": (
        '["/id"]',
        json.dumps([f"/{number}" for number in range(33)]),
        "volatile",
        ["an array of 33", "at most 32"],
    ),
    "too few": ('accept = ["done", "proven"]', "accept = []", "accept", ["end.accept", "at least 1"]),
    "union": (
        '"/mode" = "go"',
        '"/mode" = ["go"]',
        '"/mode"',
        ["check[1].answer", "an array of 1", "or true or false"],
    ),
    "tuple": (
        'replace = [["a", "b"]]',
        'replace = [["a"]]',
        "replace",
        ["script.reference[2].replace[0][1]: this entry is missing"],
    ),
    "table for text": ('asks = "Does the agent ask before it acts?"', "asks = {}", "asks", ["asks: a table cannot"]),
    "long text": ('read = "content"', f'read = "{"c" * 300}"', "ccc", ["a text of 302 characters cannot stand"]),
    "other schema": ("schema = 1", "schema = 2", "schema = 2", ["schema: 2 cannot stand here", "allowed: 1"]),
}


@pytest.mark.parametrize("fault", SCHEMA_FAULTS)
def test_complaint_names_line_key_and_what_is_allowed(fault: str, text: str, write: Write) -> None:
    old, new, place, said = SCHEMA_FAULTS[fault]
    changed = text.replace(old, new, 1)
    assert changed != text
    path = write(changed)
    error = complaint(path)
    assert error.line is not None
    assert place in changed.splitlines()[error.line - 1]
    assert str(error).startswith(f"{path}:{error.line}: ")
    for part in said:
        assert part in str(error)


def test_first_problem_by_line_is_told_with_the_number_of_others(text: str, write: Write) -> None:
    changed = text.replace("model_turns = 4", "model_turns = -4").replace('argument = "cmd"', "argument = 1")
    error = complaint(write(changed))
    assert error.key == "limits.model_turns"
    assert "(and 1 more)" in str(error)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[limits]", "[limits", "is no TOML"),
        ("schema = 1", "schema = 1\nschema = 1", "is no TOML"),
        ("model_turns = 4", "model_turns = 2026-01-01", "is a date or time; allowed: text in quotation marks"),
        ("tags = [", "tags = [12:00:00, ", "tags[0]: 12:00:00 is a date or time"),
        ("model_turns = 4", "deadline_s = inf", "limits.deadline_s: not a finite number"),
    ],
)
def test_text_that_is_no_toml_or_says_more_than_json_is_refused(
    old: str, new: str, said: str, text: str, write: Write
) -> None:
    error = complaint(write(text.replace(old, new, 1)))
    assert said in str(error)
    assert error.line is not None


def test_toml_that_ends_too_early_names_the_last_line(write: Write) -> None:
    assert complaint(write('schema = 1\nid = """\n')).line == 3


def test_file_nested_too_deeply_is_refused(write: Write) -> None:
    assert "nested too deeply" in str(complaint(write(f"a = {'[' * 20_000}{']' * 20_000}")))


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in str(complaint(tmp_path / "demo" / "none.toml"))
    assert "cannot be read" in str(complaint(tmp_path))


def test_file_that_is_no_utf8_names_the_line(text: str, write: Write) -> None:
    path = write(text)
    path.write_bytes(b"schema = 1\n# caf\xe9\n")
    error = complaint(path)
    assert (error.line, error.problem) == (2, "is no UTF-8 text")


def test_file_that_is_far_too_large_is_refused(text: str, write: Write) -> None:
    assert "at most 1048576" in str(complaint(write(text + "#" * 1_048_576)))


def test_json_schema_tells_editors_the_keys() -> None:
    schema = json_schema()
    properties = schema["properties"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert isinstance(properties, dict)
    assert {"schema", "id", "kind", "check", "script"} <= set(properties)


@pytest.mark.parametrize(
    ("limit", "at"),
    [
        pytest.param("model_turns = -1", "limits.model_turns", marks=case(41, 57)),
        pytest.param("total_tokens = true", "limits.total_tokens", marks=case(57)),
        pytest.param("tool_calls = 1.5", "limits.tool_calls", marks=case(57)),
        pytest.param("uncached_input_tokens = 9007199254740992", "limits.uncached_input_tokens", marks=case(57)),
        pytest.param('tool_calls_by_name = { " " = 1 }', "limits.tool_calls_by_name", marks=case(57)),
        pytest.param('tool_calls_by_name = { "ls" = -1 }', "limits.tool_calls_by_name.ls", marks=case(57)),
        pytest.param('unknown_metric = "ignore"', "limits.unknown_metric", marks=case(57)),
        pytest.param('turn_cap = "drop"', "limits.turn_cap", marks=case(57)),
        pytest.param("host_cost = { micro = 1.5 }", "limits.host_cost.micro", marks=case(57)),
        pytest.param('host_cost = { micro = 1, unit = "" }', "limits.host_cost.unit", marks=case(57)),
        pytest.param('host_cost = { micro = 1, currency = " " }', "limits.host_cost.currency", marks=case(57)),
        pytest.param("active_s = -0.5", "limits.active_s", marks=case(57)),
    ],
)
def test_a_limit_that_is_none_is_refused_at_its_line(limit: str, at: str, text: str, write: Write) -> None:
    path = write(text.replace("model_turns = 4", limit, 1))
    said = str(complaint(path))
    assert at in said
    assert f"{path}:{text[: text.index('model_turns = 4')].count(chr(10)) + 1}:" in said


def test_the_largest_and_the_smallest_limits_are_accepted(text: str, write: Write) -> None:
    given = """model_turns = 0
total_tokens = 9007199254740991
active_s = 0
host_cost = { micro = 0, unit = "credits", currency = "EUR" }
tool_calls_by_name = { "Read_File" = 0 }
turn_cap = "answer_excess"
unknown_metric = "continue_and_mark"
"""
    limits = load(write(text.replace("model_turns = 4", given, 1)), grammars=GRAMMARS).scenario.limits
    assert (limits.model_turns, limits.total_tokens, limits.active_s) == (0, 2**53 - 1, 0)
    assert limits.tool_calls_by_name == {"Read_File": 0}
