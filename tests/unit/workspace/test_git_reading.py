"""Real git in repositories that name programs for it to run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from machine import PATIENCE_S

from harness.workspace import NAMES_OF_FILTERS, git_environment, kept_outside

PATH = os.environ["PATH"]
GIT = shutil.which("git") or "git"
CALM = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
READS = (
    ("status", "--short", "--branch"),
    ("branch", "--show-current"),
    ("rev-parse", "--show-toplevel"),
)


def git(cwd: Path, *argv: str, **env: str) -> str:
    told = {"PATH": PATH, "HOME": "/nonexistent", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", **env}
    return subprocess.run([GIT, *argv], cwd=cwd, env=told, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repository whose every setting that can name a program names one that leaves a trace."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    trap = project / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/ran\ncat\n')
    trap.chmod(0o755)
    (project / "file").write_text("one\n")
    git(project, "add", "file", "trap")
    settings: tuple[str, ...] = (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
    )
    settings += ("alias.status", "diff.external", "pager.status", "pager.branch", "filter.Trap x.clean")
    settings += ("filter.Trap x.process", "filter.other.clean", "filter.other.smudge")
    for setting in settings:
        git(project, "config", setting, str(trap))
    git(project, "config", "core.hooksPath", str(project))
    git(project, "config", "filter.other.required", "true")
    (project / "post-index-change").symlink_to("trap")
    (project / ".git/hooks/post-index-change").symlink_to(trap)
    git(project, "init", "-q", "inner")
    git(project / "inner", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    (project / "inner/deep").write_text("two\n")
    git(project / "inner", "add", "deep")
    (project / "inner/.git/info/attributes").write_text("* filter=deep\n")
    git(project / "inner", "config", "filter.deep.clean", str(trap))
    os.utime(project / "inner/deep", (1, 1))
    git(project, "-c", "advice.addEmbeddedRepo=false", *CALM, "add", "inner")
    git(project / "inner", "config", "core.fsmonitor", str(trap))
    inner = '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n'
    (project / ".gitmodules").write_text(inner)
    with (project / ".git/config").open("a") as file:
        file.write(inner)
    (tmp_path / "ran").unlink(missing_ok=True)
    (project / ".gitattributes").write_text("trap filter=Trap\\ x\nfile filter=other\n")
    for name in ("file", "trap"):
        os.utime(project / name, (1, 1))
    return project


def test_the_traps_do_work_where_nobody_looks_out(hostile: Path, tmp_path: Path) -> None:
    subprocess.run(
        [GIT, *READS[0]], cwd=hostile, env={"PATH": PATH}, check=False, capture_output=True, timeout=PATIENCE_S
    )
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("argv", READS)
def test_reading_runs_nothing_that_a_repository_names(hostile: Path, tmp_path: Path, argv: tuple[str, ...]) -> None:
    filters = git(hostile, *NAMES_OF_FILTERS, **git_environment(hostile)).split("\0")[:-1]
    assert {"filter.other.clean", "filter.Trap x.process"} <= set(filters)
    said = git(hostile, *kept_outside(("git", *argv))[1:], **git_environment(hostile, filters))
    assert not (tmp_path / "ran").exists()
    assert said


def test_what_is_read_is_what_git_says_of_an_innocent_repository(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    (project / "new").touch()
    for argv in READS:
        assert git(project, *argv, **git_environment(project)) == git(project, *argv)


def test_a_folder_that_looks_like_a_bare_repository_is_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    git(tmp_path / "bare", "rev-parse", "--git-dir")
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path / "bare", "rev-parse", "--git-dir", **git_environment(tmp_path / "bare"))


def test_a_repository_around_the_workspace_is_not_looked_at(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "workspace/project").mkdir(parents=True)
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path / "workspace/project", "status", **git_environment(tmp_path / "workspace/project"))
