"""Whatever a text or a tree holds: no path of the workspace stays in it, and nothing of it stays behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SetupRejectedError
from harness.schema.scenario import FileSpec, WorkspaceSpec
from harness.workspace import Placeholders, Workspace, diff, populate, reserve, take

ROOTS = ("project", "runtime", "home", "pro")

# Directory names as a machine may have them, never empty and never dots only.
FOLDER = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name.strip(".") != "" and len(name.encode()) < 100
)


@st.composite
def workspaces(draw: st.DrawFn) -> Workspace:
    """A workspace that exists in name only."""
    root = Path("/", *draw(st.lists(FOLDER, max_size=3)), "harness-q7x_9abc")
    given_root = Path("/", *draw(st.lists(FOLDER, max_size=2)), root.name)
    roots = {name: root / name for name in ROOTS}
    return Workspace(root, given_root, roots, root / "process_home", roots["project"])


PLACEHOLDER = st.sampled_from([f"{{{name}_root}}" for name in (*ROOTS, "process_home", "fixture")])
# What may follow a path without lengthening it, and does not name another root.
AFTER = st.sampled_from(["", " ", "\n", '"', "/a", "/a b/é", ":", ",", ")", "'", "}"])
BETWEEN = st.text(st.characters(exclude_characters="/{}\\"), max_size=8).map(lambda text: " " + text + " ")
TEXT = st.lists(st.tuples(BETWEEN, PLACEHOLDER, AFTER).map("".join)).map(" ".join)


@given(workspaces(), TEXT)
def test_hiding_gives_back_what_showing_was_given(workspace: Workspace, text: str) -> None:
    placeholders = Placeholders(workspace)
    assert placeholders.hide(placeholders.show(text)) == text


@given(workspaces(), st.lists(st.one_of(st.text(), PLACEHOLDER, st.sampled_from(["/project", "/project2", "/", "\\"]))))
def test_no_path_of_the_workspace_survives(workspace: Workspace, parts: list[str]) -> None:
    glue = [str(workspace.root), str(workspace.given), *map(str, workspace.roots.values())]
    text = "".join(part + glue[number % len(glue)] for number, part in enumerate(parts))
    hidden = Placeholders(workspace).hide(text)
    assert str(workspace.root) not in hidden
    assert str(workspace.given) not in hidden
    assert workspace.root.name not in hidden


@given(workspaces(), st.text())
def test_hiding_twice_is_hiding_once(workspace: Workspace, text: str) -> None:
    placeholders = Placeholders(workspace)
    once = placeholders.hide(placeholders.show(text))
    assert placeholders.hide(once) == once


PLACES = st.lists(st.sampled_from(["project", "home", "..", ".", "", "a", "b", "\0", "é", "x" * 260]), min_size=1).map(
    "/".join
)


@settings(max_examples=50)
@given(st.lists(st.tuples(PLACES, st.text()), max_size=4))
def test_a_world_is_made_inside_or_refused_and_always_removed(files: list[tuple[str, str]]) -> None:
    spec = WorkspaceSpec(
        roots=("project", "home"),
        git=("project",),
        file=tuple(FileSpec.model_construct(at=(place,), text=text, mode="644") for place, text in files),
    )
    with tempfile.TemporaryDirectory() as base:
        with reserve(roots=spec.roots, base=Path(base)) as workspace:
            try:
                populate(workspace, spec)
            except SetupRejectedError as error:
                assert str(workspace.root) not in str(error)  # noqa: PT017  (either way is right, this holds for one)
            state = take(workspace.root)
            assert {entry.path.split("/")[0] for entry in state.entries} == {"project", "home", "process_home"}
            assert diff(state, take(workspace.root)) == ()
            assert len(os.listdir(base)) == 2  # noqa: PTH208  (the workspace and its owner file)
        assert list(Path(base).iterdir()) == []
