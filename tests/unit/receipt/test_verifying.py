"""What was changed in a run folder is found and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.receipt import RunStore, verify_run
from harness.receipt.manifest_text import manifest_text, sealed
from harness.redaction import SecretGuard
from harness.schema.run import EpisodeResult, Manifest

MakeResult = Callable[[int], EpisodeResult]
FILES = ("manifest.json", "receipts.jsonl", "run.jsonl")


@pytest.fixture
def folder(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> Path:
    with RunStore(tmp_path / "run", manifest, SecretGuard(), sync=False) as run:
        for position in range(3):
            run.add(position, make_result(position))
        run.finish("2026-08-12T00:01:00+00:00")
    return tmp_path / "run"


def told(folder: Path) -> list[str]:
    return [flaw.told for flaw in verify_run(folder).flaws]


def test_a_run_that_nobody_touched_is_as_it_was_written(folder: Path) -> None:
    found = verify_run(folder)
    assert (found.state, found.finished, found.planned, found.flaws) == ("complete", 3, 3, ())


@given(data=st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_changed_byte_is_found(folder: Path, data: st.DataObject) -> None:
    path = folder / data.draw(st.sampled_from(FILES))
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[place]))
    try:
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        assert {flaw.file for flaw in verify_run(folder).flaws} == {path.name}
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("name", FILES[1:])
def test_cut_swapped_doubled_and_lost_lines_are_found(folder: Path, name: str) -> None:
    path = folder / name
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in (lines[:-1], [*lines[1:], lines[0]], [*lines, lines[0]], [], [*lines[:-1], lines[-1][:-1]]):
        path.write_bytes(b"".join(changed))
        assert {flaw.file for flaw in verify_run(folder).flaws} == {name}
    path.unlink()
    assert "is not there" in told(folder)[0]


def test_a_changed_receipt_is_named_by_its_episode(folder: Path) -> None:
    path = folder / "receipts.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1].replace('"pass"', '"fail"'), lines[2]]))
    (one,) = told(folder)
    assert one.startswith("receipts.jsonl:2: was changed after the run ended (")
    assert one.endswith("(demo/second, script, trial 1)")


def test_a_manifest_that_was_changed_is_told_and_nothing_else_is_believed(folder: Path) -> None:
    path = folder / "manifest.json"
    text = path.read_text()
    for old, new in (
        ('"complete"', '"interrupted"'),
        ('"verdicts": {', '"verdicts":  {'),
        ('"seal": "sha256:', '"seal": "sha256:f'),
    ):
        path.write_text(text.replace(old, new, 1))
        assert told(folder) in (
            ["manifest.json: was changed after the run ended"],
            ["manifest.json: is not what harness wrote"],
        )


def test_a_broken_chain_is_found_under_a_new_seal_too(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = Manifest.model_validate_json(path.read_bytes())
    swapped = sealed(manifest.model_copy(update={"receipts": manifest.receipts[::-1]}))
    path.write_bytes(manifest_text(swapped))
    assert told(folder) == ["manifest.json: its chain breaks at receipt 1"]
    path.write_bytes(manifest_text(manifest.model_copy(update={"seal": None})))
    assert told(folder) == ["manifest.json: has no seal"]


def test_a_run_that_did_not_end_is_told_as_that(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> None:
    with RunStore(tmp_path / "run", manifest, SecretGuard(), sync=False) as run:
        run.add(1, make_result(1))
    found = verify_run(tmp_path / "run")
    assert (found.state, found.finished, found.planned, found.flaws) == ("running", 1, 3, ())


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run"):
        verify_run(tmp_path)
