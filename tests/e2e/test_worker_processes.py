"""Live models played in processes of their own: what is shared is held once, and a run is that of threads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S
from pydantic import JsonValue

pytestmark = pytest.mark.slow

POLICIES = """
schema = 1
[policy.right]
script = "reference"
[model.quick]
policies = ["right"]
latency_ms = 20
[model.storm]
policies = ["right"]
latency_ms = 5
fault = [{ kind = "status", status = 429, retry_after_s = 0.05, rate = 0.3 }]
[model.slow]
policies = ["right"]
latency_ms = 700
"""


@dataclass
class Rehearsed:
    """A simulated provider, the log of what was paid for there, and the command that plays against it."""

    line: CommandLine
    log: Path
    url: str

    def words(self, model: str, pool: str, out: str, *more: str) -> tuple[str, ...]:
        """Eight episodes, four at a time."""
        actor = ("--actor", model, "--set", "max_output_tokens=200")
        several = ("--trials", "2", "-n", "4", "--pool", pool, "--report", "junit", "--out", out)
        return ("run", "registry/*", *actor, *several, *more)

    def paid(self) -> Counter[str]:
        """How often each call was paid for: by model and visit."""
        rows = map(json.loads, self.log.read_text("utf-8").splitlines())
        return Counter(json.dumps([row["model"], row["visit"]], sort_keys=True) for row in rows)

    def receipts(self, out: str) -> bytes:
        """Of a finished run."""
        return (self.line.cwd / out / "receipts.jsonl").read_bytes()


@pytest.fixture
def rehearsed(tmp_path: Path) -> Iterator[Rehearsed]:
    """The provider with its three models, which have a price."""
    line = CommandLine(tmp_path / "no planes", tmp_path)
    log = tmp_path / "paid.jsonl"
    (line.cwd / "policies.toml").write_text(POLICIES, "utf-8")
    served = line.start("wire", "rehearse", "registry/*", "--policies", "policies.toml", "--log", str(log))
    assert served.stdout is not None
    url = json.loads(served.stdout.readline())["url"]
    (line.cwd / "harness.toml").write_text(
        "".join(
            f'[actors.{model}]\nprovider = "openai-compatible"\nmodel = "{model}"\nbase_url = "{url}"\n'
            f"[actors.{model}.price]\ninput = 10\noutput = 100\n"
            for model in ("quick", "storm", "slow")
        )
    )
    try:
        yield Rehearsed(line, log, url)
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


def rows_of(run: Path, name: str) -> list[dict[str, JsonValue]]:
    """The lines of a file of a run folder."""
    return [json.loads(row) for row in (run / name).read_text("utf-8").splitlines()]


def told(run: Path) -> list[dict[str, JsonValue]]:
    """What the log of a run tells besides times and places."""
    timed = ("seconds", "_at", "workspace")

    def bare(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {name: bare(one) for name, one in value.items() if not name.endswith(timed)}
        return [bare(one) for one in value] if isinstance(value, list) else value

    found = []
    for row in rows_of(run, "run.jsonl"):
        clean = bare(row)
        assert isinstance(clean, dict)
        found.append(clean)
    return found


@pytest.mark.parametrize("model", ["quick", "storm"])
def test_a_run_in_processes_is_that_of_threads(rehearsed: Rehearsed, model: str) -> None:
    for pool in ("threads", "processes"):
        done = rehearsed.line.run(*rehearsed.words(model, pool, pool, "--max-cost", "90", "--retries", "9"))
        assert done.returncode == 0, done.stderr
    one, other = (rehearsed.line.cwd / pool for pool in ("threads", "processes"))
    assert rehearsed.receipts("threads") == rehearsed.receipts("processes")
    assert told(one) == told(other)
    manifests = [json.loads((run / "manifest.json").read_text("utf-8")) for run in (one, other)]
    assert manifests[0]["plan"] == manifests[1]["plan"]
    assert manifests[0]["receipts"] == manifests[1]["receipts"]
    spent = [Counter((row["attempt"], row["event"]) for row in rows_of(run, "spending.jsonl")) for run in (one, other)]
    assert spent[0] == spent[1]
    last = {(row["scenario"], row["trial"]): row["verdict"] for row in rows_of(other, "receipts.jsonl")}
    assert list(last.values()) == ["pass"] * 8


def test_a_bound_on_the_cost_holds_for_all_processes_together(rehearsed: Rehearsed) -> None:
    whole = rehearsed.line.run(*rehearsed.words("quick", "processes", "whole", "--max-cost", "90"))
    assert whole.returncode == 0, whole.stderr
    entries = rows_of(rehearsed.line.cwd / "whole", "spending.jsonl")
    cost = sum((Decimal(str(row["micro_usd"])) for row in entries if row["event"] == "settled"), Decimal(0))
    most = max(Decimal(str(row["micro_usd"])) for row in entries if row["event"] == "reserved")
    bound = cost / 2 + most

    stopped = rehearsed.line.run(
        *rehearsed.words("quick", "processes", "stopped", "--max-cost", f"{bound / 1_000_000:f}")
    )

    assert (stopped.returncode, b"--max-cost is reached" in stopped.stderr) == (2, True), stopped.stderr
    standing: dict[object, Decimal] = {}
    for row in rows_of(rehearsed.line.cwd / "stopped", "spending.jsonl"):
        standing[row["attempt"]] = Decimal(str(row["micro_usd"]))
        assert sum(standing.values()) <= bound
    done = rehearsed.line.run("run", "--resume", "stopped", "--max-cost", "90", "-n", "4", "--pool", "processes")
    assert done.returncode == 0, done.stderr
    assert rehearsed.receipts("stopped") == rehearsed.receipts("whole")
    assert set(rehearsed.paid().values()) == {2}


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes that play for it."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()
    return [int(pid) for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def until(is_so: Callable[[], bool]) -> None:
    """Wait for it."""
    waited = threading.Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        if is_so():
            return
        waited.wait(0.02)
    raise AssertionError


def lives(pid: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def begun(rehearsed: Rehearsed, *more: str) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A run of the slow model in which some calls are answered, and the processes that play it."""
    process = rehearsed.line.start(*rehearsed.words("slow", "processes", "out", "--yes-spend", *more))
    until(lambda: rehearsed.log.exists() and rehearsed.log.read_bytes().count(b"\n") > 5)
    return process, children(process)


def undisturbed(rehearsed: Rehearsed) -> bytes:
    """The receipts of such a run to which nothing happens."""
    done = rehearsed.line.run(*rehearsed.words("slow", "threads", "undisturbed", "--yes-spend"))
    assert done.returncode == 0, done.stderr
    return rehearsed.receipts("undisturbed")


def gone_on_with(rehearsed: Rehearsed) -> bytes:
    """The receipts of the disturbed run, once it was gone on with in processes."""
    done = rehearsed.line.run("run", "--resume", "out", "--yes-spend", "-n", "4", "--pool", "processes")
    assert done.returncode == 0, done.stderr
    return rehearsed.receipts("out")


def test_processes_end_with_a_driver_that_is_killed_and_the_run_is_gone_on_with(rehearsed: Rehearsed) -> None:
    process, playing = begun(rehearsed)
    assert len(playing) == min(os.cpu_count() or 1, 4)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    until(lambda: not any(map(lives, playing)))
    before = rehearsed.paid()

    receipts = gone_on_with(rehearsed)

    repeated = [call for call, count in rehearsed.paid().items() if count > 1]
    assert len(repeated) <= 4  # what was waited for when the driver was killed
    assert set(before) <= set(rehearsed.paid())
    assert receipts == undisturbed(rehearsed)


def test_a_process_that_is_killed_loses_its_episodes_only_and_they_are_gone_on_with(rehearsed: Rehearsed) -> None:
    process, playing = begun(rehearsed)
    os.kill(playing[0], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE_S)
    lost = min(4, 8) // len(playing) + 4 % len(playing)
    assert process.returncode == 2
    assert b"cut off: a process that played episodes was ended from outside" in err
    left = rows_of(rehearsed.line.cwd / "out", "receipts.jsonl")
    assert 8 - lost <= len(left) < 8
    assert gone_on_with(rehearsed) == undisturbed(rehearsed)


@pytest.mark.parametrize(("signals", "finished"), [([signal.SIGINT], True), ([signal.SIGINT, signal.SIGINT], False)])
def test_ctrl_c_once_finishes_what_is_in_flight_and_twice_ends_it(
    rehearsed: Rehearsed, signals: list[signal.Signals], finished: bool
) -> None:
    process, playing = begun(rehearsed)
    assert process.stderr is not None
    for number in signals:
        process.send_signal(number)
        assert process.stderr.readline().startswith(b"harness: ")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    kept = rows_of(rehearsed.line.cwd / "out", "receipts.jsonl")
    assert (len(kept) >= 4) is finished
    assert not any(map(lives, playing))
    assert gone_on_with(rehearsed) == undisturbed(rehearsed)


def test_whoever_ends_the_whole_group_ends_a_run_that_is_gone_on_with(rehearsed: Rehearsed) -> None:
    process, playing = begun(rehearsed)
    for pid in (*playing, process.pid):
        os.kill(pid, signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert gone_on_with(rehearsed) == undisturbed(rehearsed)
    assert max(rehearsed.paid().values()) <= 3
