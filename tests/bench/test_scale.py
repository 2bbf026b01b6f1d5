"""Counting and telling of a large run keeps within its bounds of time and memory, in proportion."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from machine import yardstick_s

#: What it may take at most, which is half as much again as was seen.
YARDSTICKS = 110


@pytest.mark.slow
def test_a_fifth_of_the_largest_run_takes_a_fifth_of_what_that_may() -> None:
    """30 s and 1000 MB for 100,000 receipts, and for two runs of as many that are held against each other.

    The program itself is 80 MB of it, and takes some seconds to begin.
    """
    script = Path(__file__).with_name("scale.py")
    seconds = YARDSTICKS * max(yardstick_s() for _ in range(3))
    bounds = ["--receipts", "20000", "--require-seconds", str(seconds), "--require-mb", "264"]
    done = subprocess.run([sys.executable, str(script), *bounds], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fine") == 4
