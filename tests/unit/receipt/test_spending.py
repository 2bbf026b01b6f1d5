"""The file of what a run spent: whole after a kill, and never taken for another."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.receipt import SpendingFile
from harness.schema.spending import Entry

FIRST = Entry(attempt="sha256:a", event="reserved", micro_usd=Decimal("12.5"))
SECOND = Entry(attempt="sha256:a", event="settled", micro_usd=None)


def test_what_was_kept_is_read_back_and_nothing_is_made_without_an_entry(tmp_path: Path) -> None:
    file = SpendingFile(tmp_path)
    assert (file.before, list(tmp_path.iterdir())) == ((), [])
    file.keep(FIRST)
    file.keep(SECOND)
    file.close()
    file.close()
    assert SpendingFile(tmp_path).before == (FIRST, SECOND)


def test_a_torn_line_is_cut_off_at_the_next_entry(tmp_path: Path) -> None:
    file = SpendingFile(tmp_path)
    file.keep(FIRST)
    file.close()
    path = tmp_path / "spending.jsonl"
    path.write_bytes(path.read_bytes() + b'{"attempt":"sha256:b","event":"reserved","micro_usd":"99999999999999999999"')
    again = SpendingFile(tmp_path)
    assert again.before == (FIRST,)
    again.keep(SECOND)
    again.close()
    assert SpendingFile(tmp_path).before == (FIRST, SECOND)


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spending.jsonl").write_text('{"canary": 1}\n')
    with pytest.raises(StoreError, match="is not what harness wrote there") as caught:
        SpendingFile(tmp_path)
    assert "canary" not in str(caught.value)


def test_a_file_that_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "spending.jsonl").mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        SpendingFile(tmp_path)
    file = SpendingFile(tmp_path / "gone")
    with pytest.raises(StoreError, match="cannot be written"):
        file.keep(FIRST)
