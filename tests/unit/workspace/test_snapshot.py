"""What was saved comes back exactly, whatever happened to it in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import EnvironmentProblem
from harness.schema.base import digest_bytes
from harness.workspace import reserve, restore, save, take, unreadable

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
    lambda name: name not in {".", ".."}
)
TREES = st.dictionaries(NAMES, st.one_of(st.binary(max_size=50), st.none()), max_size=6)


def fill(root: Path, tree: dict[str, bytes | None]) -> None:
    """Files with these contents; None is a directory with a link in it."""
    for name, content in tree.items():
        if content is None:
            (root / name).mkdir()
            (root / name / "link").symlink_to("../nowhere")
        else:
            (root / name).write_bytes(content)


@given(before=TREES, after=TREES)
def test_any_state_is_put_back(
    before: dict[str, bytes | None], after: dict[str, bytes | None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("snapshot")
    root, kept = place / "root", place / "kept.tar"
    root.mkdir()
    fill(root, before)
    state = take(root)
    save(root, kept)
    for name in os.listdir(root):  # noqa: PTH208
        os.rename(root / name, place / f"gone-{len(os.listdir(place))}")  # noqa: PTH104, PTH208
    fill(root, after)
    restore(root, kept)
    assert take(root) == state
    assert kept.stat().st_mode & 0o777 == 0o600


def test_modes_and_times_are_kept_and_special_files_left_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "closed").mkdir(parents=True)
    (root / "closed/run").write_text("x")
    os.utime(root / "closed/run", ns=(10**18, 10**18))
    (root / "closed/run").chmod(0o751)
    (root / "closed").chmod(0o500)
    os.mkfifo(root / "pipe")
    save(root, tmp_path / "kept.tar")
    restore(root, tmp_path / "kept.tar")
    assert (root / "closed").stat().st_mode & 0o777 == 0o500
    assert (root / "closed/run").stat().st_mode & 0o777 == 0o751
    assert (root / "closed/run").stat().st_mtime_ns == 10**18
    assert not (root / "pipe").exists()
    (root / "closed").chmod(0o700)


def test_an_earlier_place_is_made_again_once_its_owner_is_gone(tmp_path: Path) -> None:
    with reserve(roots=["project"], base=tmp_path) as first:
        name = first.root.name
        with (
            pytest.raises(EnvironmentProblem, match="is taken"),
            reserve(roots=["project"], base=tmp_path, name=name),
        ):
            pytest.fail("its owner lives")
    with reserve(roots=["project"], base=tmp_path, name=name) as again:
        assert again.root == first.root
        assert again.cwd.is_dir()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../other", "harness-x", "something", ""])
def test_only_a_workspaces_name_is_made_again(tmp_path: Path, name: str) -> None:
    with pytest.raises(EnvironmentProblem, match="is taken"), reserve(roots=["project"], base=tmp_path, name=name):
        pytest.fail("no workspace has such a name")


def test_a_strangers_folder_at_that_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "harness-abcdefgh").mkdir()
    with (
        pytest.raises(EnvironmentProblem, match="is taken"),
        reserve(roots=["project"], base=tmp_path, name="harness-abcdefgh"),
    ):
        pytest.fail("it is not ours")
    assert (tmp_path / "harness-abcdefgh").is_dir()


def test_what_is_apart_is_neither_saved_nor_put_back(tmp_path: Path) -> None:
    root, kept = tmp_path / "root", tmp_path / "kept.tar"
    (root / "texts").mkdir(parents=True)
    (root / "texts" / "first").write_bytes(b"1")
    save(root, kept, apart=("texts",))
    (root / "texts" / "second").write_bytes(b"2")
    (root / "other").write_bytes(b"3")
    restore(root, kept, apart=("texts",))
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*")) == [
        "texts",
        "texts/first",
        "texts/second",
    ]
    restore(root, kept)
    assert list(root.iterdir()) == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A snapshot of a workspace with a file that is larger than a block."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "file").write_bytes(b"content" * 3000)
    save(tmp_path / "root", tmp_path / "kept.tar")
    return tmp_path / "kept.tar"


def test_the_digest_of_a_snapshot_is_told_and_holds_until_it_is_changed(kept: Path) -> None:
    digest = save(kept.parent / "root", kept)
    data = kept.read_bytes()
    assert digest == digest_bytes(data)
    assert (unreadable(kept, digest), unreadable(kept, None)) == (None, None)
    kept.write_bytes(data.replace(b"content", b"CONTENT", 1))
    assert unreadable(kept, digest) == "is not what was kept under that name"
    assert unreadable(kept, None) is None


@pytest.mark.parametrize("cut", [0, 100, 1000, 5000])
def test_a_snapshot_of_unknown_digest_that_was_cut_is_told(kept: Path, cut: int) -> None:
    kept.write_bytes(kept.read_bytes()[:cut])
    assert unreadable(kept, None) in {"ends in the middle", "is no snapshot of a workspace"}


def test_what_is_no_snapshot_at_all_is_told_and_one_that_is_gone_is_not(kept: Path) -> None:
    kept.unlink()
    with pytest.raises(FileNotFoundError):
        unreadable(kept, None)
    kept.mkdir()
    assert str(unreadable(kept, None)).startswith("cannot be read: ")
