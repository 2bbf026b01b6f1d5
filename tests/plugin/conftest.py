"""A repository of somebody's own, with one scenario and one recording of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from testing_project import Project, record


@pytest.fixture(scope="session")
def recorded_project(plane_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Made once; nobody writes into it."""
    project = Project(tmp_path_factory.mktemp("recorded"), plane_home)
    scenario = project.scenario()
    record(project, scenario, "good", 1.0)
    record(project, scenario, "bad", 0.0)
    return project


@pytest.fixture
def project(recorded_project: Project, plane_home: Path, tmp_path: Path) -> Project:
    """One scenario, a recording of a model that passes it and one of a model that does not; no snapshot."""
    folder = tmp_path / "project"
    shutil.copytree(recorded_project.folder, folder)
    return Project(folder, plane_home)


@pytest.fixture(scope="session")
def accepted_project(recorded_project: Project, plane_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same with its snapshots; nobody writes into it."""
    folder = tmp_path_factory.mktemp("accepted") / "project"
    shutil.copytree(recorded_project.folder, folder)
    project = Project(folder, plane_home)
    done = project.pytest("-q", "--snapshot-update", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture
def accepted(accepted_project: Project, plane_home: Path, tmp_path: Path) -> Project:
    """The project with a snapshot of each recording and of the reference script."""
    folder = tmp_path / "project"
    shutil.copytree(accepted_project.folder, folder)
    return Project(folder, plane_home)


@pytest.fixture
def bare(plane_home: Path, tmp_path: Path) -> Project:
    """A project without scenarios."""
    folder = tmp_path / "bare"
    folder.mkdir()
    return Project(folder, plane_home)
