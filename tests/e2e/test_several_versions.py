"""One scenario on the real loopx of two versions, one of which starts Node.js."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.receipt import read_run

pytestmark = [pytest.mark.slow, pytest.mark.plane]

OLD, NEW = "loopx==0.4.8", "loopx==2.1.1"


@pytest.fixture(autouse=True)
def place(newer_plane_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_HOME", str(newer_plane_home))
    # the machine's own programs are of no use to it: its Node.js is that of its plane
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "bin" / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.chdir(tmp_path)


def test_what_changes_with_the_version_is_found_and_told_as_the_planes_doing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = ["run", "loopx/selected-todo", "--plane", f"{OLD},2.1.1", "--out", "out", "--format", "json"]
    assert main(said) == 1
    document = json.loads(capsys.readouterr().out)
    view = read_run(Path("out"))
    old, new = view.receipts
    assert (old.plane.ref, old.verdict, new.plane.ref) == (OLD, "pass", NEW)
    # every call ran and every answer was as the scenario demands it; what breaks it are files in new places
    assert [(step.kind, step.executed, step.code) for step in new.steps] == [
        (step.kind, step.executed, step.code) for step in old.steps
    ]
    assert (new.outcome.name, new.facts) == (old.outcome.name, old.facts)
    assert (new.verdict, new.cause, new.failure_code) == ("fail", "control_plane", "unexpected_workspace_change")
    ((change,),) = [row["changes"] for matrix in document["versions"] for row in matrix["rows"]]
    assert (change["from"], change["to"], change["moved"]) == ("0.4.8", "2.1.1", "plane")


def test_warm_and_cold_leave_the_same_receipts_but_for_what_changes_each_time() -> None:
    told = []
    for executor in ("warm", "cold"):
        assert main(["run", "loopx/selected-todo", "--plane", NEW, "--executor", executor, "--out", executor]) == 1
        (receipt,) = read_run(Path(executor)).receipts
        assert receipt.failure_code == "unexpected_workspace_change"
        assert [step.result for step in receipt.steps] == ["succeeded"] * 2
        # more changes from run to run in its answers than the scenario knows of
        steps = tuple(replace(step, answer_digest=None) for step in receipt.steps)
        told.append(receipt.model_copy(update={"steps": steps}))
    assert told[0] == told[1]


def test_a_recording_is_stale_on_another_version_and_nobody_is_told_to_make_it_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = Path(__file__).parents[2]
    (recording,) = sorted((root / "recordings/loopx/selected-todo").glob("*--good-*.jsonl"))[:1]
    assert main(["run", "--actor", f"recorded:{recording}", "--plane", f"{OLD},2.1.1", "--out", "out"]) == 6
    out = capsys.readouterr().out
    old, new = read_run(Path("out")).receipts
    assert (old.verdict, new.verdict, new.failure_code) == ("pass", "not_judged", "stale_plane_version")
    assert "a recording belongs to the version that it was made on" in " ".join(out.split())
    assert "harness record" not in out
