from __future__ import annotations

import errno
import os
import resource
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import click
import pytest

import harness as package
from harness.cli import main as module
from harness.cli.lazy import LazyGroup
from harness.cli.main import main
from harness.errors import CatalogError, NothingSelectedError


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


#: What imports may cost that help and version need, in seconds, over the bare interpreter.
START_S = 0.2
HEAVY = {"pydantic", "httpx", "rich", "jinja2", "jsonschema", "harness.wiring", "harness.schema"}


def _walk(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = [(path, group)]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += _walk(command, (*path, name)) if isinstance(command, click.Group) else [((*path, name), command)]
    return found


def _raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def callback() -> None:
        raise error

    group = LazyGroup("harness", {}, text="", epilog="")
    group.verbs = {"go": ("", "", "")}
    monkeypatch.setattr(group, "get_command", lambda *_: click.Command("go", callback=callback))
    monkeypatch.setattr(module, "_top", lambda: group)


def test_version_is_printed(harness: Harness) -> None:
    assert harness("--version") == (0, f"harness {package.__version__}\n", "")


def test_help_names_every_verb_and_every_exit_code(harness: Harness) -> None:
    code, out, err = harness("--help")

    assert (code, err) == (0, "")
    for word in (
        "run",
        "check",
        "report",
        "show",
        "scenario",
        "plane",
        "wire",
        "doctor",
        "130 interrupted",
        "70 a bug",
    ):
        assert word in out


@pytest.mark.parametrize("columns", ["80", "140"])
def test_help_of_every_command_has_an_example_and_fits(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    for path, _ in _walk(module._top()):
        code, out, _ = harness(*path, "--help")
        example = " ".join(("harness", *path))
        assert code == 0
        assert example in out.split("Example", 1)[1], path
        assert max(map(len, out.splitlines())) <= 80, path


def test_every_command_says_what_it_is_for_as_its_group_does() -> None:
    for path, command in _walk(module._top()):
        assert command.help, path


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("fly",), "harness: unknown command 'fly'; there are: run, check, record, qualify, compare, report, show, "),
        (("--fly",), "harness: No such option '--fly'; see: harness --help\n"),
        (("run", "--wings"), "harness: No such option '--wings'; see: harness run --help\n"),
        (("run", "--trials", "a"), "harness: Invalid value for '--trials': 'a' is not a whole number; see: "),
        (("compare", "a", "--margin", "a"), "harness: Invalid value for '--margin': 'a' is not a number; see: "),
        (("run", "--trials", "0"), "harness: Invalid value for '--trials': 0 is not in the range 1<=x<=10000; see: "),
        (("run", "--format", "xml"), "harness: Invalid value for '--format': 'xml' is not one of 'text', 'json', "),
        (("plane", "fly"), "harness: unknown command 'fly'; there are: install, list, verify; see: harness plane"),
        (("report",), "harness: Missing argument 'RUN'; see: harness report --help\n"),
    ],
)
def test_usage_errors_are_one_line_and_exit_4(harness: Harness, argv: tuple[str, ...], line: str) -> None:
    code, out, err = harness(*argv)

    assert (code, out) == (4, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (CatalogError("thing", "x", ("a", "b")), 4, "harness: unknown thing 'x'; there are: a, b\n"),
        (NothingSelectedError("nothing\nhere"), 5, "harness: nothing here\n"),
        (KeyboardInterrupt(), 130, "harness: interrupted\n"),
    ],
)
def test_an_error_is_one_line_and_its_own_exit_code(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    _raising(monkeypatch, error)

    assert harness("go") == (code, "", line)


def test_a_bug_is_one_line_that_holds_no_message(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, RuntimeError("sk-canary"))

    code, out, err = harness("go")

    assert (code, out, err.count("\n")) == (70, "", 1)
    assert err.startswith("harness: a bug of harness: RuntimeError at test_main.py:")
    assert err.endswith("; HARNESS_DEBUG=1 shows the frames\n")
    assert "canary" not in err


def test_the_frames_of_a_bug_are_shown_to_who_asks_without_any_value(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        module, "_VERBS", {"plane": ("harness.cli.plane", "plane", ""), "go": ("harness.no_such_module", "x", "")}
    )
    monkeypatch.setenv("HARNESS_DEBUG", "1")

    code, _, err = harness("go")

    lines = err.splitlines()
    assert code == 70
    assert lines[0].startswith("harness: a bug of harness: ModuleNotFoundError at ")
    assert any("lazy.py:" in line and " in get_command" in line for line in lines[1:])
    assert "no_such_module" not in err


def test_a_reader_who_goes_away_is_no_error(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, BrokenPipeError())
    monkeypatch.setattr(os, "dup2", lambda *_: None)

    assert harness("go") == (0, "", "")


def test_sigterm_ends_a_command_like_ctrl_c(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def callback() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    group = LazyGroup("harness", {"go": ("", "", "")}, text="", epilog="")
    monkeypatch.setattr(group, "get_command", lambda *_: click.Command("go", callback=callback))
    monkeypatch.setattr(module, "_top", lambda: group)

    assert harness("go") == (130, "", "harness: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def doing(monkeypatch: pytest.MonkeyPatch, callback: Callable[[], None]) -> None:
    group = LazyGroup("harness", {"go": ("", "", "")}, text="", epilog="")
    monkeypatch.setattr(group, "get_command", lambda *_: click.Command("go", callback=callback))
    monkeypatch.setattr(module, "_top", lambda: group)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("made", "ended"),
    [
        (LookupError("sk-canary"), (130, "", "harness: interrupted\n")),
        (CatalogError("thing", "x", ("a", "b")), (4, "", "harness: unknown thing 'x'; there are: a, b\n")),
    ],
)
def test_what_others_make_of_an_interruption_is_no_bug_of_ours(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, number: int, made: Exception, ended: tuple[int, str, str]
) -> None:
    """Compiled code that an interruption meets may raise something else in its place."""

    def interrupted() -> None:
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            raise made from None

    doing(monkeypatch, interrupted)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs this may have it ignored
    try:
        assert harness("go") == ended
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, inherited)


def test_a_ctrl_c_that_is_to_be_ignored_is_ignored(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    doing(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert harness("go") == (0, "", "")
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_verbs_number_is_the_exit_code(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    group = LazyGroup("harness", {"go": ("", "", "")}, text="", epilog="")
    monkeypatch.setattr(group, "get_command", lambda *_: click.Command("go", callback=lambda: 3))
    monkeypatch.setattr(module, "_top", lambda: group)

    assert harness("go")[0] == 3


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_import_nothing_heavy(argument: str) -> None:
    code = (
        "import sys\n"
        "from harness.cli.main import main\n"
        f"assert main([{argument!r}]) == 0\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_help_and_version_start_at_once() -> None:
    """Processor time, for what else the machine does must not matter here; runs take turns, medians of seven."""

    def spent(*argv: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *argv], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    commands = (("-c", "pass"), ("-m", "harness", "--help"), ("-m", "harness", "--version"))
    rounds = [[spent(*command) for command in commands] for _ in range(7)]
    bare, of_help, of_version = (statistics.median(times) for times in zip(*rounds, strict=True))

    assert of_help <= bare + START_S
    assert of_version <= bare + START_S


def test_the_module_runs_as_the_command_does() -> None:
    done = subprocess.run([sys.executable, "-m", "harness", "fly"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("harness: unknown command 'fly'")


def test_help_into_a_closed_pipe_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "--help"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (0, "")


def test_standard_output_that_is_closed_is_quiet(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -m harness plane list >&-', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "HARNESS_HOME": str(tmp_path)},
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_standard_output_that_is_full_is_one_line(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "plane", "list"],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "HARNESS_HOME": str(tmp_path)},
        )

    assert (done.returncode, done.stderr) == (
        4,
        "harness: standard output cannot be written: No space left on device\n",
    )


def test_main_takes_this_processs_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["harness", "--version"])

    assert main() == 0
    assert capsys.readouterr().out.startswith("harness ")


@pytest.mark.parametrize(
    "group", [(), ("plane",), ("scenario",), ("wire",)], ids=lambda group: " ".join(group) or "top"
)
def test_a_group_without_a_verb_shows_its_help_and_exits_as_wrong_usage(
    harness: Harness, group: tuple[str, ...]
) -> None:
    code, out, err = harness(*group)

    assert (code, err) == (4, "")
    assert (0, out, "") == harness(*group, "--help")


@pytest.mark.parametrize("argv", [("--help",), ("run", "--help"), ("--version",), ()], ids=" ".join)
def test_help_that_cannot_be_written_is_one_line(argv: tuple[str, ...]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "harness", *argv], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )

    assert (done.returncode, done.stderr) == (
        4,
        "harness: standard output cannot be written: No space left on device\n",
    )


def test_what_the_machine_refuses_is_one_line_and_what_only_we_can_cause_is_a_bug(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _raising(monkeypatch, OSError(errno.ENAMETOOLONG, "x", "a/b"))
    assert harness("go")[::2] == (4, "harness: a/b: File name too long\n")
    _raising(monkeypatch, FileNotFoundError(errno.ENOENT, "x", "a/b"))
    assert harness("go")[0] == 70


def test_an_argument_with_a_nul_is_wrong_usage(harness: Harness) -> None:
    assert harness("run", "a\0b")[::2] == (
        4,
        "harness: argument 2 holds a NUL character, which no name and no text may hold\n",
    )


def test_an_error_line_shows_no_key_and_acts_on_no_terminal(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-" + "a1B2" * 6
    said = [harness("run", "--actor", key, "--dry-run"), harness("run", "--keep", key, "--dry-run")]
    told = []
    for variable in ("HARNESS_ACTOR", "HARNESS_KEEP"):
        monkeypatch.setenv(variable, key)
        said.append(harness("run", "--dry-run"))
        told.append(harness("doctor"))  # its exit code is that of the machine too
        monkeypatch.delenv(variable)
    said.append(harness("qualify", "run", "--policy", "a\x1b]0;b\x07c"))
    assert {code for code, _, _ in said} == {4}
    for _, out, err in (*said, *told):
        assert key not in out + err
        assert not {"\x1b", "\x07"} & set(err)
    assert "(looks like a credential)" in said[0][2]
