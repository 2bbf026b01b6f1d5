"""The real loopx, warm and cold, byte for byte, the time of day standing still."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.executors.process import ProcessExecutor
from harness.executors.warm import WarmCounts, WarmExecutor
from harness.provision import find
from harness.schema.process import Completed, ProcessCommand

pytestmark = pytest.mark.plane

STATE = """---
goal_id: parity-goal
status: active
---

# Objective

Compare two ways of running one call.

## Agent Todo

- [ ] [P0] Read project/NOTE.md and report it.
  <!-- loopx:todo todo_id=todo_parity000001 status=open task_class=advancement_task action_kind=read_note -->
"""
WHO = ("--goal-id", "parity-goal", "--agent-id", "parity-agent")
LOCAL = ("--format", "json", "--registry", ".loopx/registry.json")
GUARD = ("quota", "should-run", *WHO, "--available-capability", "shell", "--codex-app", "--turn-instance-id", "t-1")


@dataclass(frozen=True)
class Planes:
    python: Path
    cold: ProcessExecutor
    warm: WarmExecutor
    node: str = ""


@pytest.fixture(scope="module")
def planes(plane_home: Path) -> Iterator[Planes]:
    installed = find("loopx", "0.4.8", plane_home)
    assert installed is not None
    time = datetime(2026, 9, 1, 12, 30, tzinfo=UTC)
    cold = ProcessExecutor(plane_time=time)
    warm = WarmExecutor(installed.python, fallback=cold, plane_time=time)
    yield Planes(installed.python, cold, warm)
    warm.close()
    cold.close()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "world"
    project = root / "project"
    goal = {
        "id": "parity-goal",
        "domain": "parity",
        "status": "active",
        "repo": str(project),
        "state_file": ".codex/goals/parity-goal/ACTIVE_GOAL_STATE.md",
        "adapter": {"kind": "fixture_connected_delivery_v0", "status": "connected-delivery"},
        "coordination": {"registered_agents": ["parity-agent"], "agent_model": "peer_v1"},
        "authority_sources": [],
        "quota": {"compute": 1.0, "window_hours": 24, "allowed_slots": 5},
    }
    registry = {"schema_version": "0.1", "common_runtime_root": str(root / "runtime"), "goals": [goal]}
    for place in (project / ".loopx" / "registry.json", root / "home" / ".codex" / "loopx" / "registry.global.json"):
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(registry), "utf-8")
    state = project / ".codex" / "goals" / "parity-goal" / "ACTIVE_GOAL_STATE.md"
    state.parent.mkdir(parents=True)
    state.write_text(STATE, "utf-8")
    (root / "empty").mkdir()
    return root


def run_in(
    planes: Planes, executor: ProcessExecutor | WarmExecutor, world: Path, args: tuple[str, ...], env: dict[str, str]
) -> Completed:
    base = {
        "PATH": os.environ["PATH"],
        "HOME": str(world / "empty"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    changed = {name: value.replace("{world}", str(world)) for name, value in env.items()}
    return executor.run(
        ProcessCommand(
            argv=(str(planes.python), "-m", "loopx.cli", *(arg.replace("{world}", str(world)) for arg in args)),
            cwd=str(world / "project"),
            env=base | changed,
        )
    )


#: Chance numbers and process ids are the only things that may differ once time stands still.
CHANCE = re.compile(rb"[0-9a-f]{12,64}|(?<=\"pid\":)[0-9]+|[0-9]+(?=\.write-probe)")


def contents(world: Path) -> dict[str, bytes]:
    files = (path for path in sorted(world.rglob("*")) if path.is_file())
    return {str(path.relative_to(world)): CHANCE.sub(b"<id>", path.read_bytes()) for path in files}


CALLS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    ((*LOCAL, *GUARD), {}),
    (("--registry", "{world}/home/.codex/loopx/registry.global.json", *GUARD), {}),
    (("--format", "json", *GUARD), {}),
    (("--format", "json", *GUARD), {"HOME": "{world}/home"}),
    (("--format", "json", *GUARD), {"LOOPX_REGISTRY": "{world}/home/.codex/loopx/registry.global.json"}),
    (("--format", "json", *GUARD), {"LOOPX_REGISTRY": "~/no-such-registry.json"}),
    ((*LOCAL, "status"), {}),
    (("--format", "json", "doctor"), {}),
    (("--format", "json", "doctor"), {"HOME": "{world}/home"}),
    (("doctor",), {"HOME": "{world}/other"}),
    ((*LOCAL, "heartbeat-prompt", *WHO, "--available-capability", "shell", "--codex-app", "--thin"), {}),
    ((*LOCAL, "todo", "list", "--goal-id", "parity-goal"), {}),
    ((*LOCAL, "check"), {}),
    (("--version",), {}),
    ((), {}),
    (("--help",), {}),
    (("--help",), {"COLUMNS": "40"}),
    (("quota", "should-run", "--help"), {}),
    (("quota", "should-run", "--help"), {"COLUMNS": "50"}),
    (("quota", "should-run", "--help"), {"COLUMNS": "190", "HOME": "{world}/other"}),
    (("no-such-command",), {}),
    (("quota", "should-run", "--no-such-option"), {"COLUMNS": "60"}),
    (("quota", "should-run"), {}),
    (("--registry", "{world}/missing.json", "status"), {}),
    (("--format", "yaml", "status"), {}),
    (("--registry", "{world}/project", "status"), {}),
)


@pytest.mark.parametrize(("args", "env"), CALLS)
def test_warm_call_has_the_bytes_and_effects_of_a_cold_one(
    planes: Planes, world: Path, args: tuple[str, ...], env: dict[str, str]
) -> None:
    aside = world.with_name("untouched")
    shutil.copytree(world, aside)
    before = planes.warm.counts
    warm = run_in(planes, planes.warm, world, args, env)
    after_warm = contents(world)
    shutil.rmtree(world)
    aside.rename(world)
    cold = run_in(planes, planes.cold, world, args, env)
    assert CHANCE.sub(b"<id>", warm.stdout) == CHANCE.sub(b"<id>", cold.stdout)
    assert (warm.exit_code, warm.signal, warm.stderr) == (cold.exit_code, cold.signal, cold.stderr)
    assert after_warm == contents(world)
    assert planes.warm.counts == WarmCounts(warm=before.warm + 1, cold=before.cold, restarts=0)


@pytest.fixture(scope="module")
def newer(newer_plane_home: Path) -> Iterator[Planes]:
    installed = find("loopx", "2.1.1", newer_plane_home)
    assert installed is not None
    assert installed.node is not None
    time = datetime(2026, 9, 1, 12, 30, tzinfo=UTC)
    cold = ProcessExecutor(plane_time=time)
    warm = WarmExecutor(installed.python, fallback=cold, plane_time=time)
    yield Planes(installed.python, cold, warm, node=str(installed.node))
    warm.close()
    cold.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        (*LOCAL, *GUARD),
        (*LOCAL, "heartbeat-prompt", *WHO, "--available-capability", "shell", "--codex-app", "--thin"),
        (*LOCAL, "todo", "list", "--goal-id", "parity-goal"),
        ("--version",),
        ("quota", "should-run", "--help"),
        ("no-such-command",),
        ("--registry", "{world}/missing.json", "status"),
    ],
)
def test_a_version_that_starts_node_prints_warm_what_it_prints_cold(
    newer: Planes, world: Path, args: tuple[str, ...]
) -> None:
    env = {"PATH": f"{newer.node}{os.pathsep}{os.environ['PATH']}", "TMPDIR": "{world}/empty", "DO_NOT_TRACK": "1"}
    aside = world.with_name("untouched")
    shutil.copytree(world, aside)
    warm = run_in(newer, newer.warm, world, args, env)
    after_warm = set(contents(world))
    shutil.rmtree(world)
    aside.rename(world)
    cold = run_in(newer, newer.cold, world, args, env)
    assert CHANCE.sub(b"<id>", warm.stdout) == CHANCE.sub(b"<id>", cold.stdout)
    assert (warm.exit_code, warm.signal, warm.stderr) == (cold.exit_code, cold.signal, cold.stderr)
    assert {CHANCE.sub(b"<id>", name.encode()) for name in after_warm} == {
        CHANCE.sub(b"<id>", name.encode()) for name in contents(world)
    }
    assert (warm.exit_code == 0) == ("no-such-command" not in args and "{world}/missing.json" not in args)


def test_guard_without_registry_runs_well_and_names_its_own_home(planes: Planes, world: Path) -> None:
    done = run_in(planes, planes.warm, world, ("--format", "json", *GUARD), {})
    assert done.exit_code == 0
    assert b"nonexistent" not in done.stdout
    doctor = run_in(planes, planes.warm, world, ("--format", "json", "doctor"), {"HOME": "{world}/other"})
    assert f'"runtime_root": "{world}/other/.codex/loopx"' in doctor.stdout.decode()
    assert b"nonexistent" not in doctor.stdout
