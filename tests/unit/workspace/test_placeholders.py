from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from harness.workspace import Placeholders, Workspace, reserve

_PARTS = [
    "ROOT",
    "GIVEN",
    "/project",
    "/project2",
    "/home/x",
    "{project_root}",
    "{=home_root}",
    " ",
    "\n",
    "é",
    "_root}",
    ".",
    "{",
]
ODD = "a b é'\"\\{project_root} ü"


@pytest.fixture(params=["plain", ODD])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    base = tmp_path / request.param
    base.mkdir()
    (tmp_path / "link").symlink_to(base)
    with reserve(roots=("project", "runtime", "home"), absent=("runtime",), base=tmp_path / "link") as made:
        yield made


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("", "{fixture_root}"),
        ("/project", "{project_root}"),
        ("/project/a/b.txt", "{project_root}/a/b.txt"),
        ("/runtime", "{runtime_root}"),
        ("/process_home/.cache", "{process_home_root}/.cache"),
        ("/project2", "{fixture_root}/project2"),
        ("/project-a", "{fixture_root}/project-a"),
        ("/project.bak", "{fixture_root}/project.bak"),
        ("/project.", "{project_root}."),
        ("/projec", "{fixture_root}/projec"),
        ("abc", "{fixture_root}abc"),
    ],
)
def test_paths_become_names(workspace: Workspace, path: str, hidden: str) -> None:
    placeholders = Placeholders(workspace)
    for base in (workspace.root, workspace.given):
        assert placeholders.hide(f"see {base}{path}\nand '{base}{path}'") == f"see {hidden}\nand '{hidden}'"


def test_a_path_is_hidden_whatever_stands_before_it(workspace: Workspace) -> None:
    text = f"-I{workspace.cwd} a={workspace.cwd}"
    assert Placeholders(workspace).hide(text) == "-I{project_root} a={project_root}"


def test_every_spelling_is_hidden(workspace: Workspace) -> None:
    path = f"{workspace.cwd}/a"
    escaped = json.dumps(path)[1:-1]
    spellings = {
        escaped: "{project_root}/a",
        json.dumps(path, ensure_ascii=False)[1:-1]: "{project_root}/a",
        json.dumps(escaped)[1:-1]: "{project_root}/a",
        escaped.replace("/", "\\/"): "{project_root}\\/a",
        quote(path): "{project_root}/a",
    }
    placeholders = Placeholders(workspace)
    assert {spelling: placeholders.hide(spelling) for spelling in spellings} == spellings


def test_a_base_that_is_not_utf8_is_hidden_after_a_lossy_decoding(tmp_path: Path) -> None:
    base = tmp_path / "a\udcffb"
    base.mkdir()
    with reserve(roots=("project",), base=base) as workspace:
        seen = os.fsencode(workspace.cwd).decode("utf-8", "replace")
        assert Placeholders(workspace).hide(seen) == "{project_root}"


def test_a_folder_named_like_an_escape_is_no_escape(tmp_path: Path) -> None:
    base = tmp_path / "\\"
    base.mkdir()
    with reserve(roots=("project",), base=base) as workspace:
        assert Placeholders(workspace).hide(f"{workspace.cwd}") == "{project_root}"


def test_a_text_without_paths_stays_as_it_is(workspace: Workspace) -> None:
    text = "/srv/harness-aaaaaaaa {other_root}"
    assert Placeholders(workspace).hide(text) == text


@pytest.mark.parametrize(
    "text", ["{project_root}", "{=project_root}", "${fixture_root}/x {==home_root}", "{{runtime_root}}"]
)
def test_what_only_looks_like_a_placeholder_comes_back_as_it_was(workspace: Workspace, text: str) -> None:
    """A model that writes one did not write a path: replayed it must not become one."""
    placeholders = Placeholders(workspace)
    hidden = placeholders.hide(text)
    assert hidden != text
    assert placeholders.show(hidden) == text


def test_json_values_are_hidden_in_keys_and_items(workspace: Workspace) -> None:
    path = str(workspace.cwd)
    value: JsonValue = {path: [path, 1, None, {"a": f"{path}/b"}], "n": True}
    assert Placeholders(workspace).hide_json(value) == {
        "{project_root}": ["{project_root}", 1, None, {"a": "{project_root}/b"}],
        "n": True,
    }


def test_names_become_resolved_paths(workspace: Workspace) -> None:
    text = "{project_root}/a {process_home_root} {fixture_root} {other_root} ${home_root}"
    root = workspace.root
    assert Placeholders(workspace).show(text) == (
        f"{root}/project/a {root}/process_home {root} {{other_root}} ${root}/home"
    )


def test_the_workspaces_own_name_alone_is_no_path(workspace: Workspace) -> None:
    name = workspace.root.name
    text = f"{name} x/{name} {name}/project {workspace.cwd} {name}"
    assert Placeholders(workspace).hide(text) == f"{name} x/{name} {name}/project {{project_root}} {name}"


@given(data=st.data())
def test_texts_made_of_parts_of_paths_are_hidden_as_one_pattern_would(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as base, reserve(roots=("project", "pro"), base=Path(base)) as workspace:
        escaped = str(workspace.root).replace("/", "\\/")
        parts = [str(workspace.root), escaped, workspace.root.name, base, "/", "\\/", "project", "pro", ".", "a", " "]
        text = "".join(data.draw(st.lists(st.sampled_from(parts), max_size=12)))
        bases = "|".join(map(re.escape, (escaped, str(workspace.root))))
        names = {"project": "{project_root}", "pro": "{pro_root}", "process_home": "{process_home_root}"}
        ends = r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9_])"
        pattern = re.compile(rf"(?:{bases})(?:\\?/(process_home|project|pro){ends})?")
        expected = pattern.sub(lambda match: names.get(match[1], "{fixture_root}"), text)
        assert Placeholders(workspace).hide(text) == expected


@pytest.mark.parametrize("workspace", ["plain"], indirect=True)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(_PARTS), max_size=12))
def test_spans_are_what_hide_replaces(workspace: Workspace, parts: list[str]) -> None:
    text = "".join(part.replace("ROOT", str(workspace.root)).replace("GIVEN", str(workspace.given)) for part in parts)
    placeholders = Placeholders(workspace)
    hidden, position = "", 0
    for start, end, length in placeholders.spans(text):
        replaced = placeholders.hide(text[start:end])
        hidden += text[position:start] + (replaced if len(replaced) == length else "?")
        position = end
    assert hidden + text[position:] == placeholders.hide(text)
