"""Signals, in processes of their own. The program under test says on its standard output how far it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machine import PATIENCE_S

from harness.receipt import read_run

PROGRAM = """
import sys, threading
from harness.cli.interrupt import stoppable
stop, cancelled, over = threading.Event(), threading.Event(), threading.Event()
with stoppable(stop, cancelled.set, over.set):
    print("ready", flush=True)
    for line in sys.stdin:
        told = "cancel" if cancelled.is_set() else "over" if over.is_set() else "on"
        print("stop" if stop.is_set() else "go", told, flush=True)
"""


@contextmanager
def _program() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
            assert process.stdin is not None
            process.stdin.close()
            process.wait(PATIENCE_S)
        finally:
            process.kill()


def _ask(process: subprocess.Popen[str]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("?\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_nothing_is_stopped_before_a_signal() -> None:
    with _program() as process:
        assert _ask(process) == "go on"


def test_ctrl_c_once_stops_and_says_so_twice_cancels() -> None:
    with _program() as process:
        os.kill(process.pid, signal.SIGINT)
        assert _ask(process) == "stop on"
        os.kill(process.pid, signal.SIGINT)
        assert _ask(process) == "stop cancel"
        assert process.stderr is not None
        assert process.stderr.readline().startswith("harness: finishing what is in flight")
        assert process.stderr.readline().startswith("harness: stopping now")


def test_ctrl_c_three_times_ends_the_process_at_once() -> None:
    with _program() as process:
        for answer in ("stop on", "stop cancel"):
            os.kill(process.pid, signal.SIGINT)
            assert _ask(process) == answer
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130


@pytest.mark.parametrize(("first", "second"), [("SIGTERM", "SIGTERM"), ("SIGINT", "SIGTERM"), ("SIGTERM", "SIGINT")])
def test_sigterm_ends_what_is_in_flight_at_once(first: str, second: str) -> None:
    with _program() as process:
        os.kill(process.pid, signal.Signals[first])
        assert _ask(process) == ("stop on" if first == "SIGINT" else "stop over")
        os.kill(process.pid, signal.Signals[second])
        assert process.wait(PATIENCE_S) == 130 if first == "SIGTERM" else _ask(process) == "stop over"


def test_a_closed_terminal_stops_at_once() -> None:
    with _program() as process:
        os.kill(process.pid, signal.SIGHUP)
        assert _ask(process) == "stop over"


def _environment(plane_home: Path, tmp_path: Path) -> dict[str, str]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    return {**os.environ, "HARNESS_HOME": str(plane_home), "TMPDIR": str(temporary)}


@contextmanager
def _running(environment: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of many real episodes, after its first receipt; unbuffered, so that no later receipt is swallowed."""
    argv = (sys.executable, "-m", "harness", "run", "loopx/*", "--trials", "200", "--format", "jsonl", "--out", "out")
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, env=environment, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b'{"')
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.plane
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_keeps_what_was_finished_and_leaves_nothing_behind(
    plane_home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    environment = _environment(plane_home, tmp_path)

    with _running(environment, tmp_path) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
        code = process.returncode

    assert code == 130
    assert b"Traceback" not in err
    view = read_run(tmp_path / "out")
    assert view.manifest.state == "interrupted"
    assert len(view.receipts) == 1 + len(out.splitlines()) < 400
    assert {receipt.verdict for receipt in view.receipts} == {"pass"}
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
@pytest.mark.plane
def test_what_a_killed_run_leaves_is_removed_by_the_next_start(plane_home: Path, tmp_path: Path) -> None:
    environment = _environment(plane_home, tmp_path)
    with _running(environment, tmp_path) as process:
        process.kill()
        process.wait(PATIENCE_S)

    done = subprocess.run(
        [sys.executable, "-m", "harness", "doctor"], env=environment, capture_output=True, cwd=tmp_path, check=False
    )

    assert done.returncode == 0
    assert list((tmp_path / "temporary").iterdir()) == []
    assert read_run(tmp_path / "out").manifest.state == "running"
