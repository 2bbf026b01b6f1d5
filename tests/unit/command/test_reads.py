from __future__ import annotations

from pathlib import Path

import pytest

from harness.command.lexer import split_shell
from harness.command.places import Places
from harness.command.reads import read_plan
from harness.schema.command import ReadPlan


def plan_of(text: str, places: Places) -> ReadPlan | None:
    return read_plan(text, split_shell(text) or (), places)


def argvs(text: str, places: Places, top: Path) -> list[str] | None:
    plan = plan_of(text.replace("{top}", str(top)), places)
    return None if plan is None else [" ".join(one.argv).replace(str(top), "{top}") for one in plan.segments]


P = "{top}/project"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls", ["ls"]),
        ("ls -la", ["ls -la"]),
        ("/bin/ls -l -a .", [f"ls -l -a {P}"]),
        ("ls . -l", [f"ls -l {P}"]),
        ("ls -", ["ls -"]),
        ("ls a b c d", [f"ls {P}/a {P}/b {P}/c {P}/d"]),
        ("ls {top}/runtime ~/.codex/loopx", ["ls {top}/runtime {top}/home/.codex/loopx"]),
        ("ls 2>&1", [f"ls {P}/2 {P}/>& {P}/1"]),
        ("ls;;pwd", [f"ls {P}/;; {P}/pwd"]),
        ("ls 'a;b'", [f"ls {P}/a;b"]),
        ("ls#x", ["ls"]),
        ("ls # x\ndata", [f"ls {P}/data"]),
        ("pwd", ["pwd"]),
        ("cat data/lane.json", [f"cat {P}/data/lane.json"]),
        ("./cat 'data/lane.json'", [f"cat {P}/data/lane.json"]),
        ("cat --version", [f"cat {P}/--version"]),
        ("cat $(pwd)/x", [f"cat {P}/$(pwd)/x"]),
        ("head data/lane.json", [f"head {P}/data/lane.json"]),
        ("head -n 0 data/lane.json", [f"head -n 0 {P}/data/lane.json"]),
        ("sed -n 1,5p data/lane.json", [f"sed -n 1,5p {P}/data/lane.json"]),
        ("sed -n p data/lane.json", [f"sed -n p {P}/data/lane.json"]),
        ("echo 'a && b'", ["echo a && b"]),
        ("echo $HOME", ["echo $HOME"]),
        ("cd . && pwd", ["true", "pwd"]),
        ("cd {top}/project/; ls\npwd || echo no", ["true", "ls", "pwd", "echo no"]),
        ("export LOOPX_TURN=x\nls", ["true", "ls"]),
        ("find .", [f"find {P} -maxdepth 4"]),
        ("find . -type f -maxdepth 2", [f"find {P} -type f -maxdepth 2"]),
        (
            "find data -name '*.json' -o -not -path './a/*' -print",
            [f"find {P}/data -maxdepth 4 -name *.json -o -not -path ./a/* -print"],
        ),
        ("find . -name a#b", [f"find {P} -maxdepth 4 -name a#b"]),
        ("find . -type d\n", [f"find {P} -maxdepth 4 -type d"]),
        ("find {top}/home -type d && ls", ["find {top}/home -maxdepth 4 -type d", "ls"]),
        ("rg --files", ["rg --files"]),
        ("rg --files --hidden data", [f"rg --files --hidden {P}/data"]),
        ("git status --short --branch", ["git status --short --branch"]),
        ("git branch --show-current", ["git branch --show-current"]),
        ("git rev-parse --show-toplevel", ["git rev-parse --show-toplevel"]),
    ],
)
def test_command_is_rebuilt_when_it_is_admitted(places: Places, top: Path, text: str, expected: list[str]) -> None:
    assert argvs(text, places, top) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "# only",
        "cat 'open",
        "Ls",
        "true",
        "nope || ls",
        "ls;",
        "&& ls",
        "ls && && ls",
        "\nls",
        "ls & pwd",
        "ls > x",
        "ls >> x",
        "ls < x",
        "cat <<EOF\nx\nEOF",
        "ls ';'",
        "echo '|'",
        "echo '>'",
        "ls \\\n -la",
        "ls;" * 8 + "ls",
        "ls /etc",
        "ls ..",
        "ls out",
        "ls tohome/.codex/loopx",
        "ls -lah",
        "ls --",
        "ls a b c d e",
        "pwd -P",
        "cat",
        "cat a b",
        "cat /etc/hostname",
        "cat out/key",
        "cat {top}/home/.codex/loopx/registry.global.json",
        "head -5 data/lane.json",
        "head -n x data/lane.json",
        "sed -i 1p data/lane.json",
        "sed -n 1,2 data/lane.json",
        "sed -n 's/a/b/p' data/lane.json",
        "sed -n '1p;2p' data/lane.json",
        "sed 1p data/lane.json",
        "echo",
        "echo a b",
        "cd",
        "cd data",
        "cd ~",
        "cd {top}/runtime",
        "cd . .",
        "export FOO=1",
        "export LOOPX_TURN",
        "export LOOPX_TURN=" + "x" * 150,
        "LOOPX_TURN=1 ls",
        "find",
        "find ..",
        "find . -delete",
        "find . -exec rm {} ;",
        "find . -maxdepth 5",
        "find . -maxdepth ²",
        "find . -maxdepth",
        "find . -type l",
        "find . -name ''",
        "find . -name a/b",
        "find . -name -x",
        "find . -name " + "a" * 129,
        "find . -path /etc",
        "find . -path a/../b",
        "find . -path ''",
        "find . -not -name a",
        "find . x",
        "find . &",
        "rg",
        "rg -l lane",
        "rg --files --pre=x",
        "rg --files --pre x",
        "rg --files ..",
        "rg --files a b",
        "git status",
        "git  branch --show-current",
        "git status --short --branch; ls",
        "bash -lc ls",
    ],
)
def test_command_is_no_plan_when_anything_in_it_is_not_admitted(places: Places, top: Path, text: str) -> None:
    assert argvs(text, places, top) is None


def test_ls_of_a_dash_is_no_plan_when_a_link_has_that_name(places: Places, top: Path) -> None:
    (top / "project/-").symlink_to("../secret")
    assert argvs("ls -", places, top) is None


@pytest.mark.parametrize(
    ("text", "expected", "limit"),
    [
        ("cat data/lane.json | head -5", [f"cat {P}/data/lane.json"], 5),
        ("cat data/lane.json|/usr/bin/head -n 05", [f"cat {P}/data/lane.json"], 5),
        ("cat data/lane.json | python3 -m json.tool | head -n 200", [f"cat {P}/data/lane.json"], 200),
        (
            "cat ~/.codex/loopx/registry.global.json | head -1",
            ["cat {top}/home/.codex/loopx/registry.global.json"],
            1,
        ),
        ("find . -type f | head -3", [f"find {P} -maxdepth 4 -type f"], 3),
        ("rg --files | head -n 3", ["rg --files"], 3),
    ],
)
def test_pipe_into_head_is_one_segment(
    places: Places, top: Path, text: str, expected: list[str], limit: int | None
) -> None:
    plan = plan_of(text, places)
    assert plan is not None
    assert argvs(text, places, top) == expected
    assert [one.line_limit for one in plan.segments] == [limit]


@pytest.mark.parametrize(
    "text",
    [
        "ls | head -5",
        "ls |",
        "| ls",
        "cat data/lane.json |",
        "cat data/lane.json | head",
        "cat data/lane.json | head -0",
        "cat data/lane.json | head -n 0",
        "cat data/lane.json | head -201",
        "cat data/lane.json | head -²",
        "cat data/lane.json | head -n 5 x",
        "cat data/lane.json | head 5",
        "cat data/lane.json | head -5 2>/dev/null",
        "cat data/lane.json | grep x",
        "cat data/lane.json | sh | head -5",
        "cat data/lane.json | python3 -c x | head -5",
        "cat data/lane.json | python -m json.tool | python -m json.tool | head -5",
        "cat data/lane.json | | head -5",
        "cat data/lane.json > x | head -5",
        "cat a b | head -5",
        "cat out/key | head -5",
        "head -5 data/lane.json | head -1",
        "find .. | head -5",
        "rg --files --pre=x | head -5",
    ],
)
def test_pipe_is_no_plan_when_it_is_not_a_bounded_head(places: Places, text: str) -> None:
    assert plan_of(text, places) is None


@pytest.mark.parametrize(
    ("text", "quiet"),
    [
        ("ls nope 2>/dev/null", True),
        ("ls nope 2> /dev/null", True),
        ("ls nope", False),
        ("cat data/lane.json 2>/dev/null | head -5", True),
        ("find . 2>/dev/null | head -5", True),
    ],
)
def test_discarded_errors_make_a_segment_quiet(places: Places, text: str, quiet: bool) -> None:
    plan = plan_of(text, places)
    assert plan is not None
    assert [one.quiet for one in plan.segments] == [quiet]


@pytest.mark.parametrize(
    "text",
    [
        "ls 2>/dev/null 2>/dev/null",
        "ls 2>/dev/null x",
        "2>/dev/null",
        "ls 1>/dev/null",
        "cat data/lane.json 2 > /dev/null",
        "cat data/lane.json '2'>/dev/null",
        "cat data/lane.json &>/dev/null",
    ],
)
def test_other_redirects_are_no_plan(places: Places, text: str) -> None:
    assert plan_of(text, places) is None


def test_operators_join_segments(places: Places) -> None:
    plan = plan_of("ls && pwd || ls; pwd\nls", places)
    assert plan is not None
    assert [one.operator for one in plan.segments] == [";", "&&", "||", ";", ";"]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("echo hi", "metadata"),
        ("ls", "metadata"),
        ("cat .ctl/registry.json", "metadata"),
        ("cat .ctl/registry.json && cat alias.json", "content"),
        ("cat data/lane.json; cat ~/.codex/loopx/registry.global.json | head -3", "content"),
        ("cat data/lane.json | head -3", "content"),
        ("cat data/lane.json && cat data/nope", "other"),
        ("cat .", "other"),
        ("cat data/LANE.json | head -3", "other"),
    ],
)
def test_role_of_a_plan_is_that_of_its_worst_target(places: Places, text: str, role: str) -> None:
    plan = plan_of(text, places)
    assert plan is not None
    assert plan.role == role


def test_targets_are_workspace_paths_and_listings_have_none(places: Places) -> None:
    plan = plan_of("ls; echo x; cat alias.json; cat ~/.codex/loopx/registry.global.json | head -3; cat .", places)
    assert plan is not None
    assert [(one.target, one.role) for one in plan.segments] == [
        (None, "metadata"),
        (None, None),
        ("project/data/lane.json", "content"),
        ("home/.codex/loopx/registry.global.json", "metadata"),
        ("project", "other"),
    ]
