from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from synthetic_run import Synthetic

from harness.errors import StoreError
from harness.receipt import RunStore, lines, read_outline, read_run, read_told, reading
from harness.redaction import SecretGuard
from harness.schema.run import EpisodeResult, Manifest, RunView

MakeResult = Callable[[int], EpisodeResult]


@pytest.fixture
def folder(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> Path:
    with RunStore(tmp_path / "run", manifest, SecretGuard(), sync=False) as run:
        for position in range(3):
            run.add(position, make_result(position))
        run.finish("2026-08-12T00:01:00+00:00")
    return tmp_path / "run"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_folder_without_a_manifest_holds_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no run \(manifest\.json is not there\)"):
        read_run(tmp_path)


def test_a_manifest_of_another_version_says_which_is_known(folder: Path) -> None:
    change(folder / "manifest.json", '"schema_version": 1', '"schema_version": 2')
    with pytest.raises(StoreError, match=r"manifest\.json: schema version 2 is not known here \(known: 1\)"):
        read_run(folder)


def test_a_version_that_is_no_number_is_not_repeated(folder: Path) -> None:
    change(folder / "manifest.json", '"schema_version": 1', '"schema_version": "kanari"')
    with pytest.raises(StoreError, match="schema version of another kind"):
        read_run(folder)


def test_a_manifest_that_is_no_json_is_told(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(b"\xff{")
    with pytest.raises(StoreError, match=r"manifest\.json: is no JSON"):
        read_run(folder)


def test_a_manifest_that_is_no_object_is_told(folder: Path) -> None:
    (folder / "manifest.json").write_text("[]")
    with pytest.raises(StoreError, match=r"manifest\.json: cannot be used: the value"):
        read_run(folder)


def test_a_wrong_field_is_told_by_its_place_and_its_value_is_not_repeated(folder: Path) -> None:
    change(folder / "receipts.jsonl", '"trial":1', '"trial":"kanari"')
    with pytest.raises(StoreError, match=r"receipts\.jsonl:1: cannot be used: trial") as caught:
        read_run(folder)
    assert "kanari" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_field_is_refused_and_its_name_is_not_repeated(folder: Path) -> None:
    change(folder / "run.jsonl", '"key":', '"kanari":1,"key":')
    with pytest.raises(StoreError, match=r"run\.jsonl:1: cannot be used: the value: extra forbidden") as caught:
        read_run(folder)
    assert "kanari" not in str(caught.value)


STEP = '"ordinal":1,"turn":1,"tool":"exec","kind":null,"result":"succeeded","executed":true'
ATTEMPT = '"operation":"turn-1/main","attempt":1,"status":"unknown","usage":null,"seconds":1.0'


@pytest.mark.parametrize(
    ("name", "part", "fields"), [("receipts.jsonl", "steps", STEP), ("run.jsonl", "attempts", ATTEMPT)]
)
def test_what_is_wrong_with_a_part_is_told_in_the_same_words(folder: Path, name: str, part: str, fields: str) -> None:
    whole = (folder / name).read_text()
    for wrong, told in ((f'{{{fields},"kanari":1}}', "extra forbidden"), ('"kanari"', "model type")):
        (folder / name).write_text(whole)
        change(folder / name, f'"{part}":[]', f'"{part}":[{wrong}]')
        with pytest.raises(StoreError, match=rf"{name}:1: cannot be used: {part}\.0: {told}") as caught:
            read_run(folder)
        assert "kanari" not in str(caught.value)


def test_a_receipt_that_was_changed_is_told_by_its_line(folder: Path) -> None:
    text = (folder / "receipts.jsonl").read_text().splitlines(keepends=True)
    text[1] = text[1].replace('"verdict":"pass"', '"verdict":"fail"')
    (folder / "receipts.jsonl").write_text("".join(text))
    with pytest.raises(StoreError, match=r"receipts\.jsonl:2: is not the receipt that manifest\.json names"):
        read_run(folder)


def test_a_receipt_that_is_gone_or_one_too_many_is_told(folder: Path) -> None:
    lines = (folder / "receipts.jsonl").read_text().splitlines(keepends=True)
    (folder / "receipts.jsonl").write_text("".join(lines[:2]))
    with pytest.raises(StoreError, match=r"receipts\.jsonl:3: is not there, but manifest\.json names 3 receipts"):
        read_run(folder)
    (folder / "receipts.jsonl").write_text("".join([*lines, lines[0]]))
    with pytest.raises(StoreError, match=r"receipts\.jsonl:4: is not the receipt"):
        read_run(folder)


def test_a_file_that_was_cut_is_told_by_the_line(folder: Path) -> None:
    data = (folder / "receipts.jsonl").read_bytes()
    (folder / "receipts.jsonl").write_bytes(data[:-20])
    with pytest.raises(StoreError, match=r"receipts\.jsonl:3: ends in the middle of a line"):
        read_run(folder)


def test_a_file_that_is_gone_is_told(folder: Path) -> None:
    (folder / "run.jsonl").unlink()
    with pytest.raises(StoreError, match=r"run\.jsonl: cannot be read: No such file"):
        read_run(folder)


def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(StoreError, match=r"manifest\.json: cannot be read: Is a directory"):
        read_run(tmp_path)


def test_of_a_killed_run_a_last_line_that_was_never_finished_is_left_out(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with RunStore(tmp_path / "run", manifest, SecretGuard(), sync=False) as run:
        run.add(0, make_result(0))
    part = tmp_path / "run/episodes.part.jsonl"
    whole = part.read_bytes()
    part.write_bytes(whole + whole[:50])
    assert len(read_run(tmp_path / "run").receipts) == 1
    part.write_bytes(whole[:50] + b"\n" + whole)
    with pytest.raises(StoreError, match=r"episodes\.part\.jsonl:1: is no JSON"):
        read_run(tmp_path / "run")


def test_of_a_run_killed_at_its_start_there_is_nothing_to_read(tmp_path: Path, manifest: Manifest) -> None:
    RunStore(tmp_path / "run", manifest, SecretGuard(), sync=False).close()
    (tmp_path / "run/episodes.part.jsonl").unlink()
    assert read_run(tmp_path / "run").receipts == ()


def test_receipts_without_an_end_are_refused_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "receipts.jsonl").symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=r"receipts\.jsonl: cannot be read: it is no regular file"):
        list(lines.lines(tmp_path / "receipts.jsonl"))
    (tmp_path / "long.jsonl").write_bytes(b"x" * 100)
    monkeypatch.setattr(lines, "LINE_MAX", 50)
    with pytest.raises(StoreError, match=r"long\.jsonl:1: is too large; allowed: lines of less than 50 bytes"):
        list(lines.lines(tmp_path / "long.jsonl"))


def test_an_outline_tells_what_is_counted_and_leaves_out_the_steps(tmp_path: Path) -> None:
    folder = Synthetic(trials=2, scenarios=1).write(tmp_path / "run")
    left_out = {"steps": (), "turns": (), "facts": (), "findings": ()}
    whole, outline = read_run(folder), read_outline(folder)
    assert outline.log == whole.log
    assert any(receipt.steps for receipt in whole.receipts)
    for receipt, short in zip(whole.receipts, outline.receipts, strict=True):
        told = {name: value for name, value in dict(receipt).items() if name != "boundary"}
        assert {name: value for name, value in dict(short).items() if name != "boundary"} == {**told, **left_out}
        assert short.key == receipt.key
    assert outline.receipts[0].actor is outline.receipts[1].actor


def test_a_run_that_is_large_is_told_without_the_digests_of_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Synthetic(trials=2, scenarios=2).write(tmp_path / "run")
    whole = read_run(folder)
    assert read_told(folder) == whole

    monkeypatch.setattr(reading, "WHOLE_MAX", len(whole.receipts) - 1)
    told = read_told(folder)

    assert told.log == whole.log
    assert told.manifest == whole.manifest.model_copy(update={"receipts": ()})
    nothing = {"command_digest": None, "arguments_digest": None, "answer_digest": None}
    assert [receipt.model_dump() for receipt in told.receipts] == [
        {**receipt, "steps": tuple({**step, **nothing} for step in receipt["steps"])}
        for receipt in (receipt.model_dump() for receipt in whole.receipts)
    ]
    steps = [step for receipt in told.receipts for step in receipt.steps]
    assert len({id(step) for step in steps}) == len(set(steps)) < len(steps)


def test_a_large_run_that_was_changed_is_refused_whatever_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Synthetic(trials=2, scenarios=2).write(tmp_path / "run")
    monkeypatch.setattr(reading, "WHOLE_MAX", 1)
    change(folder / "receipts.jsonl", '"command_digest":"sha256:', '"command_digest":"sha256;')

    with pytest.raises(StoreError, match=r"receipts\.jsonl:1: is not the receipt that manifest\.json names"):
        read_told(folder)


@pytest.mark.parametrize("read", [read_run, read_outline, read_told])
def test_a_step_that_was_changed_is_told_by_whoever_reads(tmp_path: Path, read: Callable[[Path], RunView]) -> None:
    folder = Synthetic(trials=1, scenarios=1).write(tmp_path / "run")
    change(folder / "receipts.jsonl", '"executed":true', '"executed":false')
    with pytest.raises(StoreError, match=r"receipts\.jsonl:1: is not the receipt that manifest\.json names"):
        read(folder)
