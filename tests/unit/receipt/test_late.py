"""Usage that came after its episode was told fills the rows of the run's log where none was known."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.receipt.late import LATE, filled, keep_late
from harness.schema.message import Usage
from harness.schema.run import AttemptRow, LateRow, RunLogEntry

SEVEN = Usage(input_tokens=5, output_tokens=2)


def row(attempt: int, usage: Usage | None) -> AttemptRow:
    return AttemptRow(operation="turn-1/main", attempt=attempt, status="unknown", usage=usage, seconds=1.0)


def entry(key: str, *attempts: AttemptRow) -> RunLogEntry:
    return RunLogEntry(key=key, started_at="", seconds=0.0, executor="warm", attempts=attempts)


LATE_ROW = LateRow(key="a", operation="turn-1/main", attempt=2, usage=SEVEN)


def test_only_the_unknown_row_of_that_name_is_filled_and_flagged() -> None:
    known = Usage(input_tokens=1, output_tokens=1)
    log = (entry("a", row(1, None), row(2, None)), entry("b", row(2, None)), entry("c", row(2, known)))
    first, *others = filled(log, [LATE_ROW, LATE_ROW.model_copy(update={"key": "c"})])
    assert [one.usage for one in first.attempts] == [None, SEVEN]
    assert first.recovery == ("late_usage",)
    assert tuple(others) == log[1:]
    assert filled(log, []) == log


def test_its_cost_comes_with_it() -> None:
    told = LATE_ROW.model_copy(update={"cost_micro_usd": Decimal("12.5"), "inconsistent": True})
    known = replace(row(1, SEVEN), cost_micro_usd=Decimal(3))
    (filled_up,) = filled((entry("a", known, row(2, None)),), [told, told.model_copy(update={"attempt": 1})])
    assert [one.cost_micro_usd for one in filled_up.attempts] == [Decimal(3), Decimal("12.5")]
    assert [one.inconsistent for one in filled_up.attempts] == [False, True]


def test_rows_are_added_and_the_file_is_no_link(tmp_path: Path) -> None:
    keep_late(tmp_path, LATE_ROW)
    keep_late(tmp_path, LATE_ROW)
    lines = (tmp_path / LATE).read_text().splitlines()
    assert [LateRow.model_validate_json(line) for line in lines] == [LATE_ROW] * 2
    (tmp_path / LATE).unlink()
    (tmp_path / LATE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="cannot be written"):
        keep_late(tmp_path, LATE_ROW)
    assert not (tmp_path / "elsewhere").exists()
