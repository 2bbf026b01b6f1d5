"""Every kind of record is read and written as it always was, and no other form of it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from harness.journal import Journal
from harness.journal.file import JournalFile
from harness.schema.base import JsonValue
from harness.schema.record import Payload, Record

KEPT = Path(__file__).parents[2] / "data/journal/every-kind.jsonl"
LINES = KEPT.read_text(encoding="utf-8").split("\n")[1:-1]
UNION: object = get_args(Payload)[0]


def test_a_journal_of_every_kind_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(KEPT.read_bytes())
    file = JournalFile(kept)
    again = JournalFile(tmp_path / "again.jsonl")
    journal = Journal(keep=again.write)
    for record in file.records:
        journal.append_beside(record.payload)
    again.close()
    file.close()
    assert {type(record.payload) for record in file.records} == set(get_args(UNION))
    assert (tmp_path / "again.jsonl").read_bytes() == KEPT.read_bytes()


def test_a_record_says_nothing_that_is_not_in_its_kind() -> None:
    for line in LINES:
        for path in places(json.loads(line)["payload"]):
            with pytest.raises(ValidationError, match="beyond"):
                Record.model_validate_json(changed(line, (*path, "beyond"), "x"))


def test_nothing_in_a_record_is_converted() -> None:
    for line in LINES:
        for name, value in json.loads(line)["payload"].items():
            other: JsonValue = 7 if isinstance(value, str) else str(value)
            if isinstance(value, int | str):  # a boolean is a whole number
                with pytest.raises(ValidationError, match=name if name != "kind" else "payload"):
                    Record.model_validate_json(changed(line, (name,), other))
        assert Record.model_validate_json(line).model_dump_json() == line


def test_names_of_kinds_and_codes_keep_to_their_pattern() -> None:
    line = next(line for line in LINES if '"point":"proposal"' in line)
    for name in ("kind_name", "code"):
        with pytest.raises(ValidationError, match="string_pattern_mismatch"):
            Record.model_validate_json(changed(line, (name,), "No Name"))
    with pytest.raises(ValidationError, match="less_than_equal"):
        Record.model_validate_json(changed(line, ("shape", "tokens"), 9))


#: Objects whose keys are names of ours and not fields.
OPEN = {("parts",)}


def places(value: JsonValue, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where the objects with fields in a payload are."""
    if not isinstance(value, dict) or path in OPEN:
        return []
    return [path, *(place for name, inner in value.items() for place in places(inner, (*path, name)))]


def changed(line: str, path: tuple[str, ...], value: JsonValue) -> str:
    """The record with something else at a place of its payload."""
    record = json.loads(line)
    place = record["payload"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return json.dumps(record)
