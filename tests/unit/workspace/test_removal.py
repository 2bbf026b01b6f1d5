from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from machine import PATIENCE_S

from harness.workspace.removal import remove_tree

AS_NOBODY = """
import os, sys
from pathlib import Path
from harness.workspace.removal import remove_tree
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.chown(".", 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
top = Path("top")
(top / "locked" / "inner" / "deep").mkdir(parents=True)
(top / "locked" / "file").write_text("x")
(top / "locked" / "inner" / "file").write_text("x")
for path in ("locked/inner/deep", "locked/inner/file", "locked/inner", "locked", ""):
    (top / path).chmod(0o500 if path == "locked" else 0)
remove_tree(top)
"""


def test_a_missing_directory_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


def test_read_only_and_closed_directories_go_for_an_ordinary_user(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    subprocess.run([sys.executable, "-c", AS_NOBODY, str(base)], check=True, timeout=PATIENCE_S)
    assert list(base.iterdir()) == []


def test_closed_directories_are_opened_first(tmp_path: Path) -> None:
    inner = tmp_path / "top" / "middle" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent, inner.parent.parent):
        folder.chmod(0)
    remove_tree(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []


def test_odd_names_go(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    for name in ("new\nline", "\udcff\udcfe", "-rf", "\\", "é", " ", ".lifted-0", ".lifted-1"):
        folder = top / "inner" / name
        (folder / name).mkdir(parents=True)
        (folder / "file\n\udcff").touch()
    (top / ".lifted-0" / "kept until its turn").mkdir(parents=True)
    remove_tree(top)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_tree_deeper_than_any_path_may_be_goes(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    folder = os.open(top, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("directory", dir_fd=folder)
        inner = os.open("directory", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    remove_tree(top)
    assert list(tmp_path.iterdir()) == []


def test_links_go_and_what_they_name_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    top = tmp_path / "top"
    (top / "inner").mkdir(parents=True)
    (top / "link").symlink_to(outside)
    (top / "inner" / "link").symlink_to(outside)
    (top / "dangling").symlink_to("nowhere")
    os.mkfifo(top / "inner" / "pipe")
    remove_tree(top)
    assert list(tmp_path.iterdir()) == [outside]
    assert list(outside.iterdir()) == [outside / "file"]


def test_a_link_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("outside")
    with pytest.raises(OSError, match="link"):
        remove_tree(tmp_path / "link")
    assert (tmp_path / "outside" / "inner").is_dir()


def test_what_vanished_by_itself_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (top / "file").touch()
    unlink = os.unlink

    def late(path: str, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        unlink(path, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", late)
        remove_tree(top)
    assert list(tmp_path.iterdir()) == []


def test_a_system_that_calls_a_directory_not_permitted_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "top" / "inner" / "deep").mkdir(parents=True)
    unlink = os.unlink

    def macos(path: str, *, dir_fd: int | None = None) -> None:
        try:
            unlink(path, dir_fd=dir_fd)
        except IsADirectoryError as error:
            raise PermissionError(path) from error

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", macos)
        remove_tree(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_may_not_be_removed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (top / "file").touch()

    def denied(path: str, *, dir_fd: int | None = None) -> None:
        raise PermissionError(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", denied)
        with pytest.raises(PermissionError):
            remove_tree(top)
