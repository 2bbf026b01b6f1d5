"""Folders are made with their own mode, those above them too, whatever the umask would let through."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.documents import make_folder


@pytest.fixture(autouse=True)
def _no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("wanted", [0o755, 0o700])
def test_all_that_are_made_have_the_mode_and_what_is_there_keeps_its_own(tmp_path: Path, wanted: int) -> None:
    (tmp_path / "a").mkdir(mode=0o711)
    make_folder(tmp_path / "a/b/c", wanted)
    make_folder(tmp_path / "a/b/c", 0o777)
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")] == [0o711, wanted, wanted]


def test_a_relative_one_is_made_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_folder(Path("a/b"))
    assert mode(tmp_path / "a") == 0o755


@pytest.mark.parametrize("there", ["file", "nowhere"])
def test_something_else_in_its_place_is_told(tmp_path: Path, there: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to("gone")
    for path in (tmp_path / there, tmp_path / there / "below"):
        with pytest.raises(OSError, match=there):
            make_folder(path)


def test_one_above_that_somebody_removes_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, kept, gone = Path.mkdir, tmp_path / "episodes", [0]

    def late(self: Path, mode: int, *, exist_ok: bool) -> None:
        if self.parent == kept and gone[0] < 3:
            gone[0] += 1
            kept.rmdir()
        made(self, mode, exist_ok=exist_ok)

    kept.mkdir()
    monkeypatch.setattr(Path, "mkdir", late)
    make_folder(kept / "one", 0o700)
    assert (gone, mode(kept / "one"), mode(kept)) == ([3], 0o700, 0o700)


def test_one_above_that_always_goes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: Path, mode: int, *, exist_ok: bool) -> None:
        assert (mode, exist_ok) == (0o755, True)
        raise FileNotFoundError(2, "No such file or directory", str(self))

    monkeypatch.setattr(Path, "mkdir", never)
    with pytest.raises(FileNotFoundError):
        make_folder(tmp_path / "episodes" / "one")
