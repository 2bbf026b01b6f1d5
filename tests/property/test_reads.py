"""What a read plan prints, and how it ends, is what a shell makes of the same text; where it is not, nothing is run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness import catalog
from harness.command import parse
from harness.episode.execute import run_reads
from harness.episode.world import World
from harness.ports import Executor
from harness.schema.command import GrammarContext, ReadPlan

LANE = "data/lane.json"
REGISTRY = "~/.codex/loopx/registry.global.json"
COMMANDS = st.sampled_from(
    (
        *("ls", "ls -la missing", "ls data", "ls data/*", "ls ~", "ls 2>&1", "ls 2>/dev/null", "ls ~/.codex/loopx"),
        *("ls $HOME/.codex/loopx", "ls ${HOME}/none", "ls data/", f"ls {LANE}/", "ls none/../data", "ls \\\n data"),
        *(f"cat {LANE}", f"/bin/cat {LANE}", f"./cat {LANE}", f"/srv/cat {LANE}", "cat missing", "pwd", "cat -"),
        *(
            f"cat {LANE}/",
            f"cat none/../{LANE}",
            f"cat data/../{LANE}",
            f"cat ./{LANE}",
            f"cat '{LANE}'",
            f"cat # {LANE}",
        ),
        *(f"cat {LANE} | head -1", f"cat {LANE} | head -n 9", "cat missing | head -2", f"cat {REGISTRY} | head -1"),
        *(f"cat {LANE} | python3 -m json.tool | head -{n}" for n in (1, 2, 9)),
        *("cat data/notes.md | head -2", "cat data/notes.md | python3 -m json.tool 2>/dev/null | head -2"),
        *(f"head {LANE}", f"head -n 1 {LANE}", f"sed -n 1p {LANE}", f"sed -n 2,3p {LANE}", "sed -n p missing"),
        *("find . -name '*.json'", "find data -type f", "find none", "find data/*", "find . -type d | head -1"),
        *("echo done", "echo 'a && b'", "echo '# c'", "cd .", "cd none/..", "export LOOPX_TURN=x", "# a comment", ""),
        *(
            "ls $(echo data)",
            "echo `echo x`",
            "export LOOPX_TURN=$(echo x)",
            "$(echo ls)",
            "'l's",
            "ls;;",
            "(ls)",
            "ls &",
        ),
    )
)
JOINTS = st.sampled_from(
    (" ; ", ";", " && ", "&&", " || ", "\n", " \n ", ";\n", "&&\n", "\n\n", " # note\n", " ;; ", " | ")
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """One to four simple commands and what may stand between them."""
    text = draw(COMMANDS)
    for _ in range(draw(st.integers(0, 3))):
        text += draw(JOINTS) + draw(COMMANDS)
    return text


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project and a home with a few files."""
    top = tmp_path_factory.mktemp("reads").resolve()
    for folder in ("project/data", "home/.codex/loopx"):
        (top / folder).mkdir(parents=True)
    (top / "project" / LANE).write_text('{"lane": "selected",\n "steps": [1, 2]}\n')
    (top / "project/data/notes.md").write_text("# Notes\x0b still the same line\nmore\nand more")
    (top / "home/.codex/loopx/registry.global.json").write_text("{}\n")
    return top


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    made: Executor = catalog.module("executors", "process").ProcessExecutor()
    yield made
    made.close()


@pytest.fixture(scope="module")
def world(top: Path, executor: Executor) -> World:
    """As much of an episode's world as a read needs."""
    made = SimpleNamespace(
        parts=SimpleNamespace(search_path="/usr/bin:/bin", executor=executor),
        workspace=SimpleNamespace(root=top, process_home=top / "home", cwd=top / "project"),
        limits=SimpleNamespace(tool_result_bytes=65_536),
        bounds=SimpleNamespace(left=lambda: 10.0),
    )
    return cast("World", made)


def plan_of(text: str, top: Path) -> ReadPlan | None:
    context = GrammarContext(
        profile="loopx-0.4",
        roots={"project": str(top / "project"), "home": str(top / "home")},
        cwd="project",
        readable=("home",),
        content=(f"project/{LANE}",),
        metadata=("home/.codex/loopx/registry.global.json", "project/data/notes.md"),
    )
    return parse(text, context).reads


@settings(max_examples=150)
@given(text=texts())
@example(text=f"ls none/../data || cat {LANE}")
@example(text=f"cat missing | head -1 || cat {LANE}")
@example(text=f"cat # x\n{LANE}")
@example(text=f"ls ~ || cat {LANE}")
@example(text=f"export LOOPX_TURN=$(echo x) && cat {LANE}")
def test_a_plan_that_runs_does_what_a_shell_does(text: str, top: Path, world: World) -> None:
    plan = plan_of(text, top)
    if plan is None or plan.refused is not None or plan.role == "other":
        return
    seen = run_reads(world, plan)
    shell = subprocess.run(
        ["/bin/bash", "--norc", "-c", text],
        cwd=top / "project",
        env={"PATH": "/usr/bin:/bin", "HOME": str(top / "home"), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert seen.exit_code == shell.returncode
    assert relative("".join(read.text for read in seen.reads), top) == relative(shell.stdout.decode(), top)


def relative(text: str, top: Path) -> str:
    """Operands are made absolute, and some programs print them."""
    return text.replace(f"{top}/project", ".").replace("./", "")


@pytest.mark.parametrize(
    "text",
    [
        "echo $(touch x)",
        "echo `touch x`",
        'echo "$(touch x)"',
        'echo "`touch x`"',
        "export LOOPX_TURN=$(touch x) && ls",
        "ls $(touch x)",
        "ls $(touch x) || pwd",
        "ls; echo ${X:-$(touch x)}",
        "echo $((1 + $(touch x)))",
        "ls ~ || pwd",
        "ls *",
        "ls data/{a,b} || pwd",
        "find $HOME || pwd",
        "rg --files d*",
        "ls 2>&1",
        "ls;;pwd",
        "ls \n&& pwd",
        "ec\\\nho x",
        f"/srv/cat {LANE}",
        f"./cat {LANE}",
        f"cat {LANE}/",
        f"cat none/../{LANE}",
        f"cat {LANE}/../lane.json",
        f"cat # x\n{LANE}",
        f"cat none/../{LANE} | head -3",
        "find none/.. -type f",
        "cd none/.. && pwd",
        f"cat {LANE}#;cat data/notes.md",
        f"cat {LANE}#x && pwd",
        f"cat '{LANE}'#x",
        f"echo a#b; cat {LANE}",
        "find . -name x#; cat data/other.md",
        f"cat\r{LANE}",
        f"ls\r\ncat {LANE}",
        f"echo ${{X:?}}; cat {LANE}",
        f"export LOOPX_TURN=${{X:?}} && cat {LANE}",
        "export LOOPX_TURN=a(b",
        "echo {1..9}; pwd",
        "echo $[1/0]; pwd",
        "echo *",
    ],
)
def test_what_a_shell_reads_differently_is_never_run(text: str, top: Path) -> None:
    plan = plan_of(text, top)
    assert plan is None or plan.refused == "ambiguous"


@pytest.mark.parametrize(
    "text",
    [
        "$(touch x)/cat data/lane.json",
        "$(echo cat) data/lane.json",
        "`echo ls`",
        "date +$(touch x)",
        "date -u`touch x`",
    ],
)
def test_a_program_or_a_time_that_runs_commands_is_nothing_at_all(text: str, top: Path) -> None:
    plan = plan_of(text, top)
    assert plan is None or plan.refused == "ambiguous"
    context = GrammarContext(profile="loopx-0.4", roots={"project": str(top / "project")}, cwd="project")
    assert parse(text, context).clock is None


def test_a_refused_plan_runs_nothing(top: Path, world: World) -> None:
    plan = plan_of(f"cat none/../{LANE}", top)
    assert plan is not None
    assert plan.role == "content"
    seen = run_reads(world, plan)
    assert (seen.ran, seen.ok, seen.refused, seen.reads) == (False, False, "ambiguous", ())
