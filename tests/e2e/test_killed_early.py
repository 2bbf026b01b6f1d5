"""A run that may end early is killed at the moments that count, and ends as if nobody had killed it.

Each moment is between two steps of the driver, where nothing is on its way: so nothing may be paid for twice.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S

from harness.schema.base import JsonValue

pytestmark = [pytest.mark.plane, pytest.mark.slow]

#: The command, in a process that kills itself when a step is taken for the nth time, before it or after it.
PROGRAM = """
import os
import signal
import sys

from harness.cli.main import main
from harness.receipt import RunStore
from harness.suite import runner

MOMENTS = {
    "before the look": (runner._Play, "look", False),
    "after the look": (runner._Play, "look", True),
    "before it is laid out": (RunStore, "finish", False),
    "before the manifest": (RunStore, "_write_manifest", False),
    "after the manifest": (RunStore, "_write_manifest", True),
}
kind, name, is_after = MOMENTS[sys.argv[1]]
nth, taken, real = int(sys.argv[2]), 0, getattr(kind, name)


def step(*given):
    global taken
    taken += 1
    if taken == nth and not is_after:
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(*given)
    if taken == nth:
        os.kill(os.getpid(), signal.SIGKILL)
    return done


setattr(kind, name, step)
sys.argv[1:3] = []
sys.exit(main())
"""
POLICIES = """
schema = 1
[policy.right]
script = "reference"
[policy.wrong-1]
script = "wrong:wrong_answer"
scenarios = ["registry/answers-after-last-tool-call"]
[policy.wrong-2]
script = "wrong:false_claim"
scenarios = ["registry/finalizes-without-false-claims"]
[policy.wrong-3]
script = "wrong:gave_up_after_refusal"
scenarios = ["registry/recovers-from-stale-version"]
[policy.wrong-4]
script = "wrong:claimed_that_it_is_done"
scenarios = ["registry/reports-blocked-honestly"]
[model.good]
policies = ["right"]
[model.bad]
policies = ["wrong-1", "wrong-2", "wrong-3", "wrong-4"]
"""
MODELS, SCENARIOS, TRIALS = ("good", "bad"), 4, 5
#: Trials after which they are told apart.
LOOKS = 3
#: Episodes of a trial.
ROUND = len(MODELS) * SCENARIOS


@dataclass
class Early:
    """A rehearsal server with its log of paid calls, and runs against it."""

    line: CommandLine
    log: Path
    address: str

    def words(self, out: str) -> tuple[str, ...]:
        """How a run is begun or gone on with: one episode at a time."""
        if (self.line.cwd / out).exists():
            return ("run", "--resume", out, "--yes-spend", "-n", "1")
        actors = [word for name in MODELS for word in ("--actor", f"openai-compatible/{name}@{self.address}")]
        more = ("--trials", str(TRIALS), "--early", "-n", "1", "--yes-spend", "--report", "junit", "--out", out)
        return ("run", "registry/*", *actors, *more)

    def kill(self, out: str, moment: str, nth: int = 1) -> None:
        """Begin a run, or go on with it; it is killed there."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, moment, str(nth), *self.words(out)],
            cwd=self.line.cwd,
            env=self.line.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL, (moment, done.stdout, done.stderr)

    def paid(self) -> Counter[tuple[str, str]]:
        """How often each call was paid for since it was asked last: by model and visit."""
        rows = list(map(json.loads, self.log.read_text("utf-8").splitlines()))
        self.log.write_text("", "utf-8")
        return Counter((row["model"], json.dumps(row["visit"], sort_keys=True)) for row in rows)

    def left(self, out: str) -> tuple[bytes, dict[str, JsonValue]]:
        """The receipts of a run that ended, and what its manifest says of its looks, its plan and its state."""
        folder = self.line.cwd / out
        manifest = json.loads((folder / "manifest.json").read_bytes())
        return (folder / "receipts.jsonl").read_bytes(), {name: manifest[name] for name in ("early", "plan", "state")}


@dataclass(frozen=True)
class Whole:
    """What a run that nobody killed left and paid."""

    early: Early
    left: tuple[bytes, dict[str, JsonValue]]
    paid: Counter[tuple[str, str]]


@pytest.fixture(scope="module")
def whole(plane_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    line = CommandLine(plane_home, tmp_path_factory.mktemp("early"))
    log, file = line.folder / "paid.jsonl", line.folder / "policies.toml"
    file.write_text(POLICIES, encoding="utf-8")
    served = line.start("wire", "rehearse", "--policies", str(file), "--seed", "3", "--log", str(log))
    assert served.stdout is not None
    address = json.loads(served.stdout.readline())["url"]
    try:
        early = Early(line, log, address)
        done = line.run(*early.words("whole"))
        assert done.returncode == 0, done.stderr
        yield Whole(early, early.left("whole"), early.paid())
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


#: So many episodes are finished where the chance of a test says so, within the first trial.
SOME = random.Random(5).randrange(2, ROUND - 1)  # noqa: S311  (a moment of a kill)
#: Where it is killed, one command after the other; each counts the steps that it takes itself.
CHAINS = {
    "before each look": (
        ("before the look", SOME),
        ("before the look", ROUND - SOME),
        ("before the look", (LOOKS - 1) * ROUND),
        ("after the manifest", 2),
    ),
    "after each look": (
        ("after the look", ROUND),
        ("after the look", SOME),
        ("before it is laid out", 1),
        ("before the manifest", 2),
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_a_run_that_is_killed_around_its_looks_ends_as_an_undisturbed_one(whole: Whole, chain: str) -> None:
    out = chain.replace(" ", "-")
    for moment, nth in CHAINS[chain]:
        whole.early.kill(out, moment, nth)
    last = whole.early.line.run(*whole.early.words(out))

    assert last.returncode == 0, last.stderr
    assert whole.early.left(out) == whole.left
    looks = whole.left[1]["early"]
    assert isinstance(looks, dict)
    assert looks["until"] == {f"openai-compatible/{name}": LOOKS for name in MODELS}
    assert whole.early.paid() == whole.paid
    assert set(whole.paid.values()) == {1}
