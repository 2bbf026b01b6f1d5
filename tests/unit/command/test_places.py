from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.command.lexer import Word, split_words
from harness.command.places import Places, settle
from harness.command.profile import PROFILES
from harness.schema.command import GrammarContext


def word(text: str) -> Word:
    found = split_words(text)
    assert found is not None
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("data/lane.json", "project/data/lane.json"),
        ("./data//lane.json/", "project/data/lane.json"),
        ("../project/data", "project/data"),
        ("nope/../data", "project/data"),
        ("alias.json", "project/data/lane.json"),
        ("loop", "project/loop"),
        ("", "project"),
        ("..", None),
        ("../runtime", None),
        ("/etc/passwd", None),
        ("out/key", None),
        ("tohome", None),
        ("~", "project/~"),
    ],
)
def test_path_stays_in_the_working_root(places: Places, top: Path, value: str, expected: str | None) -> None:
    assert places.in_cwd(value) == (expected and str(top / expected))


def test_path_in_a_sibling_whose_name_starts_alike_is_outside(places: Places, top: Path) -> None:
    (top / "project2").mkdir()
    assert places.in_cwd("../project2") is None


def test_path_behind_a_loop_of_links_has_no_settled_form(places: Places, top: Path) -> None:
    assert places.in_cwd("loop/../out/key") is None
    assert settle(str(top / "project/loop/../alias.json")) is None


def test_path_too_long_to_open_is_only_tidied(places: Places, top: Path) -> None:
    long = "x" * 5000
    assert places.in_cwd(long) == str(top / "project" / long)
    assert places.in_cwd(f"{long}/../../y") is None


def test_long_path_that_tidies_to_a_link_is_followed(places: Places) -> None:
    assert places.in_cwd("out/" + "a/../" * 2000 + "key") is None


def test_path_through_a_link_to_a_name_that_is_no_text_has_no_settled_form(places: Places, top: Path) -> None:
    (top / "project/odd").symlink_to("data/\udcff")
    assert places.in_cwd("odd") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data", "project/data"),
        ("{top}/runtime", "runtime"),
        ("{top}/home/../runtime/x", "runtime/x"),
        ("{top}/home", "home"),
        ("{top}/secret", None),
        ("{top}", None),
        ("../home", None),
        ("~/.codex/loopx", "home/.codex/loopx"),
        ("$HOME/.codex/loopx/x", "home/.codex/loopx/x"),
        ('"${HOME}/.codex/loopx/"', "home/.codex/loopx"),
        ("~/.codex/loopx/..", None),
        ("${HOME}/.codex/loopx/../../..", None),
        ("~/.codex/loopxx", "project/~/.codex/loopxx"),
        ("'~/.codex/loopx'", "project/~/.codex/loopx"),
        ("'$HOME/.codex/loopx'", "project/$HOME/.codex/loopx"),
    ],
)
def test_listing_reaches_readable_roots(places: Places, top: Path, text: str, expected: str | None) -> None:
    assert places.listable(word(text.replace("{top}", str(top)))) == (expected and str(top / expected))


def test_listing_keeps_to_the_working_root_when_no_other_is_readable(context: GrammarContext, top: Path) -> None:
    narrow = Places(replace(context, readable=()), PROFILES["loopx-0.4"])
    assert narrow.listable(word("~/.codex/loopx")) is None
    assert narrow.listable(word(f"{top}/runtime")) is None
    assert narrow.listable(word(".")) == str(top / "project")


def test_home_spelling_is_literal_when_there_is_no_home_root(context: GrammarContext, top: Path) -> None:
    homeless = Places(replace(context, roots={"project": str(top / "project")}, readable=()), PROFILES["loopx-0.4"])
    assert homeless.listable(word("~/.codex/loopx")) == str(top / "project/~/.codex/loopx")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data/lane.json", "project/data/lane.json"),
        ("{top}/project/.ctl/registry.json", "project/.ctl/registry.json"),
        ("{top}/project/data/other.json", "project/data/other.json"),
        ("{top}/home/.codex/loopx/registry.global.json", "home/.codex/loopx/registry.global.json"),
        ("~/.codex/loopx/registry.global.json", "home/.codex/loopx/registry.global.json"),
        ("~/.codex/loopx/x", "project/~/.codex/loopx/x"),
        ("{top}/home/.codex/loopx/x", None),
        ("{top}/secret/key", None),
        ("tohome/.codex/loopx/registry.global.json", None),
    ],
)
def test_pipe_reaches_metadata_outside_the_working_root(
    places: Places, top: Path, text: str, expected: str | None
) -> None:
    assert places.piped(word(text.replace("{top}", str(top)))) == (expected and str(top / expected))


def test_workspace_path_names_the_innermost_root(context: GrammarContext, top: Path) -> None:
    roots = {"project": str(top / "project"), "data": str(top / "project/data"), "all": "/"}
    nested = Places(replace(context, roots=roots), PROFILES["loopx-0.4"])
    assert nested.workspace_path(str(top / "project/data/lane.json")) == "data/lane.json"
    assert nested.workspace_path(str(top / "project")) == "project"
    assert nested.workspace_path("/etc/x") == "all/etc/x"
    assert nested.anywhere("/etc/nothing") == "/etc/nothing"


def test_role_is_what_the_scenario_says_of_a_file(places: Places) -> None:
    assert places.role("project/data/lane.json") == "content"
    assert places.role("home/.codex/loopx/registry.global.json") == "metadata"
    assert places.role("project/data/other.json") == "other"
