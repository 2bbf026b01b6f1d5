"""Somebody's own repository with scenarios of its own, and pytest run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import PATIENCE_S

from harness import catalog, wiring
from harness.rehearsal import Rehearsal, rated
from harness.schema.run import EpisodeJob

__all__ = ["SCENARIO", "Project", "record"]

#: One file to read, one that is the wrong one, and a clock.
SCENARIO = """\
schema = 1
id = "team/look"
asks = "The agent reads the file that it is told to read."
plane = "loopx==0.4.8"

[limits]
model_turns = 3

[outcomes]
"limit_exceeded/model_turns" = "never_looked"

[workspace]
roots = ["project"]

[[workspace.file]]
at = ["project/right.json"]
text = '{"answer": 42}'

[[workspace.file]]
at = ["project/wrong.json"]
text = '{"answer": 41}'

[prompt]
user = "Read right.json."

[tool.exec]
about = "Runs one command."
argument = "cmd"
clock = "2026-08-12T00:00:00+08:00"
grammar = "loopx-0.4"
content = ["project/right.json"]

[[kind]]
name = "look"
read = "content"
failed = "look_failed"
sets = "seen"
[[kind]]
name = "clock"
read = "clock"
[[kind]]
name = "astray"
read = "other"
fatal = "wrong_file"

[end]
accept = ["seen"]
silence = [{ code = "gave_up" }]

[[check]]
kind = "look"
shows = { file = "project/right.json", reads = "all" }

[script]
reference = ["cat right.json"]
[script.right]
slowly = ["date", "cat right.json"]
[script.wrong]
wrong_file = ["cat wrong.json"]
gave_up = [{ content = "No." }]
"""


#: Plugins that this environment has for other tests, and that take their time to load.
_WITHOUT = tuple(f"-pno:{name}" for name in ("cov", "hypothesispytest", "anyio", "respx", "platformdirs"))


@dataclass(frozen=True)
class Project:
    """A folder with ``scenarios`` and ``recordings``, and where control planes are installed."""

    folder: Path
    home: Path

    def write(self, name: str, text: str) -> Path:
        """A file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def scenario(self, name: str = "team/look", text: str = SCENARIO) -> Path:
        """A scenario file, its id put in place."""
        return self.write(f"scenarios/{name}.toml", text.replace("team/look", name))

    def snapshots(self) -> dict[str, bytes]:
        """Every snapshot by its path."""
        files = sorted(self.folder.rglob("*.json"))
        return {
            str(path.relative_to(self.folder)): path.read_bytes() for path in files if ".pytest_cache" not in path.parts
        }

    def pytest(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run pytest in a process of its own, in 80 columns."""
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "COVERAGE_PROCESS_CONFIG"}}
        own = {"HARNESS_HOME": str(self.home), "HOME": str(self.folder), "COLUMNS": "80"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *_WITHOUT, *argv],
            cwd=self.folder,
            env={**kept, **own, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )


def record(project: Project, scenario: Path, model: str, pass_rate: float) -> Path:
    """Record a simulated model that always passes (rate 1) or never (0). The recording lies in the project."""
    place = wiring.settings({"HARNESS_HOME": str(project.home), "PATH": os.environ["PATH"]}, project.folder)
    loaded = wiring.load_scenario(place, str(scenario))
    codec = catalog.module("providers", "openai").build()
    before = set(project.folder.rglob("*.jsonl"))
    with Rehearsal([loaded.scenario], rated([loaded.scenario], {model: pass_rate}), 0, codec).serve() as serving:
        spec = wiring.actor_specs(place, f"openai-compatible/{model}@{serving.url}", loaded, ())[0]
        kept = wiring.keeping(place, [spec], project.folder / "recordings", "all", provenance="simulated")
        job = EpisodeJob(loaded=loaded, actor=spec, plane=wiring.plane_identity(place, loaded.scenario.plane))
        with wiring.Session(place, kept) as session:
            session.run(job)
    (made,) = set(project.folder.rglob("*.jsonl")) - before
    return made
