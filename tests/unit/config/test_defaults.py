"""What ``harness.toml`` or ``[tool.harness]`` says of commands' options, and where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.config import COMMANDS, Default, find, load_actors, load_defaults, load_providers, reports_of
from harness.errors import ConfigError

CANARY = "canary-0123456789"


def own(folder: Path, text: str) -> Path:
    path = folder / "harness.toml"
    path.write_text(text, "utf-8")
    return path


def shared(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, "utf-8")
    return path


def test_values_come_with_their_place(tmp_path: Path) -> None:
    path = own(
        tmp_path, 'reports = "runs"\n\n[run]\nactor = "x"\nplane = [\n  "p==1",\n]\njobs = 4\n[compare]\nmargin = 3\n'
    )
    assert load_defaults(path) == {
        "run": {
            "actor": Default(("x",), f"{path}:4", "[run] actor"),
            "plane": Default(("p==1",), f"{path}:5", "[run] plane"),
            "jobs": Default(4, f"{path}:8", "[run] jobs"),
        },
        "compare": {"margin": Default(3, f"{path}:10", "[compare] margin")},
    }
    assert reports_of(path) == Default("runs", f"{path}:1", "reports")


def test_a_project_file_says_the_same_in_a_table_of_its_own(tmp_path: Path) -> None:
    text = "[project]\nrequires = 2024-01-01\n[tool.other]\nx = nan\n[tool.harness.run]\njobs = 4\n"
    path = shared(tmp_path, f'{text}[tool.harness.actors.a]\nprovider = "openai"\nmodel = "m"\n')
    assert find(tmp_path) == path
    assert load_defaults(path) == {"run": {"jobs": Default(4, f"{path}:6", "[tool.harness.run] jobs")}}
    assert list(load_actors(path)) == ["a"]


@pytest.mark.parametrize("text", ["", "[tool.other]\nharness = 1\n", "[tool.harness]\n", '[project]\nname = "x"\n'])
def test_a_project_file_that_says_nothing_to_us_is_none(tmp_path: Path, text: str) -> None:
    shared(tmp_path, text)
    assert find(tmp_path) == tmp_path / "harness.toml"


def test_folders_above_are_not_looked_at(tmp_path: Path) -> None:
    own(tmp_path, "[run]\njobs = 4\n")
    below = tmp_path / "below"
    below.mkdir()
    assert load_defaults(find(below)) == {}
    assert reports_of(find(below)) is None


def test_two_files_that_both_say_something_are_refused(tmp_path: Path) -> None:
    own(tmp_path, "")
    shared(tmp_path, "[tool.harness.run]\njobs = 4\n")
    with pytest.raises(ConfigError, match=r"harness\.toml: \[tool\.harness\] of pyproject\.toml is there as well"):
        find(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("run = 1", "run: must be a table"),
        ("[run]\njob = 1", ":2: [run]: 'job': unknown; did you mean jobs? allowed: actor, plane, trials, jobs,"),
        ("[run]\ncut-off-calls = 'stop'", ":2: [run]: a key: unknown; did you mean cut_off_calls?"),
        ("[check]\njobs = 1", ":2: [check]: 'jobs': unknown; allowed: executor, sandbox"),
        ("[run]\n\njobs = '1'", ":3: [run]: jobs: not such a value; allowed: a whole number"),
        ("[run]\njobs = true", ":2: [run]: jobs: not such a value; allowed: a whole number"),
        ("[run]\njobs = 1.5", ":2: [run]: jobs: not such a value; allowed: a whole number"),
        ("[compare]\nmargin = '3'", ":2: [compare]: margin: not such a value; allowed: a number"),
        ("[run]\nkeep_workspace = 1", ":2: [run]: keep_workspace: not such a value; allowed: true, false"),
        ("[run]\npool = ['threads']", ":2: [run]: pool: not such a value; allowed: a text in quotation marks"),
        ("[run]\nactor = []", ":2: [run]: actor: not such a value; allowed: a text in quotation marks, or a list"),
        ("[run]\nactor = ['a', 1]", ":2: [run]: actor: not such a value"),
        ("[run]\nmax_cost = 5", ":2: [run]: max_cost: what may be spent is your word, given on the command line"),
        ("[run]\nyes_spend = true", ":2: [run]: yes_spend: what may be spent is your word"),
        (f"[run]\napi_key = '{CANARY}'", ":2: [run]: an API key does not belong into a file"),
        (f"[run]\nactor = ['sk-{CANARY}']", ":2: [run]: a value looks like an API key"),
        (f"[run]\n'{CANARY} x' = 1", ":2: [run]: a key: unknown"),
        (f"[run]\njobs = '{CANARY}'", ":2: [run]: jobs: not such a value"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line_and_never_shown(tmp_path: Path, text: str, problem: str) -> None:
    path = own(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_defaults(path)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("value", ["1", "''", "' '", '"\\u0000"'])
def test_a_folder_of_runs_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    path = own(tmp_path, f"\nreports = {value}\n")
    with pytest.raises(ConfigError, match=r"harness\.toml:2: reports: not such a value; allowed: the name of a folder"):
        reports_of(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[tool.harness.runs]", "runs: unknown; did you mean [tool.harness.run]? allowed: [tool.harness.actors.NAME]"),
        ("[tool]\nharness = 3", "tool.harness: must be a table"),
        ("[tool.harness.actors.a]\nmodel = 1", "[tool.harness.actors.a]: model: must be a text"),
        ("[tool.harness.providers.openai]\nx = 1", "[tool.harness.providers.openai]: 'x' is not known"),
        ("[tool.harness.run]\njobs = '4'", ":2: [tool.harness.run]: jobs: not such a value"),
        ("[tool.harness\n", "pyproject.toml:1: is no TOML"),
    ],
)
def test_a_project_file_that_cannot_be_used_is_told_as_it_is_written(tmp_path: Path, text: str, problem: str) -> None:
    path = shared(tmp_path, text)
    with pytest.raises(ConfigError, match=re.escape(problem)):
        load_all(path)


def load_all(path: Path) -> None:
    for load in (load_actors, load_providers, load_defaults):
        load(path)


def test_spending_is_in_no_table() -> None:
    assert not {"max_cost", "yes_spend"} & {key for options in COMMANDS.values() for key in options}
