"""The file of what a run spent: whole after a kill, and never taken for another."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from cramped import small_files

from harness.errors import StoreError
from harness.receipt import SpendingFile, carry_spending
from harness.receipt.spending import beyond
from harness.schema.run import AttemptRow, RunLogEntry
from harness.schema.spending import Beyond, Entry, entry_name

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


@pytest.mark.parametrize("room", range(1, len(FIRST.model_dump_json()) + 1, 7))
def test_of_an_entry_that_a_full_disk_took_a_part_of_nothing_is_there_and_it_is_kept_later(
    tmp_path: Path, room: int
) -> None:
    file = SpendingFile(tmp_path)
    file.keep(FIRST)
    size = (tmp_path / "spending.jsonl").stat().st_size
    with small_files(size + room), pytest.raises(StoreError, match="cannot be written"):
        file.keep(SECOND)
    assert SpendingFile(tmp_path).before == (FIRST,)
    assert (tmp_path / "spending.jsonl").stat().st_size == size
    file.keep(SECOND)
    file.close()
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


def test_what_no_row_of_the_log_tells_is_beyond_it(tmp_path: Path) -> None:
    """Known, in flight, not sent, and one that is told."""
    file = SpendingFile(tmp_path)
    for name, cost in (("a", Decimal(5)), ("b", None), ("c", Decimal(0)), ("told", Decimal(7))):
        attempt = entry_name("key", f"{name}:attempt:1")
        file.keep(Entry(attempt=attempt, event="reserved", micro_usd=Decimal(9)))
        if cost is not None:
            file.keep(Entry(attempt=attempt, event="settled", micro_usd=cost))
    file.close()
    row = AttemptRow(operation="told", attempt=1, status="completed", usage=None, seconds=0)
    log = RunLogEntry(key="key", started_at="", seconds=0, executor="warm", attempts=(row,))
    assert beyond(SpendingFile(tmp_path).before, [log]) == Beyond(calls=2, unknown=1, micro_usd=Decimal(5))
    assert beyond((), [log]) == Beyond()


def test_what_other_runs_spent_is_added_and_nothing_is_made_for_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "none")]
    for folder, entry in zip(folders, (FIRST, SECOND, None), strict=True):
        folder.mkdir()
        if entry is not None:
            file = SpendingFile(folder)
            file.keep(entry)
            file.close()
    carry_spending(folders, tmp_path)
    assert SpendingFile(tmp_path).before == (FIRST, SECOND)
    carry_spending(folders[2:], folders[2])
    assert list(folders[2].iterdir()) == []
    with pytest.raises(StoreError, match="cannot be written"):
        carry_spending(folders, tmp_path / "gone")
