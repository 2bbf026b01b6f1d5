"""The bundled scenarios, played by the shipped recordings and their references, leave the receipts kept here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from machine import PATIENCE_S

from harness import wiring

pytestmark = pytest.mark.plane

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]


def played(plane_home: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """The plugin over the bundled scenarios."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-pno:cov", "-c", str(HERE / "shipped.ini"), "scenarios", *argv],
        cwd=REPOSITORY,
        env={**os.environ, "HARNESS_HOME": str(plane_home), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.mark.slow
def test_every_shipped_recording_and_reference_leaves_its_receipt(plane_home: Path) -> None:
    done = played(plane_home)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_one_snapshot_for_each_scenario_and_actor(plane_home: Path) -> None:
    place = wiring.settings({"HARNESS_HOME": str(plane_home)}, REPOSITORY)
    wanted = {
        f"{name}/{spec.identity.ref.replace(':', '-')}.json"
        for name in wiring.scenarios(place)
        for actor in ("recorded", "script")
        for spec in wiring.actor_specs(place, actor, wiring.load_scenario(place, name), ())
    }
    folder = HERE / "snapshots"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")} == wanted
