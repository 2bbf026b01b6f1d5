"""Counting and telling of a large run keeps within its bounds of time and memory, in proportion."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_fifth_of_the_largest_run_takes_a_fifth_of_what_that_may() -> None:
    """30 s and 1000 MB for 100,000 receipts, and for two runs of as many that are held against each other.

    The program itself is 80 MB of it, and takes some seconds to begin.
    """
    script = Path(__file__).with_name("scale.py")
    bounds = ["--receipts", "20000", "--require-seconds", "9", "--require-mb", "264"]
    done = subprocess.run([sys.executable, str(script), *bounds], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fine") == 4
