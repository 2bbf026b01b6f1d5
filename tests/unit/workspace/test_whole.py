from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.workspace.whole import read_whole, write_whole


@pytest.mark.parametrize(("told", "most", "given"), [(6, 100, 6), (0, 100, 6), (2, 100, 6), (100, 100, 6), (2, 4, 5)])
def test_all_is_read_whatever_the_size_that_was_told_up_to_one_more_than_the_most(
    tmp_path: Path, told: int, most: int, given: int
) -> None:
    (tmp_path / "file").write_bytes(b"abcdef")
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    try:
        assert read_whole(descriptor, told, most) == b"abcdef"[:given]
    finally:
        os.close(descriptor)


def test_all_is_written_where_each_call_takes_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: really(descriptor, bytes(data[:2])))
    descriptor = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    try:
        write_whole(descriptor, b"abcde")
    finally:
        os.close(descriptor)
    assert (tmp_path / "file").read_bytes() == b"abcde"
