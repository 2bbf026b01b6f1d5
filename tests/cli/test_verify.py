"""A run is verified by its folder; each fault is a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


@pytest.fixture
def finished(harness: Harness, world: World) -> Path:
    """The folder of a run that is done."""
    assert harness("run", "--out", "out")[0] == 0
    return Path("out")


def test_a_run_that_nobody_touched_ends_with_0(harness: Harness, finished: Path) -> None:
    code, out, err = harness("verify", "out")
    assert (code, err) == (0, "")
    assert out.startswith("out: is as it was written, ")


def test_a_changed_receipt_ends_with_1_and_is_named(harness: Harness, finished: Path) -> None:
    path = finished / "receipts.jsonl"
    path.write_text(path.read_text().replace('"pass"', '"fail"', 1))
    code, out, _ = harness("verify", "out")
    assert code == 1
    assert out.startswith("out: was changed\n  receipts.jsonl:1: was changed after the run ended (pack/a, ")
    code, out, _ = harness("verify", "out", "--format", "json")
    (run,) = json.loads(out)["runs"]
    assert (code, run["state"], run["flaws"][0]["line"]) == (1, "complete", 1)
    code, out, _ = harness("verify", "out", "./out/../out", "--format", "jsonl")
    assert [json.loads(row)["run"] for row in out.splitlines()] == ["out", "out/../out"]


@pytest.mark.parametrize("state", ["running", "interrupted"])
def test_a_run_that_did_not_end_ends_with_2(harness: Harness, finished: Path, state: str) -> None:
    from harness.receipt.manifest_text import manifest_text, sealed
    from harness.schema.run import Manifest

    path = finished / "manifest.json"
    manifest = Manifest.model_validate_json(path.read_bytes())
    path.write_bytes(manifest_text(sealed(manifest.model_copy(update={"state": state}))))
    code, out, _ = harness("verify", "out")
    assert code == 2
    assert "what is there is whole" in out


def test_a_folder_without_a_run_is_one_line_and_4(harness: Harness, tmp_path: Path) -> None:
    code, out, err = harness("verify", str(tmp_path))
    assert (code, out) == (4, "")
    assert err.endswith("holds no run (manifest.json is not there)\n")
