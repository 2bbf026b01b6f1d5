import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machine import SOON_S

GUARD = """
import os, sys
from harness.executors import _guard
if sys.argv.pop(1) == "without subreapers":
    _guard._reaping.become_subreaper = lambda: False
    _guard._reaping.descendants = lambda root: []
sys.exit(_guard.main(sys.argv[1:]))
"""


def guarded(system: str, script: str, life: int) -> "subprocess.Popen[bytes]":
    """A guard around a shell; a coverage tool can look into it."""
    asked = [sys.executable, "-c", GUARD, system, str(life), "/bin/sh", "-c", script]
    return subprocess.Popen(
        asked, stdout=subprocess.PIPE, stdin=subprocess.PIPE, pass_fds=(life,), start_new_session=True
    )


def gone(pid: int) -> bool:
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("system", ["linux", "without subreapers"])
def test_program_ends_when_the_owners_end_is_closed(system: str) -> None:
    life, alive = os.pipe()
    with guarded(system, "sleep 60 & echo $$ $!; wait", life) as process:
        os.close(life)
        assert process.stdout is not None
        pids = [int(text) for text in process.stdout.readline().split()]
        os.close(alive)
        assert process.wait(10) == (0 if system == "linux" else -9)
        assert all(map(gone, pids))
        assert process.stdout.read() == b""


def test_guard_ends_with_its_program_and_leaves_no_daemon() -> None:
    life, alive = os.pipe()
    with guarded("linux", "setsid sleep 60 >/dev/null & echo $!", life) as process:
        os.close(life)
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        assert process.wait(10) == 0
        assert gone(daemon)
    os.close(alive)


def test_streams_are_the_programs_alone() -> None:
    life, alive = os.pipe()
    with guarded("linux", "read line; echo got $line; exec >&-; read line; echo $line >&2", life) as process:
        os.close(life)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"this\n")
        process.stdin.flush()
        assert process.stdout.read() == b"got this\n"
        process.stdin.close()
        assert process.wait(10) == 0
    os.close(alive)


def test_signals_of_a_terminal_are_left_to_the_owner() -> None:
    life, alive = os.pipe()
    with guarded("linux", "echo ready; read line; exit 0", life) as process:
        os.close(life)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        for number in (1, 2, 15):
            process.send_signal(number)
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.wait(10) == 0
    os.close(alive)


def test_program_that_is_not_there_is_an_end_without_a_word() -> None:
    life, alive = os.pipe()
    asked = [sys.executable, "-c", GUARD, "linux", str(life), "/harness-no-such-program"]
    done = subprocess.run(asked, capture_output=True, pass_fds=(life,), start_new_session=True, check=False)
    os.close(life)
    os.close(alive)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
