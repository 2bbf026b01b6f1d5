"""Kept texts: written once, nowhere else; cursors that lead only where they were given for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import case

from harness.observation import FOLDER, ArtifactFolder, artifact_path, issue, resolve
from harness.schema.base import digest_text

PATH = f"{FOLDER}/result-0011223344556677.txt"


@case(155)
@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts",
        f"{FOLDER}/../result.txt",
        "../result.txt",
        f"{FOLDER}/..",
        f"{FOLDER}/.",
        f"{FOLDER}/",
        FOLDER,
        f"other/{FOLDER}.txt",
        f"{FOLDER}/a/b.txt",
        f"{FOLDER}/a\0b",
        "",
        f"{FOLDER}/".ljust(1_025, "a"),
    ],
)
def test_a_path_that_is_no_new_name_in_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    folder = ArtifactFolder(tmp_path)
    assert folder.write(path, b"text") == "path_invalid"
    assert folder.read(path) is None
    assert list(tmp_path.iterdir()) == []


@case(155)
def test_what_is_there_already_stays_as_it_is(tmp_path: Path) -> None:
    folder = ArtifactFolder(tmp_path)
    assert folder.write(PATH, b"first") is None
    assert folder.write(PATH, b"other") == "exists"
    assert (tmp_path / PATH).read_bytes() == b"first"
    written = (tmp_path / PATH).stat()
    assert folder.write(PATH, b"first") is None
    assert (tmp_path / PATH).stat().st_mtime_ns == written.st_mtime_ns
    assert written.st_mode & 0o777 == 0o600


@pytest.mark.parametrize("target", ["outside", "nowhere"])
def test_links_are_not_followed(tmp_path: Path, target: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / FOLDER).symlink_to(tmp_path / target)
    assert ArtifactFolder(root).write(PATH, b"text") == "unwritable"
    assert ArtifactFolder(root).read(PATH) is None
    (root / FOLDER).unlink()
    (root / FOLDER).mkdir()
    (root / PATH).symlink_to(outside / "file")
    assert ArtifactFolder(root).write(PATH, b"text") == "exists"
    assert ArtifactFolder(root).read(PATH) is None
    assert list(outside.iterdir()) == []


def test_a_folder_that_is_a_file_and_a_name_that_no_file_can_have_keep_nothing(tmp_path: Path) -> None:
    folder = ArtifactFolder(tmp_path)
    for name in ("a" * 300, "\ud800"):
        assert folder.write(f"{FOLDER}/{name}", b"text") == "unwritable"
        assert folder.read(f"{FOLDER}/{name}") is None
    (tmp_path / FOLDER).rmdir()
    (tmp_path / FOLDER).write_bytes(b"mine")
    assert folder.write(PATH, b"text") == "unwritable"
    assert (tmp_path / FOLDER).read_bytes() == b"mine"


def test_a_pipe_is_no_text_and_nobody_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    os.mkfifo(tmp_path / PATH)
    assert ArtifactFolder(tmp_path).read(PATH) is None


def test_half_a_text_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def full(descriptor: int, data: bytes) -> int:
        if written:
            raise OSError(28, "No space left on device")
        written.append(1)
        return len(data) // 2

    monkeypatch.setattr(os, "write", full)
    assert ArtifactFolder(tmp_path).write(PATH, b"text") == "unwritable"
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_a_text_beyond_the_largest_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.observation.artifacts.BYTES_MAX", 8)
    folder = ArtifactFolder(tmp_path)
    assert folder.write(PATH, b"123456789") == "unwritable"
    (tmp_path / PATH).write_bytes(b"123456789")
    assert folder.read(PATH) is None
    (tmp_path / PATH).write_bytes(b"12345678")
    assert folder.read(PATH) == b"12345678"


def test_a_path_tells_kind_and_content(tmp_path: Path) -> None:
    digest = digest_text("text")
    assert artifact_path("result", digest) == f"{FOLDER}/result-{digest[7:23]}.txt"


@case(154)
@pytest.mark.parametrize(
    ("path", "content", "offset", "found"),
    [
        (PATH, "text", 3, 3),
        (PATH, "changed", 3, "stale_cursor"),
        (f"{FOLDER}/other.txt", "text", 3, "cursor_path_mismatch"),
        (PATH, "text", 4, "cursor_offset_invalid"),
    ],
)
def test_a_cursor_leads_only_where_it_was_given_for(path: str, content: str, offset: int, found: int | str) -> None:
    cursor = issue(PATH, digest_text("text"), offset)
    assert resolve(cursor, path, digest_text(content), 4) == found


def test_a_cursor_for_a_text_that_is_gone_is_stale() -> None:
    assert resolve(issue(PATH, digest_text("text"), 0), PATH, None, 0) == "stale_cursor"


@given(st.text(max_size=60))
def test_any_other_text_is_no_cursor(cursor: str) -> None:
    assert resolve(cursor, PATH, digest_text("text"), 4) == "cursor_offset_invalid"
