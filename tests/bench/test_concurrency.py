"""The bench of live episodes plays them side by side, and says so where a number is missed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("concurrency.py")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The bench without the other side."""
    command = [sys.executable, str(SCRIPT), "--inspect", "/nowhere/python", "--runs", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_bench_plays_live_episodes_side_by_side_and_loses_none_in_a_storm() -> None:
    done = bench("--episodes", "64", "--require-bound", "1.5")
    assert "16 of 16 trials judged and passed" in done.stdout, done.stdout + done.stderr
    assert "Inspect AI was left out" in done.stdout
    assert "a required number was missed: the bound\n" in done.stdout
    assert done.returncode == 1
