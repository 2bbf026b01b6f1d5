"""Files that lines are added to: a torn end is cut off, anything else that does not fit is told by its line."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.receipt import lines
from harness.receipt.lines import Damage, append, read_lines
from harness.schema.message import Usage
from harness.schema.run import LateRow

ROW = LateRow(key="a", operation="turn-1/main", attempt=1, usage=Usage(input_tokens=5, output_tokens=2))
LINE = f"{ROW.model_dump_json()}\n".encode()


@given(torn=st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")), block=st.integers(1, 50))
def test_a_torn_line_is_cut_off_before_another_is_added(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes, block: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "late.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)
        path.write_bytes(LINE + torn)
        append(path, LINE)
    assert path.read_bytes() == LINE * 2


def test_what_finds_no_room_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "late.jsonl"
    append(path, LINE)
    real = os.pwrite

    def half(descriptor: int, data: bytes, at: int) -> int:
        if len(data) < len(LINE):
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:5], at)

    monkeypatch.setattr(os, "pwrite", half)
    with pytest.raises(OSError, match="No space left"):
        append(path, LINE)
    assert path.read_bytes() == LINE


def test_lines_of_several_threads_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append(path, LINE), range(40)))
    assert path.read_bytes() == LINE * 40


def test_what_can_be_read_is_and_every_other_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    assert read_lines(path, LateRow) == ((), ())
    path.write_bytes(LINE + b"canary\n" + LINE + b'{"canary": 1}\n' + LINE[:-9])
    rows, damage = read_lines(path, LateRow)
    assert rows == (ROW, ROW)
    assert damage == (
        Damage(2, "is no JSON"),
        Damage(4, "cannot be used: key: missing"),
        Damage(5, "its end was never written, so it does not count", is_torn=True),
    )
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError, match="cannot be read: Is a directory"):
        read_lines(path, LateRow)
