"""The real control plane sees the scenario's time where the scenario says so, warm and cold, and the run says it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import CommandLine

from harness import wiring
from harness.receipt import read_run
from harness.schema.run import EpisodeJob, EpisodeOptions

pytestmark = pytest.mark.plane

BUNDLED = Path(__file__).parents[2] / "scenarios/loopx/capability-repair.toml"
#: In UTC, what the tools of that scenario tell.
TOLD = "2026-08-11T16:00:00"


def fixed(folder: Path) -> Path:
    """The bundled scenario with a clock that stands still."""
    (folder / "scenarios/mine").mkdir(parents=True)
    path = folder / "scenarios/mine/still.toml"
    text = BUNDLED.read_text("utf-8").replace('id = "loopx/capability-repair"', 'id = "mine/still"', 1)
    path.write_text(text.replace("[call]\n", '[call]\nclock = "fixed"\n', 1), "utf-8")
    for extra in BUNDLED.parent.glob("capability-repair.*"):
        if extra != BUNDLED:
            shutil.copy(extra, path.with_name(extra.name.replace("capability-repair", "still")))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["warm", "cold"])
def test_loopx_records_what_happened_at_the_scenarios_time(plane_home: Path, tmp_path: Path, executor: str) -> None:
    place = wiring.settings({"HARNESS_HOME": str(plane_home), "PATH": "/usr/local/bin:/usr/bin:/bin"})
    seen = {}
    for path in (fixed(tmp_path), BUNDLED):
        loaded = wiring.load_scenario(place, str(path))
        plane = wiring.plane_identity(place, loaded.scenario.plane)
        spec = wiring.actor_specs(place, "script", loaded, ())[0]
        options = EpisodeOptions.model_validate({"executor": executor})
        with wiring.Session(place) as session:
            result, trace = session.trace(EpisodeJob(loaded=loaded, actor=spec, plane=plane, options=options))
        assert result.receipt.verdict == "pass"
        assert trace is not None
        seen[path] = [step.observation.text for step in trace.steps if step.observation and step.reached_plane]
    still, moving = seen.values()
    assert any(TOLD in text for text in still)
    assert not any(TOLD in text for text in moving)


@pytest.mark.slow
def test_the_manifest_names_the_scenarios_whose_clock_stood_still(plane_home: Path, tmp_path: Path) -> None:
    line = CommandLine(plane_home, tmp_path)
    fixed(line.cwd)
    done = line.run("run", "mine/still", "loopx/capability-repair", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert read_run(line.cwd / "out").manifest.enforcement.fixed_clocks == ("mine/still",)
