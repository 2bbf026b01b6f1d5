"""Ctrl-C in the middle of ten trials, in a real process group with child processes; the test is named by its case."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chat_server import ChatServer, call, serving, text
from command_line import CommandLine
from machine import PATIENCE_S, SOON_S
from pydantic import JsonValue

from harness.receipt import read_run

pytestmark = pytest.mark.plane

EXIT_CODE = 130
FINISHED_TRIALS_KEPT = [1, 2, 3]
CHILDREN_LEFT = 0
MESSAGE_WITHIN_S = 1
RESUME_RUNS = [4, 5, 6, 7, 8, 9, 10]


class Held:
    """Ends three trials with a word; later ones run the control plane and then wait for their second answer."""

    def __init__(self) -> None:
        self.lock, self.begun, self.waiting = threading.Lock(), 0, 0
        self.both_wait, self.released = threading.Event(), threading.Event()

    def __call__(self, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        messages = body["messages"]
        assert isinstance(messages, list)
        with self.lock:
            first = json.dumps(messages).count('"tool"') == 0
            self.begun += first
            number = self.begun
            self.waiting += not first
            if self.waiting == 2:
                self.both_wait.set()
        if self.released.is_set():
            return text("Done.")
        if not first:
            self.released.wait(PATIENCE_S)
            return text("Done.")
        found = re.search(r"loopx [^`\n]*quota should-run[^`\n]*", str(messages[-1]))
        if number <= 3 or found is None:
            return text("Done.")
        return call(found[0], f"call-{number}")


@pytest.fixture
def line(plane_home: Path, tmp_path: Path) -> CommandLine:
    """The command with folders of its own."""
    return CommandLine(plane_home, tmp_path)


def processes() -> dict[int, tuple[int, str]]:
    """Every process that is not a zombie: its parent, and when it started."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, *rest = place.read_text("utf-8").rpartition(")")[2].split()
            if state != "Z":
                found[int(place.parent.name)] = (int(parent), rest[17])
    return found


def descendants(ancestor: int) -> set[tuple[int, str]]:
    """Processes below one, by number and start: numbers are given again."""
    there = processes()
    below = {ancestor}
    while more := {pid for pid, (parent, _) in there.items() if parent in below} - below:
        below |= more
    return {(pid, there[pid][1]) for pid in below - {ancestor}}


def left(children: set[tuple[int, str]]) -> set[int]:
    """Those that still run, after as much time as a closed pipe takes to end them."""
    deadline = time.monotonic() + SOON_S
    while True:
        there = processes()
        found = {pid for pid, started in children if there.get(pid, (0, ""))[1] == started}
        if not found or time.monotonic() > deadline:
            return found
        threading.Event().wait(0.02)


@contextmanager
def interrupted(line: CommandLine, server: ChatServer, held: Held) -> Iterator[subprocess.Popen[bytes]]:
    """Ten trials, two at once, in a process group of their own, where three are finished and two are running."""
    actor = f"openai-compatible/toy-1@{server.url}"
    argv = ("run", "loopx/capability-repair", "--actor", actor, "--trials", "10", "-n", "2", "--yes-spend")
    with subprocess.Popen(
        [sys.executable, "-m", "harness", *argv, "--out", "out"],
        cwd=line.cwd,
        env=line.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    ) as process:
        try:
            assert held.both_wait.wait(PATIENCE_S)
            assert (line.cwd / "out/episodes.part.jsonl").read_bytes().count(b"\n") == 3
            assert descendants(process.pid)
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[bytes], number: signal.Signals) -> tuple[bytes, float]:
    """The line that a signal to the whole process group is answered with, and how many seconds that took."""
    assert process.stderr is not None
    started = time.monotonic()
    os.killpg(process.pid, number)
    return process.stderr.readline(), time.monotonic() - started


def trials(folder: Path) -> list[int]:
    return [receipt.trial for receipt in read_run(folder).receipts]


@pytest.mark.slow
def test_f006_once_finishes_what_is_in_flight_and_the_rest_is_played_later(line: CommandLine) -> None:
    held, out = Held(), line.cwd / "out"
    with serving(held) as server:
        with interrupted(line, server, held) as process:
            children = descendants(process.pid)
            said, seconds = told(process, signal.SIGINT)
            assert said.startswith(b"harness: finishing what is in flight")
            assert seconds < MESSAGE_WITHIN_S
            assert children & descendants(process.pid), "what is in flight still needs the control plane"
            held.released.set()
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == EXIT_CODE
        assert b"interrupted; 5 of 10 episodes are finished and kept in out" in err
        view = read_run(out)
        assert (view.manifest.state, trials(out)) == ("interrupted", [1, 2, 3, 4, 5])
        assert {receipt.outcome.status for receipt in view.receipts} == {"completed"}
        assert {"report.html", "junit.xml", "summary.txt"} <= {path.name for path in out.iterdir()}
        assert len(left(children)) == CHILDREN_LEFT
        kept = (out / "receipts.jsonl").read_bytes()
        again = line.run("run", "--resume", "out", "--yes-spend")
    assert again.returncode == 0, again.stderr
    assert b"5 of 10 episodes are finished; 5 are played now" in again.stderr
    assert (out / "receipts.jsonl").read_bytes().startswith(kept)
    assert trials(out) == list(range(1, 11))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["twice", "SIGTERM"])
def test_f006_twice_stops_now_and_what_was_running_is_gone_on_with(
    line: CommandLine, numbers: tuple[signal.Signals, ...]
) -> None:
    held, out = Held(), line.cwd / "out"
    with serving(held) as server:
        with interrupted(line, server, held) as process:
            children = descendants(process.pid)
            said, seconds = [told(process, number) for number in numbers][-1]
            assert said.startswith(b"harness: stopping now")
            assert seconds < MESSAGE_WITHIN_S
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == EXIT_CODE
        assert b"Traceback" not in err
        # valid files; what was running has no receipt and is neither passed nor failed
        view = read_run(out)
        assert (view.manifest.state, trials(out)) == ("interrupted", FINISHED_TRIALS_KEPT)
        assert {"report.html", "junit.xml", "summary.txt"} <= {path.name for path in out.iterdir()}
        assert len(list((out / "episodes").iterdir())) == 2
        assert len(left(children)) == CHILDREN_LEFT
        assert list(line.temporary.iterdir()) == []
        kept = (out / "receipts.jsonl").read_bytes()
        held.released.set()
        again = line.run("run", "--resume", "out", "--yes-spend")
    assert again.returncode == 0, again.stderr
    assert b"3 of 10 episodes are finished; 7 are played now" in again.stderr
    assert (out / "receipts.jsonl").read_bytes().startswith(kept)
    assert trials(out)[3:] == RESUME_RUNS
    assert {receipt.attempt for receipt in read_run(out).receipts} == {1}
