import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.controlplanes.loopx import ENVIRONMENT, NAME, LoopxPlane, open_plane
from harness.errors import ControlPlaneError, ProvisionError
from harness.executors.process import ProcessExecutor
from harness.provision import InstalledPlane, find
from harness.schema.process import Completed, PlaneIdentity, ProcessCommand

DONE = Completed(exit_code=0, stdout=b"", stderr=b"", stdout_seen=0, stderr_seen=0)


@dataclass
class Noted:
    """An executor that only notes what it is asked."""

    asked: list[ProcessCommand] = field(default_factory=list)

    def run(self, command: ProcessCommand) -> Completed:
        self.asked.append(command)
        return DONE

    def close(self) -> None:
        raise AssertionError


@pytest.fixture
def installed(tmp_path: Path) -> InstalledPlane:
    root = tmp_path / "planes" / "loopx" / "1"
    (root / ".venv/lib/python3.11/site-packages/loopx").mkdir(parents=True)
    return InstalledPlane(
        PlaneIdentity(name="loopx", version="1", wheel_sha256="0" * 64), root / ".venv/bin/python", root
    )


def opened(installed: InstalledPlane, executor: Noted | ProcessExecutor, root: Path) -> LoopxPlane:
    return open_plane(
        installed,
        executor=executor,
        cwd=root / "project",
        process_home=root / "process-home",
        search_path=os.environ["PATH"],
    )


def test_call_is_the_module_with_exactly_the_published_environment(
    installed: InstalledPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPX_REGISTRY", "/elsewhere")
    monkeypatch.setenv("ARK_API_KEY", "canary")
    noted = Noted()
    plane = opened(installed, noted, tmp_path)
    assert plane.invoke(("quota", "should-run"), timeout_s=7, output_bytes=99) == DONE
    (command,) = noted.asked
    assert command.argv == (str(installed.python), "-m", "loopx.cli", "quota", "should-run")
    assert (command.cwd, command.timeout_s, command.output_bytes) == (str(tmp_path / "project"), 7, 99)
    assert tuple(sorted(command.env)) == ENVIRONMENT
    assert command.env["HOME"] == str(tmp_path / "process-home")
    assert "canary" not in str(command.env)
    assert command.env["PATH"] == os.environ["PATH"]


def test_a_version_that_needs_node_finds_its_own_before_the_machines(installed: InstalledPlane, tmp_path: Path) -> None:
    noted = Noted()
    plane = opened(replace(installed, node=tmp_path / "node/24/bin"), noted, tmp_path)
    plane.invoke(("quota",), timeout_s=1, output_bytes=1)
    assert noted.asked[0].env["PATH"] == f"{tmp_path}/node/24/bin{os.pathsep}{os.environ['PATH']}"
    assert tuple(sorted(noted.asked[0].env)) == ENVIRONMENT


def test_identity_is_the_installations_and_close_leaves_the_executor_open(
    installed: InstalledPlane, tmp_path: Path
) -> None:
    plane = opened(installed, Noted(), tmp_path)
    assert plane.identity == installed.identity
    assert plane.identity.name == NAME
    plane.close()
    plane.close()


def test_argument_that_is_no_text_is_refused(installed: InstalledPlane, tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match="cannot be encoded as UTF-8"):
        opened(installed, Noted(), tmp_path).invoke(("\udc80",), timeout_s=1, output_bytes=1)


def test_closed_plane_runs_nothing(installed: InstalledPlane, tmp_path: Path) -> None:
    plane = opened(installed, Noted(), tmp_path)
    plane.close()
    with pytest.raises(ControlPlaneError, match="closed"):
        plane.invoke(("status",), timeout_s=1, output_bytes=1)


def test_layout_that_loopx_would_call_unhealthy_is_refused(installed: InstalledPlane, tmp_path: Path) -> None:
    (installed.root / ".venv/lib/python3.11/site-packages/pip").mkdir()
    with pytest.raises(ProvisionError, match="must lie alone"):
        opened(installed, Noted(), tmp_path)
    with pytest.raises(ProvisionError, match="no installation"):
        opened(replace(installed, root=tmp_path / "none"), Noted(), tmp_path)


@pytest.fixture
def process() -> Iterator[ProcessExecutor]:
    executor = ProcessExecutor()
    yield executor
    executor.close()


@pytest.mark.plane
def test_real_loopx_is_healthy_and_sees_none_of_the_owners_world(
    plane_home: Path, tmp_path: Path, process: ProcessExecutor
) -> None:
    found = find("loopx", "0.4.8", plane_home)
    assert found is not None
    for name in ("project", "process-home"):
        (tmp_path / name).mkdir()
    plane = opened(found, process, tmp_path)
    version = plane.invoke(("--version",), timeout_s=60, output_bytes=1000)
    assert (version.exit_code, version.stdout) == (0, b"loopx 0.4.8\n")
    status = plane.invoke(("--format", "json", "status"), timeout_s=60, output_bytes=1_000_000)
    assert str(Path.home()).encode() + b"/.codex" not in status.stdout
    assert json.loads(status.stdout)


@pytest.mark.plane
def test_program_that_an_actor_wrote_is_never_imported(
    plane_home: Path, tmp_path: Path, process: ProcessExecutor
) -> None:
    found = find("loopx", "0.4.8", plane_home)
    assert found is not None
    for name in ("project", "process-home"):
        (tmp_path / name).mkdir()
    (tmp_path / "project" / "loopx").mkdir()
    for name in ("loopx/__init__.py", "json.py", "argparse.py"):
        (tmp_path / "project" / name).write_text("raise SystemExit('planted')\n")
    done = opened(found, process, tmp_path).invoke(("--version",), timeout_s=60, output_bytes=1000)
    assert (done.exit_code, done.stderr) == (0, b"")
    shutil.rmtree(tmp_path / "project")
