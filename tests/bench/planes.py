"""Cold and warm calls of the real control plane, interleaved: ``python tests/bench/planes.py [--require RATIO]``.

Installs loopx below ``--home`` where it is missing. Medians in milliseconds; only their ratio is worth comparing
between machines.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.controlplanes.loopx import LoopxPlane, open_plane
from harness.executors.process import ProcessExecutor
from harness.executors.warm import WarmExecutor
from harness.provision import InstalledPlane, install
from harness.schema.process import ProcessCommand

GOAL, AGENT = "bench-goal", "bench-agent"
STATE = """---
goal_id: bench-goal
status: active
---

# Objective

Measure one guard.

## Next Action

Read the note.

## Agent Todo

- [ ] [P0] Read project/NOTE.md and report it.
  <!-- loopx:todo todo_id=todo_bench0000001 status=open task_class=advancement_task action_kind=read_note -->
"""


def build_workspace(root: Path) -> Path:
    """A project that loopx accepts; returns its directory."""
    project, registry = (
        root / "project",
        {
            "schema_version": "0.1",
            "common_runtime_root": str(root / "runtime"),
            "goals": [
                {
                    "id": GOAL,
                    "domain": "bench",
                    "status": "active",
                    "repo": str(root / "project"),
                    "state_file": f".codex/goals/{GOAL}/ACTIVE_GOAL_STATE.md",
                    "adapter": {"kind": "fixture_connected_delivery_v0", "status": "connected-delivery"},
                    "coordination": {"registered_agents": [AGENT], "agent_model": "peer_v1"},
                    "authority_sources": [],
                    "quota": {"compute": 1.0, "window_hours": 24, "allowed_slots": 5},
                }
            ],
        },
    )
    (project / ".loopx").mkdir(parents=True)
    (project / ".loopx" / "registry.json").write_text(json.dumps(registry), "utf-8")
    state = project / ".codex" / "goals" / GOAL / "ACTIVE_GOAL_STATE.md"
    state.parent.mkdir(parents=True)
    state.write_text(STATE, "utf-8")
    (root / "process-home").mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)  # noqa: S607  (whatever git the user has)
    return project


def guard(turn: str) -> tuple[str, ...]:
    """The arguments of one quota guard."""
    registry = ".loopx/registry.json"
    who = ("--goal-id", GOAL, "--agent-id", AGENT, "--available-capability", "shell", "--codex-app")
    return ("--format", "json", "--registry", registry, "quota", "should-run", *who, "--turn-instance-id", turn)


def opened(installed: InstalledPlane, project: Path, executor: ProcessExecutor | WarmExecutor) -> LoopxPlane:
    """The control plane in that project."""
    home, path = project.parent / "process-home", os.environ["PATH"]
    return open_plane(installed, executor=executor, cwd=project, process_home=home, search_path=path)


def measure(planes: dict[str, LoopxPlane], pairs: int) -> dict[str, list[float]]:
    """Milliseconds of each plane's guards, in turn. Raises SystemExit where a guard fails."""
    times: dict[str, list[float]] = {name: [] for name in planes}
    for number in range(-2, pairs):  # two rounds so that what is loaded late is there
        for name, plane in planes.items():
            start = time.perf_counter()
            done = plane.invoke(guard(f"bench-{name}-{number}"), timeout_s=60, output_bytes=4_194_304)
            spent = (time.perf_counter() - start) * 1000
            if done.exit_code != 0:
                raise SystemExit(f"{name}: the guard exits {done.exit_code}: {done.stderr[:300]!r}")
            if number >= 0:
                times[name].append(spent)
    return times


def plain(executor: ProcessExecutor, rounds: int) -> list[float]:
    """Milliseconds of a process that does nothing."""
    command, times = ProcessCommand(argv=("true",), cwd="/", env={"PATH": os.environ["PATH"]}), []
    for _ in range(rounds):
        start = time.perf_counter()
        executor.run(command)
        times.append((time.perf_counter() - start) * 1000)
    return times


def main() -> int:
    """Measure, print, and judge where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(os.environ.get("HARNESS_TEST_HOME", ".stamp/harness-home")))
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--require", type=float, default=0.0, help="exit 1 where cold / warm is below this ratio")
    options = parser.parse_args()
    installed = install("loopx==0.4.8", home=options.home)
    cold = ProcessExecutor()
    warm = WarmExecutor(installed.python, fallback=cold)
    with tempfile.TemporaryDirectory() as folder:
        project = build_workspace(Path(folder).resolve())
        both = {"cold": opened(installed, project, cold), "warm": opened(installed, project, warm)}
        times = measure(both, options.pairs)
        times["true"] = plain(cold, options.pairs)
    gone_cold = warm.counts.cold
    warm.close()
    cold.close()
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["cold"] / medians["warm"]
    sys.stdout.write(
        f"quota should-run, medians of {options.pairs} interleaved pairs: "
        f"cold {medians['cold']:.1f} ms, warm {medians['warm']:.1f} ms, cold / warm {ratio:.1f}\n"
        f"true through the cold executor: {medians['true']:.2f} ms\n"
    )
    if gone_cold:
        sys.stdout.write(f"{gone_cold} warm calls had to run cold\n")
    if ratio < options.require:
        sys.stdout.write(f"below the required ratio of {options.require:g}\n")
    return int(bool(gone_cold) or ratio < options.require)


if __name__ == "__main__":
    sys.exit(main())
