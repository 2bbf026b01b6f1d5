from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.errors import SetupRejectedError
from harness.schema.scenario import FileSpec, WorkspaceSpec
from harness.workspace import Workspace, populate, reserve, take

MADE_AT = 1_767_225_600  # 2026-01-01T00:00:00Z
ROOTS = ("project", "runtime", "home")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with reserve(roots=ROOTS, absent=("runtime",), base=tmp_path) as made:
        yield made


def world(*files: FileSpec, git: tuple[str, ...] = ()) -> WorkspaceSpec:
    return WorkspaceSpec(roots=ROOTS, absent=("runtime",), git=git, file=files)


def git(workspace: Workspace, *words: str) -> str:
    program = shutil.which("git")
    assert program is not None
    done = subprocess.run(
        [program, *words],
        cwd=workspace.cwd,
        env={"HOME": str(workspace.process_home), "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_one_text_is_written_to_every_place_with_its_mode(workspace: Workspace) -> None:
    populate(workspace, world(FileSpec(at=("project/a/é.json", "home/.b/c"), text="täxt\n", mode="640")))
    for path in (workspace.roots["project"] / "a" / "é.json", workspace.roots["home"] / ".b" / "c"):
        assert path.read_bytes() == "täxt\n".encode()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_absent_roots_are_not_made(workspace: Workspace) -> None:
    populate(workspace, world())
    assert not workspace.roots["runtime"].exists()
    assert workspace.roots["home"].is_dir()


def test_missing_roots_are_made(workspace: Workspace) -> None:
    workspace.roots["home"].rmdir()
    populate(workspace, world())
    assert workspace.roots["home"].is_dir()


def test_everything_made_has_the_same_fixed_time(workspace: Workspace) -> None:
    populate(workspace, world(FileSpec(at=("project/a/b/c",), text="x"), git=("project",)))
    made = [workspace.root, *(path for path in workspace.root.rglob("*") if path != workspace.process_home)]
    assert {path.stat().st_mtime for path in made} == {MADE_AT}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_the_state_does_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    spec = world(FileSpec(at=("project/a/b",), text="x", mode="0666"), git=("project",))

    def state() -> str:
        with reserve(roots=ROOTS, absent=("runtime",), base=tmp_path) as made:
            populate(made, spec)
            return take(made.root).digest

    usual = state()
    before = os.umask(umask)
    try:
        assert state() == usual
    finally:
        os.umask(before)


def test_a_git_root_is_a_repository_that_git_understands(workspace: Workspace) -> None:
    populate(workspace, world(FileSpec(at=("project/a",), text="x"), git=("project",)))
    assert git(workspace, "branch", "--show-current") == "main\n"
    assert git(workspace, "rev-parse", "--show-toplevel") == f"{workspace.cwd}\n"
    assert git(workspace, "status", "--porcelain") == "?? a\n"
    git(workspace, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "first")
    assert git(workspace, "rev-list", "--count", "HEAD") == "1\n"


def test_a_file_may_lie_in_a_repositorys_own_directory(workspace: Workspace) -> None:
    populate(workspace, world(FileSpec(at=("project/.git/info/exclude",), text="a\n"), git=("project",)))
    (workspace.cwd / "a").touch()
    assert git(workspace, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("project", "not root/path"),
        ("project/", "not root/path"),
        ("project//a", "not root/path"),
        ("project/./a", "not root/path"),
        ("project/../../a", "not root/path"),
        ("project/a/..", "not root/path"),
        ("../a", "not root/path"),
        ("elsewhere/a", "names no root; there are: project"),
        ("process_home/a", "names no root; there are: project"),
        ("runtime/a", "'runtime' is absent"),
        ("project/" + "a" * 300, "cannot be made"),
        ("project/\udc80", "UTF-8"),
        ("project/.git/HEAD", "made twice"),
        ("project/.git/HEAD/a", "made twice"),
        ("project/link/a", "made twice"),
        ("project/link", "made twice"),
    ],
)
def test_a_path_that_cannot_be_made_inside_is_refused(workspace: Workspace, place: str, problem: str) -> None:
    outside = workspace.root.parent / "outside"
    outside.mkdir()
    (workspace.cwd / "link").symlink_to(outside)
    with pytest.raises(SetupRejectedError, match=problem) as caught:
        populate(workspace, world(FileSpec.model_construct(at=(place,), text="x", mode="644"), git=("project",)))
    assert str(caught.value).startswith("workspace.file[0].at[0]: ")
    assert place.removeprefix("project/") not in str(caught.value).removeprefix("workspace.file[0].at[0]: ").split()
    assert str(workspace.root) not in str(caught.value)
    assert list(outside.iterdir()) == []


def test_a_nul_byte_in_a_path_is_refused(workspace: Workspace) -> None:
    with pytest.raises(SetupRejectedError, match="not root/path"):
        populate(workspace, world(FileSpec.model_construct(at=("project/a\0b",), text="x", mode="644")))


def test_a_text_that_utf8_cannot_hold_is_refused(workspace: Workspace) -> None:
    with pytest.raises(SetupRejectedError, match="UTF-8"):
        populate(workspace, world(FileSpec.model_construct(at=("project/a",), text="\udc80", mode="644")))


@pytest.mark.parametrize("root", ["runtime", "elsewhere"])
def test_a_repository_needs_a_root_that_exists(workspace: Workspace, root: str) -> None:
    with pytest.raises(SetupRejectedError, match=r"workspace\.git: .* root"):
        populate(workspace, world(git=(root,)))


def test_a_root_that_became_a_link_is_refused(workspace: Workspace) -> None:
    workspace.roots["home"].rmdir()
    workspace.roots["home"].symlink_to(workspace.root.parent)
    with pytest.raises(SetupRejectedError, match=r"workspace\.roots: is made twice"):
        populate(workspace, world(FileSpec(at=("home/a",), text="x")))
    assert not (workspace.root.parent / "a").exists()


def test_a_repository_has_the_origin_that_is_named(workspace: Workspace) -> None:
    address = "https://example.invalid/a/b.git"
    spec = WorkspaceSpec(roots=ROOTS, absent=("runtime",), git=("project",), origin={"project": address})
    populate(workspace, spec)
    assert git(workspace, "remote", "get-url", "origin") == f"{address}\n"


@pytest.mark.parametrize("address", ["https://a/b\n[core]", "ssh://a/b", "https://a b", 'https://a"', "https://"])
def test_an_origin_is_an_address_and_nothing_else(address: str) -> None:
    with pytest.raises(ValidationError):
        WorkspaceSpec(roots=ROOTS, git=("project",), origin={"project": address})
