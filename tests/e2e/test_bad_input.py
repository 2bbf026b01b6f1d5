"""What people get wrong or do not have: one clear line or one receipt, the right exit code, nothing left behind."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine
from pydantic import JsonValue

pytestmark = [pytest.mark.plane, pytest.mark.slow]

SCENARIO = "loopx/capability-repair"
BUNDLED = Path(__file__).parents[2] / "scenarios/loopx/capability-repair.toml"


def files(line: CommandLine) -> list[str]:
    """Everything in the folders of the command."""
    return sorted(str(path.relative_to(line.folder)) for path in line.folder.rglob("*"))


def refused(line: CommandLine, *argv: str, code: int = 4) -> str:
    """The one line on standard error; checks the exit code, and that nothing is printed or left behind."""
    before = files(line)
    done = line.run(*argv)
    told = done.stderr.decode()
    assert (done.returncode, done.stdout) == (code, b""), told
    assert files(line) == before
    assert told.startswith("harness: ")
    assert told.count("\n") == 1
    assert "Traceback" not in told
    return told.strip()


@pytest.mark.parametrize(
    ("argv", "code", "told"),
    [
        (("run", "loopx/nope"), 4, "unknown scenario 'loopx/nope'; there are: loopx/capability-repair"),
        (("run", "nope/*"), 5, "no scenario is chosen by nope/*; searched: "),
        (("run", "nope.toml"), 4, "nope.toml: cannot be read: No such file or directory"),
        (("check", "loopx/nope"), 4, "unknown scenario 'loopx/nope'"),
        (("run", SCENARIO, "--actor", "nobody"), 4, "unknown actor 'nobody'; there are: script"),
        (("run", SCENARIO, "--actor", "script:nobody"), 4, "unknown script of loopx/capability-repair 'nobody'"),
        (("run", SCENARIO, "--actor", "script:no.json"), 4, "no.json: cannot be read"),
        (("run", SCENARIO, "--actor", "nobody/m", "--yes-spend"), 4, "unknown provider 'nobody'; there are: openai"),
        (("run", SCENARIO, "--actor", "openai/m"), 4, "agree with --yes-spend"),
        (("run", SCENARIO, "--actor", "openai/m", "--yes-spend"), 4, "set the environment variable OPENAI_API_KEY"),
        (("run", SCENARIO, "--set", "temperature=0"), 4, "'script' is a script"),
        (("run", SCENARIO, "--report", "nope"), 4, "unknown report 'nope'; there are: "),
        (("plane", "install", "nope==1"), 4, "unknown control plane 'nope'; there are: loopx"),
        (("plane", "install", "loopx"), 4, "write NAME==VERSION"),
        (("plane", "verify", "nope==1"), 4, "unknown installed control plane 'nope==1'"),
        (("scenario", "classify", SCENARIO, "date", "--after", "nope"), 4, "unknown kind 'nope'; there are: "),
        (("report", "nowhere"), 4, "nowhere: holds no run"),
        (("nope",), 4, "unknown command 'nope'; there are: run, check"),
        (("run", "--nope"), 4, "see: harness run --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_not_there_is_named_with_what_there_is(
    line: CommandLine, argv: tuple[str, ...], code: int, told: str
) -> None:
    assert told in refused(line, *argv, code=code)


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        (
            'name = "clock"',
            'name = "clock"\nnmae = 1',
            "mine.toml:116: kind[3].nmae: unknown key 'nmae'; did you mean 'name'?; allowed: ",
        ),
        ("commands = { quota_reentry = 1 }", "commands = { quota_rentry = 1 }", "did you mean 'quota_reentry'?"),
        ('answer = "quota_should_run"', 'answer = "nope"', "late.reentry_command.answer: no kind 'nope'"),
        ('plane = "loopx==0.4.8"', 'plane = "loopy==1.0"', "unknown control plane 'loopy'; there are: loopx"),
        ('plane = "loopx==0.4.8"', 'plane = "loopx==9.9.9"', "type: harness plane install loopx==9.9.9"),
        ("schema = 1", "schema = [", "is no TOML"),
    ],
    ids=["key", "kind", "kind of an answer", "plane", "version", "no TOML"],
)
def test_a_scenario_that_cannot_be_used_is_told_by_its_place(
    line: CommandLine, right: str, wrong: str, told: str
) -> None:
    file = line.cwd / "scenarios/own/mine.toml"
    file.parent.mkdir(parents=True)
    text = BUNDLED.read_text("utf-8").replace(SCENARIO, "own/mine")
    assert text.count(right) == 1
    file.write_text(text.replace(right, wrong), "utf-8")
    assert told in refused(line, "run", "own/mine")
    assert told in refused(line, "check", "own/mine")


def played(line: CommandLine, **commands: str) -> dict[str, dict[str, JsonValue]]:
    """Receipts by script, each of one command; checks that nothing is left behind."""
    scripts = {name: {"actions": [{"command": command}]} for name, command in commands.items()}
    (line.cwd / "mine.json").write_text(json.dumps({"scripts": scripts}), "utf-8")
    out = str(line.folder / "out")
    done = line.run("run", SCENARIO, "--actor", "script:mine.json", "--format", "jsonl", "--out", out)
    assert (done.returncode, done.stderr) == (1, b"")
    assert list(line.temporary.iterdir()) == []
    assert [path.name for path in line.cwd.iterdir()] == ["mine.json"]
    receipts = [json.loads(text) for text in done.stdout.splitlines()]
    return {receipt["actor"]["ref"].removeprefix("script:"): receipt for receipt in receipts}


def test_an_odd_command_is_one_receipt_and_never_run_and_a_script_that_runs_out_is_not_judged(
    line: CommandLine,
) -> None:
    odd = {
        "nul": "date\0",
        "superscript": "date \u00b2",
        "two-lines": "date\nrm -rf /",
        "placeholder": "{nope}",
        "empty": "",
        "expansion": "$(date)",
    }
    receipts = played(line, **odd, over="date")
    over = receipts.pop("over")
    assert list(receipts) == list(odd)
    for name, receipt in receipts.items():
        assert (receipt["verdict"], receipt["failure_code"]) == ("fail", "unexpected_command"), name
        steps = receipt["steps"]
        assert isinstance(steps, list)
        assert [isinstance(step, dict) and step["executed"] for step in steps] == [False], name
    assert (over["verdict"], over["cause"], over["failure_code"]) == ("not_judged", "scenario", "script_exhausted")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"[1", "mine.json:1: is no JSON"),
        (b"{}", "scripts: this key is missing"),
        (b'{"scripts": {"a": {"actions": [{"command": "\\ud800"}]}}}', "half of a surrogate pair"),
        (b"\xff", "mine.json"),
    ],
    ids=["no JSON", "no script", "no character", "no UTF-8"],
)
def test_a_script_file_that_cannot_be_used_is_told_by_its_place(line: CommandLine, data: bytes, told: str) -> None:
    (line.cwd / "mine.json").write_bytes(data)
    assert told in refused(line, "run", SCENARIO, "--actor", "script:mine.json")


@pytest.mark.parametrize("argv", [("run", SCENARIO), ("check", SCENARIO), ("run", SCENARIO, "--out", "out")])
def test_without_git_one_line_says_so(line: CommandLine, argv: tuple[str, ...]) -> None:
    line.environ["PATH"] = str(line.user)
    assert "needs git, which is not on the PATH" in refused(line, *argv)


def test_without_git_the_doctor_says_so_first(line: CommandLine) -> None:
    done = line.run("doctor", PATH=str(line.user))
    assert done.returncode == 4
    assert done.stdout.startswith(b"missing: git\n")


def test_without_a_control_plane_the_line_to_type_is_told(line: CommandLine) -> None:
    line.environ["HARNESS_HOME"] = str(line.user / "empty")
    told = refused(line, "run", SCENARIO)
    assert told.endswith("type: harness plane install loopx==0.4.8")


@pytest.fixture
def offline(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, the command is started where there is no network."""
    unshare = shutil.which("unshare")
    prefix = [unshare or "unshare", "--net", "--map-root-user"]
    if unshare is None or subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("a world without network cannot be made here: unshare is missing or not allowed")
    start = subprocess.Popen

    def begin() -> None:
        monkeypatch.setattr(subprocess, "Popen", lambda argv, **rest: start([*prefix, *argv], **rest))

    return begin


def test_without_network_a_first_install_is_one_line_and_a_run_needs_none(
    line: CommandLine, offline: Callable[[], None]
) -> None:
    offline()
    home = line.user / "empty"
    done = line.run("plane", "install", "loopx==0.4.8", HARNESS_HOME=str(home))
    told = done.stderr.decode()
    assert (done.returncode, done.stdout, told.count("\n")) == (4, b"", 1), told
    assert "the package index was not reached; connect once, or give a file with --from WHEEL" in told
    assert [path for path in home.rglob("*") if path.is_file() and path.suffix != ".lock"] == []
    assert list(line.temporary.iterdir()) == []
    assert line.run("run", SCENARIO, "--out", str(line.folder / "out")).returncode == 0
