"""Folders, processes and texts of strangers, as they went wrong elsewhere; each test is named by its case."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import recorded as rec
from confined import call, offered
from toy import ReplyActor, Stage, called, said

from harness.cli.output import harmless, table
from harness.command.places import Places, settle
from harness.command.profile import PROFILES
from harness.executors.process import ProcessExecutor
from harness.recording import dump, load
from harness.reporters._rows import plain
from harness.schema.command import GrammarContext
from harness.schema.message import ToolMessage
from harness.schema.process import Completed, ProcessCommand
from harness.workspace import Placeholders, Workspace, git_environment, reserve


@pytest.fixture(params=[False, True], ids=["open", "confined"])
def executor(request: pytest.FixtureRequest) -> Iterator[ProcessExecutor]:
    made = ProcessExecutor(confined=bool(request.param))
    yield made
    made.close()


def run(
    executor: ProcessExecutor, folder: Path, script: str, *, timeout_s: float = 20.0, most: int = 65536
) -> Completed:
    env = {"PATH": os.environ["PATH"]}
    return executor.run(
        ProcessCommand(
            argv=("sh", "-c", script),
            cwd=str(folder),
            env=env,
            timeout_s=timeout_s,
            output_bytes=most,
            folder=str(folder),
        )
    )


def places(roots: dict[str, Path]) -> Places:
    context = GrammarContext(
        profile="loopx-0.4",
        roots={name: str(path) for name, path in roots.items()},
        cwd="project",
        content=(),
        metadata=(),
    )
    return Places(context, PROFILES["loopx-0.4"])


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace in a folder that is reached through a link, as it is below /var of macOS."""
    (tmp_path / "private").mkdir()
    (tmp_path / "ws").symlink_to("private")
    with reserve(roots=("project",), base=tmp_path / "ws") as workspace:
        yield workspace


def test_c001_both_spellings_of_the_workspace_are_inside_and_what_only_begins_like_it_is_not(linked: Workspace) -> None:
    given, real = linked.given / "project", linked.root / "project"
    assert given != real
    (real / "a.txt").write_text("in", "utf-8")
    found = places({"project": real})
    assert found.in_cwd(f"{given}/a.txt") == found.in_cwd(f"{real}/a.txt") == str(real / "a.txt")
    assert found.in_cwd(f"{given}/../project2/a.txt") is None


def test_c001_what_tools_print_of_it_has_one_name_whichever_way_they_spell_it(
    linked: Workspace, executor: ProcessExecutor
) -> None:
    hidden = Placeholders(linked)
    given = linked.given / "project"
    script = f"pwd; {sys.executable} -c 'import os; print(os.getcwd())'; realpath ."
    printed = [
        executor.run(
            ProcessCommand(
                argv=("sh", "-c", script),
                cwd=str(cwd),
                env={"PATH": os.environ["PATH"], "PWD": str(cwd)},
                folder=str(linked.root),
            )
        ).stdout.decode()
        for cwd in (given, linked.cwd)
    ]
    for text in printed:
        shown = hidden.hide(text)
        assert str(linked.root) not in shown
        assert str(linked.given) not in shown
        assert set(shown.split()) == {"{project_root}"}
    assert hidden.hide(str(given)) == hidden.hide(str(linked.cwd)) == "{project_root}"


def test_c003_git_reads_a_fixture_that_belongs_to_somebody_else_and_only_that_one(
    tmp_path: Path, executor: ProcessExecutor
) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
        subprocess.run(["git", "init", "-q", str(folder)], check=True)  # noqa: S607
        (folder / "new").write_text("x", "utf-8")

    def status(folder: Path, safe: Path) -> Completed:
        home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
        env = {**git_environment(safe), "GIT_CEILING_DIRECTORIES": str(tmp_path), **home}
        argv = ("git", "status", "--porcelain")
        return executor.run(ProcessCommand(argv=argv, cwd=str(folder), env=env, folder=str(tmp_path)))

    assert (status(here, here).exit_code, status(here, here).stdout) == (0, b"?? new\n")
    assert b"dubious ownership" in status(other, here).stderr
    assert {path.name for path in tmp_path.iterdir()} == {"here", "other"}


def _is_running(mark: str) -> bool:
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in line.read_bytes().decode("utf-8", "replace").split("\0"):
                return True
        except OSError:
            continue
    return False


def test_c005_a_grandchild_that_holds_the_pipe_does_not_hold_up_the_end(
    tmp_path: Path, executor: ProcessExecutor
) -> None:
    mark, begun = f"60.{os.getpid()}1", time.monotonic()
    done = run(executor, tmp_path, f"echo started; sleep {mark} & wait", timeout_s=1.0)
    assert (done.timed_out, done.stdout) == (True, b"started\n")
    assert time.monotonic() - begun < 4 + 10  # the machine may be busy; the pipe would be held for a minute
    assert not _is_running(mark)


def test_c007_a_command_is_over_when_it_ends_and_not_when_its_pipe_does(
    tmp_path: Path, executor: ProcessExecutor
) -> None:
    mark, begun = f"60.{os.getpid()}2", time.monotonic()
    done = run(executor, tmp_path, f"(sleep {mark}; echo late) & echo now")
    assert (done.exit_code, done.stdout) == (0, b"now\n")
    assert time.monotonic() - begun < 3 + 10
    assert not _is_running(mark)


def test_c009_a_flood_is_cut_while_it_is_read_and_counted_to_its_end(tmp_path: Path, executor: ProcessExecutor) -> None:
    done = run(executor, tmp_path, "yes x | head -c 20000000; echo END")
    assert (done.exit_code, len(done.stdout), done.stdout_seen) == (0, 65536, 20_000_004)
    line = run(executor, tmp_path, "head -c 3000000 /dev/zero | tr '\\0' y")
    assert (line.exit_code, line.stdout, line.stdout_seen) == (0, b"y" * 65536, 3_000_000)


def test_c009_a_flood_does_not_starve_the_clock(tmp_path: Path, executor: ProcessExecutor) -> None:
    begun = time.monotonic()
    done = run(executor, tmp_path, "yes", timeout_s=1.0)
    assert (done.timed_out, len(done.stdout)) == (True, 65536)
    assert done.stdout_seen > 65536
    assert time.monotonic() - begun < 5 + 10


def _shown(tmp_path: Path, text: str, **limits: int) -> str:
    """What an actor is sent that reads a file with that text."""
    actor = ReplyActor([said("", called("cat b.json")), said("")])
    executor = ProcessExecutor()
    Stage(executor, tmp_path).play(
        actor=actor,
        change={
            "limits": {**limits},
            "tool": {"exec": {"metadata": ["project/b.json"]}},
            "workspace": {"file": [{"at": ["project/{file}", "project/b.json"], "text": text}]},
        },
    )
    executor.close()
    last = actor.requests[-1].messages[-1]
    assert isinstance(last, ToolMessage)
    return last.text


def test_c009_what_an_actor_is_shown_of_a_long_text_has_its_tail_and_says_how_long_it_is(tmp_path: Path) -> None:
    text = "x\n" * 50_000 + "END\n"
    shown = _shown(tmp_path, text, tool_result_chars=4096)
    assert len(shown) <= 4096
    assert shown.startswith("x\nx\n")
    assert shown.endswith("END\n")
    assert f"of {len(text)} characters are left out here" in shown


C011 = {
    "a.txt": True,
    "./sub/../a.txt": True,
    "../ws-secret/creds": False,
    "{top}/ws-secret/creds": False,
    "link/creds": False,
    "sub/up/ws-secret/creds": False,
    "loop": False,
    "dangling": False,
    "a.txt\0.png": False,
}
#: Plain names of files that are not there: nothing in them is decoded.
C011_PLAIN = ("..\\ws-secret\\creds", "%2e%2e/ws-secret/creds")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A root, a folder whose name begins like it, and every link between them."""
    ws = tmp_path / "ws"
    (ws / "sub").mkdir(parents=True)
    (tmp_path / "ws-secret").mkdir()
    (ws / "a.txt").write_text("in", "utf-8")
    (tmp_path / "ws-secret/creds").write_text("out", "utf-8")
    (ws / "link").symlink_to("../ws-secret")
    (ws / "sub/up").symlink_to("../../")
    (ws / "loop").symlink_to("loop")
    (ws / "dangling").symlink_to("../ws-secret/new")
    return tmp_path.resolve()


@pytest.mark.parametrize("asked", C011)
def test_c011_what_leads_out_is_refused(top: Path, asked: str) -> None:
    found = places({"project": top / "ws"}).in_cwd(asked.replace("{top}", str(top)))
    assert (found == str(top / "ws/a.txt")) is C011[asked]
    # a link to itself stays inside and leads to nothing
    assert (found is None or not Path(found).exists()) is not C011[asked]


@pytest.mark.parametrize("asked", C011_PLAIN)
def test_c011_a_name_is_never_decoded(top: Path, asked: str) -> None:
    found = places({"project": top / "ws"}).in_cwd(asked)
    assert found == str(top / "ws" / asked)
    assert settle(found) == found
    assert not os.path.lexists(found)


@pytest.mark.skipif(not offered() & {"landlock", "namespaces"}, reason="this kernel offers nothing")
@pytest.mark.parametrize("asked", ["dangling", "link/creds", "sub/up/ws-secret/creds"])
def test_c011_what_leads_out_is_not_written_either(top: Path, asked: str) -> None:
    done = call(lambda inside: (inside / asked).write_text("changed", "utf-8"), top / "ws")
    assert done.status != 0
    assert {path.name: path.read_text("utf-8") for path in (top / "ws-secret").iterdir()} == {"creds": "out"}


C013 = (
    "plain \x1b[31mred\x1b[0m \x1b]0;owned title\x07 \x1b]8;;http://evil.example.test\x1b\\link\x1b]8;;\x1b\\ "
    "\x9b2J \x90payload\x9c bell\x07 back\b\b\b\rOVER"
)
ACTING = "\x1b\x9b\x90\x9d\x07\b\r\x9c"


def test_c013_what_is_shown_acts_on_no_terminal_and_keeps_its_words() -> None:
    for shown in (harmless(C013), table(("what",), [(C013,)]), plain(C013)):
        assert not set(ACTING) & set(shown)
        assert all(word in shown for word in ("plain", "red", "link", "OVER"))


def test_c013_a_recording_keeps_the_text_as_it_was() -> None:
    made = rec.exchange(1, {"say": C013}, {"said": C013})
    written = dump(rec.header(), [made], ())
    assert not set(ACTING) & set(written.decode())
    (read,) = load(written).exchanges
    assert read == made
    assert read.response.body == {"said": C013}


def test_c013_the_actor_reads_it_as_it_is(tmp_path: Path) -> None:
    assert _shown(tmp_path, C013) == C013
