"""What interrupted recordings left behind is dealt with, in words, by the next recording of the same episode."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from chat_server import serving, text
from command_line import CommandLine

from harness import recording

pytestmark = pytest.mark.plane

NAME = "loopx/selected-todo"


def record(line: CommandLine, *more: str) -> tuple[subprocess.CompletedProcess[bytes], int]:
    """What came of recording a model that only talks, and how often it was asked."""
    with serving(lambda _: text("All done!")) as server:
        done = line.run("record", NAME, "--actor", f"openai-compatible/toy@{server.url}", "--yes-spend", *more)
        return done, len(server.bodies)


def left(line: CommandLine) -> dict[str, int]:
    """What lies in the folder of recordings, by size."""
    return {path.name: path.stat().st_size for path in (line.cwd / "recordings" / NAME).iterdir()}


def test_halves_are_kept_until_something_whole_replaces_them_and_told_when_they_go(line: CommandLine) -> None:
    done, asked = record(line)
    assert (done.returncode, done.stderr, asked) == (0, b"", 1)
    (name,) = left(line)
    path = line.cwd / "recordings" / NAME / name
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    fuller, emptier = Path(f"{path}.partial"), Path(f"{path}.2.partial")
    fuller.write_bytes(b"".join(lines[:2]))
    emptier.write_bytes(lines[0])

    done, asked = record(line)
    assert (done.returncode, asked) == (4, 0)
    assert done.stderr.count(b"\n") == 1
    assert b"half a recording, " in done.stderr
    assert b"--replace records anew and removes it" in done.stderr
    assert left(line).keys() == {fuller.name, emptier.name}

    done, asked = record(line, "--replace")
    assert (done.returncode, asked) == (0, 1)
    told = done.stderr.decode().splitlines()
    assert [one.startswith("harness: removed half a recording, ") for one in told] == [True, True]
    assert str(emptier) in told[0]
    assert str(fuller) in told[1]
    assert left(line).keys() == {name}
    assert len(recording.load(path).exchanges) == 1


def test_the_fullest_half_outlives_an_attempt_that_gave_nothing(line: CommandLine) -> None:
    record(line)
    (name,) = left(line)
    path = line.cwd / "recordings" / NAME / name
    whole = path.read_bytes()
    for number, lines in ((1, 2), (2, 1)):
        half = Path(f"{path}.{number}.partial")
        half.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
    with serving(lambda _: (503, b"busy")) as server:
        argv = ("record", NAME, "--actor", f"openai-compatible/toy@{server.url}", "--yes-spend", "--replace")
        done = line.run(*argv)
    assert done.returncode == 2
    assert done.stderr.count(b"removed half a recording") == 1
    assert left(line).keys() == {name, f"{name}.1.partial"}
    assert path.read_bytes() == whole
