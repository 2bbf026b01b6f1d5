"""What may stand where a file is expected, and how much of it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.documents import DocumentError, decoded, read_file


def refused(path: Path, most: int = 10) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        read_file(path, most=most)
    return caught.value


def test_a_file_up_to_the_bound_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    assert read_file(path, most=10) == b"0123456789"
    assert (refused(path, 9).problem, refused(path, 9).allowed) == ("is too large", "at most 9 bytes")


def test_a_device_without_an_end_is_refused_and_not_read() -> None:
    assert refused(Path("/dev/zero")).problem == "cannot be read: it is no regular file"


def test_a_pipe_that_nobody_writes_into_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").problem == "cannot be read: it is no regular file"


def test_what_is_no_file_is_told_in_the_words_of_the_system(tmp_path: Path) -> None:
    assert refused(tmp_path).problem == "cannot be read: Is a directory"
    assert refused(tmp_path / "none").problem == "cannot be read: No such file or directory"
    assert refused(tmp_path / ("a" * 300)).problem == "cannot be read: File name too long"
    assert refused(tmp_path / "a\0b").problem == "cannot be read: its name holds a NUL character"


def test_only_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert (refused(tmp_path / "none").missing, refused(tmp_path).missing) == (True, False)


def test_bytes_that_are_no_utf8_name_their_line() -> None:
    assert decoded("é\n".encode()) == "é\n"
    with pytest.raises(DocumentError, match="is no UTF-8 text") as caught:
        decoded(b"a\nb\xff")
    assert caught.value.line == 2
