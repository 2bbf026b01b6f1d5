"""What people install and what people clone works without anything done by hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from machine import PATIENCE_S
from testing_project import Project, record

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]


def run(argv: list[str], cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """To its end, both streams kept."""
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files of this checkout, and nothing that was made in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607  (whichever git is here)
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    place = tmp_path / "a clone"
    for name in filter(None, listed):
        source = REPOSITORY / os.fsdecode(name)
        if source.is_file():
            target = place / os.fsdecode(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return place


def fresh_machine(folder: Path) -> dict[str, str]:
    """An empty HOME; the way to the package registry is kept."""
    home = folder / "empty home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith(("PIP_", "SSL_"))}
    return {**kept, "HOME": str(home), "TMPDIR": str(folder)}


def test_qualify_works_on_a_fresh_machine_and_then_without_a_network(clone: Path, tmp_path: Path) -> None:
    env = fresh_machine(tmp_path)
    first = run(["make", "qualify"], clone, env)
    assert first.returncode == 0, first.stdout + first.stderr
    assert re.search(r"^(\d+) of \1 passed", first.stdout, re.MULTILINE)
    pages = list((clone / "reports").glob("*/report.html"))
    assert len(pages) == 1
    isolated = ["unshare", "-rn"]
    if shutil.which("unshare") is None or run([*isolated, "true"], tmp_path, env).returncode != 0:
        pytest.skip("this machine cannot take the network away from a process")
    again = run([*isolated, "make", "qualify"], clone, env)
    assert again.returncode == 0, again.stdout + again.stderr
    assert re.search(r"^(\d+) of \1 passed", again.stdout, re.MULTILINE)


def test_the_wheel_brings_its_scenarios_and_both_commands(clone: Path, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path)}
    built = run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")], clone, env)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    assert "harness/_bundled/scenarios/loopx/capability-repair.toml" in names
    assert [name for name in names if name.endswith((".jinja", ".css"))] != []
    points = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert "behavior-harness = harness.cli.main:main" in points
    assert "\nharness = harness.cli.main:main" in points
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    listed = run([sys.executable, "-m", "harness", "scenario", "list"], elsewhere, {**env, "PYTHONPATH": str(site)})
    assert listed.returncode == 0, listed.stderr
    assert "loopx/selected-todo" in listed.stdout
    where = "import harness, harness.wiring as w; print(harness.__file__); print(w.settings().search[-1])"
    told = run([sys.executable, "-c", where], elsewhere, {**env, "PYTHONPATH": str(site)}).stdout.splitlines()
    assert all(line.startswith(str(site)) for line in told)


def test_an_empty_environment_with_the_wheel_plays_a_scenario_and_a_recording_as_tests(
    clone: Path, plane_home: Path, tmp_path: Path
) -> None:
    env = {**fresh_machine(tmp_path), "HARNESS_HOME": str(plane_home), "COLUMNS": "80"}
    built = run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")], clone, env)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    assert run([sys.executable, "-m", "venv", str(tmp_path / "venv")], tmp_path, env).returncode == 0
    programs = tmp_path / "venv" / "bin"
    installed = run([str(programs / "python"), "-m", "pip", "install", "-q", f"{wheel}[pytest]"], tmp_path, env)
    assert installed.returncode == 0, installed.stderr
    project = Project(tmp_path / "project", plane_home)
    record(project, project.scenario(), "good", 1.0)
    first = run([str(programs / "pytest")], project.folder, env)
    assert first.returncode == 1, first.stdout
    assert first.stdout.count("there is no snapshot yet") == 2
    assert run([str(programs / "pytest"), "--snapshot-update"], project.folder, env).returncode == 0
    second = run([str(programs / "pytest")], project.folder, env)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "2 passed" in second.stdout
    replayed = run([str(programs / "harness"), "run", "team/look", "--actor", "recorded"], project.folder, env)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert "1 of 1 passed" in replayed.stdout
