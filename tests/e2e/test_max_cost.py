"""A bound on the cost of a whole run, over real HTTP and the real control plane: held, and gone on with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S

pytestmark = pytest.mark.plane

SCENARIO = "loopx/selected-todo"
RUN = (SCENARIO, "--actor", "night", "--trials", "4", "-n", "2", "--set", "max_output_tokens=400")


@pytest.fixture
def rehearsed(line: CommandLine) -> Iterator[Path]:
    """A simulated model with a price; gives the log of every call that was paid for."""
    log = line.folder / "paid.jsonl"
    served = line.start("wire", "rehearse", SCENARIO, "--pass-rate", "sure=1", "--log", str(log))
    assert served.stdout is not None
    address = json.loads(served.stdout.readline())["url"]
    (line.cwd / "harness.toml").write_text(
        f'[actors.night]\nprovider = "openai-compatible"\nmodel = "sure"\nbase_url = "{address}"\n'
        "[actors.night.price]\ninput = 10\noutput = 100\n"
    )
    try:
        yield log
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


def entries(folder: Path, event: str) -> list[Decimal]:
    """Millionths of a dollar that were reserved or settled, in the order they were."""
    rows = map(json.loads, (folder / "spending.jsonl").read_text("utf-8").splitlines())
    return [Decimal(row["micro_usd"]) for row in rows if row["event"] == event]


def settled(folder: Path) -> list[Decimal]:
    return entries(folder, "settled")


@pytest.mark.slow
def test_a_run_within_its_bound_is_gone_on_with_and_pays_nothing_twice(line: CommandLine, rehearsed: Path) -> None:
    whole = line.run("run", *RUN, "--out", "whole", "--max-cost", "50")
    assert whole.returncode == 0, whole.stderr
    costs = settled(line.cwd / "whole")
    calls = len(rehearsed.read_text("utf-8").splitlines())
    assert len(costs) == calls
    bill = [
        Decimal(attempt["cost_micro_usd"])
        for row in map(json.loads, (line.cwd / "whole/run.jsonl").read_text("utf-8").splitlines())
        for attempt in row["attempts"]
    ]
    assert sorted(bill) == sorted(costs)
    assert b"cost: $" in whole.stdout

    # enough for any one call, and for half of what all of them cost
    half = (sum(costs, Decimal(0)) / 2 + max(entries(line.cwd / "whole", "reserved"))) / 1_000_000
    stopped = line.run("run", *RUN, "--out", "stopped", "--max-cost", f"{half:f}")
    assert stopped.returncode == 2, stopped.stderr
    assert b"--max-cost is reached" in stopped.stderr
    assert sum(settled(line.cwd / "stopped")) <= half * 1_000_000
    finished = (line.cwd / "stopped/receipts.jsonl").read_text("utf-8").splitlines()
    assert len(finished) < 4

    done = line.run("run", "--resume", "stopped", "--max-cost", "50")
    assert done.returncode == 0, done.stderr
    folders = [line.cwd / name for name in ("whole", "stopped")]
    assert len({(folder / "receipts.jsonl").read_bytes() for folder in folders}) == 1
    assert sorted(settled(folders[1])) == sorted(costs)
    assert len(rehearsed.read_text("utf-8").splitlines()) == 2 * calls
