"""A nightly that is killed is gone on with: the same receipts, and no call is paid for twice without a flag."""

from __future__ import annotations

import json
import random
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S

from harness.recording import load

pytestmark = pytest.mark.plane

SCENARIO = "loopx/selected-todo"
REPOSITORY = Path(__file__).resolve().parents[2]


class Nightly:
    """A rehearsal server, and runs of one model against it."""

    def __init__(self, line: CommandLine, log: Path, address: str) -> None:
        self.line, self.log, self.forgotten, self.address, self.model = line, log, 0, address, "night"

    @property
    def asked(self) -> tuple[str, ...]:
        """What a run is told besides the scenario and its folder."""
        return ("--actor", f"openai-compatible/{self.model}@{self.address}", "--trials", "4", "-n", "2", "--yes-spend")

    def calls(self) -> list[tuple[str, str]]:
        """Every call that was paid for since ``forget``: model and visit."""
        rows = map(json.loads, self.log.read_text("utf-8").splitlines()[self.forgotten :])
        return [(row["model"], json.dumps(row["visit"], sort_keys=True)) for row in rows]

    def forget(self) -> Counter[tuple[str, str]]:
        """Count from here on; returns what was paid for before."""
        paid = self.calls()
        self.forgotten += len(paid)
        return Counter(paid)

    def begun(self, out: str, calls: int, stop: signal.Signals, *more: str, again: bool = False) -> int:
        """Begin a run, or go on with it, and end it by a signal once so many more calls were paid for."""
        argv = ("--resume", out, "--yes-spend") if again else (SCENARIO, *self.asked, "--out", out)
        argv = (*argv, *more)
        before = len(self.calls())
        process = self.line.start("run", *argv)
        waiting = threading.Event()
        while len(self.calls()) < before + calls and process.poll() is None:
            waiting.wait(0.02)
        process.send_signal(stop)
        process.communicate(timeout=PATIENCE_S)
        return process.returncode

    def flagged(self, out: str) -> int:
        """Calls that were made again, all of them in episodes that say so."""
        rows = list(map(json.loads, (self.line.cwd / out / "run.jsonl").read_text("utf-8").splitlines()))
        again = [row for row in rows for attempt in row["attempts"] if attempt["attempt"] > 1]
        assert all("duplicate_risk" in row["recovery"] for row in again)
        return len(again)


@pytest.fixture
def nightly(line: CommandLine) -> Iterator[Nightly]:
    log = line.folder / "paid.jsonl"
    served = line.start(
        *("wire", "rehearse", SCENARIO, "--pass-rate", "night=0.6", "--pass-rate", "sure=1"),
        *("--latency-ms", "100-200", "--log", str(log)),
    )
    assert served.stdout is not None
    address = json.loads(served.stdout.readline())["url"]
    try:
        yield Nightly(line, log, address)
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


@pytest.mark.slow
def test_a_run_that_is_stopped_is_gone_on_with_and_pays_nothing_twice(nightly: Nightly) -> None:
    nightly.model = "sure"
    whole = nightly.line.run("run", SCENARIO, *nightly.asked, "--out", "whole")
    assert whole.returncode == 0
    undisturbed = nightly.forget()

    assert nightly.begun("stopped", 3, signal.SIGHUP) == 130
    left = [path for path in (nightly.line.cwd / "stopped/episodes").rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in left} == {0o700}
    told = nightly.line.run("run", SCENARIO, "--resume", "stopped", "--yes-spend")
    assert (told.returncode, told.stderr.count(b"\n")) == (4, 1)
    done = nightly.line.run("run", "--resume", "stopped", "--yes-spend")

    assert done.returncode == 0, done.stderr
    assert b"of 4 episodes are finished" in done.stderr
    folders = [nightly.line.cwd / name for name in ("whole", "stopped")]
    assert len({(folder / "receipts.jsonl").read_bytes() for folder in folders}) == 1
    assert not (folders[1] / "episodes").exists()
    paid = nightly.calls()
    assert sum((Counter(paid) - undisturbed).values()) <= nightly.flagged("stopped")
    again = nightly.line.run("run", "--resume", "stopped", "--yes-spend")
    assert (again.returncode, nightly.calls()) == (0, paid)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(nightly: Nightly, seed: int) -> None:
    assert nightly.line.run("run", SCENARIO, *nightly.asked, "--out", "whole").returncode == 0
    undisturbed = nightly.forget()
    chance = random.Random(seed)  # noqa: S311  (moments of kills)
    for number in range(3):
        nightly.begun("killed", chance.randint(1, 4), signal.SIGKILL, again=number > 0)
        looked = nightly.line.run("verify", "killed", "--format", "jsonl")
        (row,) = map(json.loads, looked.stdout.splitlines())
        assert (looked.returncode in {0, 2}, row["flaws"]) == (True, [])
        assert all("is gone" in one["problem"] for one in row["told"])
    done = nightly.line.run("run", "--resume", "killed", "--yes-spend")

    lines = [
        (nightly.line.cwd / name / "receipts.jsonl").read_text("utf-8").splitlines() for name in ("whole", "killed")
    ]
    # a call that was cut off twice is not made a third time: its episode waits for a decision, and says so
    waiting = [line for line in lines[1] if '"reconciliation_required"' in line]
    assert done.returncode == (3 if waiting else 0), done.stderr
    assert len(lines[1]) == len(lines[0])
    assert sum(one != other for one, other in zip(*lines, strict=True)) == len(waiting)
    paid = Counter(nightly.calls())
    assert waiting or paid.keys() == undisturbed.keys()
    assert sum((paid - undisturbed).values()) <= nightly.flagged("killed")
    assert list(nightly.line.temporary.iterdir()) == []


@pytest.mark.slow
def test_an_episode_of_unknown_outcome_waits_for_a_decision_and_does_what_was_decided(nightly: Nightly) -> None:
    """Every answer takes longer than the scenario waits for one."""
    line = nightly.line
    own = line.cwd / "scenarios" / f"{SCENARIO}.toml"
    own.parent.mkdir(parents=True)
    text = (REPOSITORY / "scenarios" / f"{SCENARIO}.toml").read_text("utf-8")
    own.write_text(text.replace("[limits]\n", "[limits]\nmodel_call_s = 0.02\n", 1), encoding="utf-8")
    asked = ("--actor", f"openai-compatible/sure@{nightly.address}", "--trials", "2", "--yes-spend")
    line.run("run", SCENARIO, *asked, "--out", "waits")
    assert len(list((line.cwd / "waits/episodes").iterdir())) == 2
    paid = nightly.calls()

    for words, problem in (
        (("--decide", "1=abort"), b"beside --resume"),
        (("--resume", "waits", "--decide", "1=maybe"), b"allowed: NUMBER=DECISION"),
        (("--resume", "waits", "--decide", "3=abort"), b"has 2 episodes"),
        (("--resume", "waits", "--decide", "1=replay_success:none"), b"none"),
    ):
        told = line.run("run", *words, "--yes-spend")
        assert (told.returncode, told.stderr.count(b"\n")) == (4, 1), words
        assert problem in told.stderr

    done = line.run("run", "--resume", "waits", "--decide", "1=abort", "--decide", "2=record_failure", "--yes-spend")
    assert done.returncode == 2, done.stderr
    rows = map(json.loads, (line.cwd / "waits/receipts.jsonl").read_text("utf-8").splitlines())
    assert [row["outcome"]["reason"] for row in rows] == ["operator_abort", "model_error"]
    assert not (line.cwd / "waits/episodes").exists()
    assert nightly.calls() == paid
    again = line.run("run", "--resume", "waits", "--decide", "1=retry", "--yes-spend")
    assert (again.returncode, again.stderr.count(b"\n")) == (4, 1)


def conversations(folder: Path) -> dict[str, list[str]]:
    """What was asked in the recordings of a run, without what differs between two runs, by their names."""
    paths = (folder / "recordings").rglob("*.jsonl")
    return {path.name: [one.key for one in load(path).exchanges] for path in paths}


@pytest.mark.slow
def test_the_recordings_of_a_killed_run_are_those_of_an_undisturbed_one(nightly: Nightly) -> None:
    whole, killed = (nightly.line.cwd / name for name in ("whole", "killed"))
    assert nightly.line.run("run", SCENARIO, *nightly.asked, "--out", "whole", "--keep", "all").returncode == 0
    nightly.forget()
    for number, calls in enumerate((2, 3)):
        # said once: whoever goes on keeps what the run was to keep
        nightly.begun("killed", calls, signal.SIGKILL, *(() if number else ("--keep", "all")), again=number > 0)
    assert list(killed.rglob("*.partial")) != []
    done = nightly.line.run("run", "--resume", "killed", "--yes-spend")
    assert done.returncode == 0, done.stderr
    assert conversations(killed) == conversations(whole)
    assert len(conversations(killed)) == 4
    assert [path for path in killed.rglob("*") if path.name.endswith((".partial", ".part"))] == []
    assert not (killed / "episodes").exists()
    actors = [f"recorded:{path}" for path in sorted((killed / "recordings").rglob("*.jsonl"))]
    replayed = nightly.line.run(
        "run", SCENARIO, *(word for one in actors for word in ("--actor", one)), "--out", "again"
    )
    verdicts = [
        Counter(json.loads(line)["verdict"] for line in (folder / "receipts.jsonl").read_text("utf-8").splitlines())
        for folder in (killed, nightly.line.cwd / "again")
    ]
    assert verdicts[0] == verdicts[1], replayed.stderr


def test_who_goes_on_with_a_run_that_somebody_writes_is_refused_by_the_others_process(nightly: Nightly) -> None:
    nightly.begun("twice", 1, signal.SIGKILL)
    first = nightly.line.start("run", "--resume", "twice", "--yes-spend")
    paid, waiting = len(nightly.calls()), threading.Event()
    while len(nightly.calls()) == paid and first.poll() is None:
        waiting.wait(0.01)
    assert first.poll() is None
    second = nightly.line.run("run", "--resume", "twice", "--yes-spend")
    assert second.returncode == 4
    (line,) = [line for line in second.stderr.splitlines() if b"another run is writing here" in line]
    assert b"(process %d)" % first.pid in line
    first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0


def test_two_runs_at_once_are_both_in_the_history(line: CommandLine) -> None:
    runs = [line.start("run", SCENARIO, "--out", f"reports/{name}") for name in ("one", "two")]
    for process in runs:
        _, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, b"")
    listed = line.run("history", "list", "--format", "jsonl")
    assert sorted(json.loads(row)["folder"] for row in listed.stdout.splitlines()) == ["one", "two"]
