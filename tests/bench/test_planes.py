"""The warm control plane stays an order of magnitude faster than a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: The goal is 10; on a machine that runs other tests beside it, the gate leaves 30 %.
REQUIRED = 7


@pytest.mark.slow
@pytest.mark.plane
def test_warm_calls_are_an_order_of_magnitude_faster_than_cold_ones(plane_home: Path) -> None:
    script = Path(__file__).with_name("planes.py")
    done = subprocess.run(
        [sys.executable, str(script), "--home", str(plane_home), "--pairs", "12", "--require", str(REQUIRED)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cold / warm" in done.stdout
