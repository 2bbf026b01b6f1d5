"""Whole episodes are played, counted and kept by the bench, and a run's memory does not grow with each of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("episodes.py")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The bench without the other side."""
    command = [sys.executable, str(SCRIPT), "--inspect", "/nowhere/python", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_bench_plays_whole_episodes_in_bounded_memory() -> None:
    # of 500 episodes more the results alone, if they stayed, would be twice as much; what is remembered is there by 250
    done = bench("--small", "250", "--large", "750", "--require-memory", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the comparison with Inspect AI was left out" in done.stdout
    assert "MiB more" in done.stdout


@pytest.mark.slow
def test_the_bench_says_so_where_a_number_is_missed() -> None:
    done = bench("--small", "1", "--large", "2", "--require-memory", "-1000")
    assert done.returncode == 1
    assert "a required number was missed" in done.stdout
