"""Every single check is needed: without it at least one numbered case is red."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from machine import PATIENCE_S

from harness.episode.call import CALL
from harness.episode.turn import TURN

HERE = Path(__file__).resolve().parent
STEPS = [
    *(f"harness.episode.turn:TURN:{name}" for name, _ in TURN),
    *(f"harness.episode.call:CALL:{name}" for name, _ in CALL),
]


def numbered(removed: str | None) -> subprocess.CompletedProcess[bytes]:
    """The numbered cases of the episode, up to the first that fails; without a step where one is given."""
    plugin = () if removed is None else ("-p", "removed_step")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-m",
            "case and not slow",
            "-p",
            "no:cacheprovider",
            *plugin,
            str(HERE),
        ],
        cwd=HERE.parent.parent.parent,
        env={**os.environ, "REMOVED_STEP": removed or ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.mark.slow
def test_with_all_steps_every_numbered_case_is_green() -> None:
    done = numbered(None)
    assert done.returncode == 0, done.stdout.decode()


@pytest.mark.slow
@pytest.mark.parametrize("removed", STEPS)
def test_without_a_step_a_numbered_case_is_red(removed: str) -> None:
    done = numbered(removed)
    assert (done.returncode, b"\nFAILED " in done.stdout or b" failed" in done.stdout) == (1, True), (
        done.stdout.decode()
    )
