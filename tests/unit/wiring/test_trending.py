"""What the index of runs knows of the runs before one."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_run import MODELS, Synthetic

from harness.receipt import read_run
from harness.schema.run import RunView
from harness.wiring import trending
from harness.wiring.indexing import INDEX, note_run
from harness.wiring.trending import with_trends


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Three nights, all in the index."""
    folders = []
    for night in (1, 2, 3):
        made = Synthetic(
            trials=2, scenarios=1, models=MODELS[:2], seed=night, created_at=f"2026-01-0{night}T00:00:00Z", cut=0.0
        )
        folders.append(made.write(tmp_path / "reports" / f"night-{night}"))
        assert note_run(folders[-1], tmp_path / "reports") is None
    return folders


def known(folder: Path) -> RunView:
    return with_trends(folder.parent, folder, read_run(folder))


def test_a_run_is_told_with_those_before_it_and_never_with_later_ones(runs: list[Path]) -> None:
    found = [known(folder).trends for folder in runs]
    assert [len(trends) for trends in found] == [0, 2, 2]
    assert [trend.actor for trend in found[2]] == [model.name for model in MODELS[:2]]
    assert [point.run for point in found[2][0].points] == ["night-1", "night-2", "night-3"]
    assert [point.run for point in found[1][0].points] == ["night-1", "night-2"]


def test_only_so_many_runs_count(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trending, "RUNS", 2)
    assert [point.run for point in known(runs[2]).trends[0].points] == ["night-2", "night-3"]


def test_elsewhere_and_without_a_usable_index_a_run_is_told_without_trends(runs: list[Path], tmp_path: Path) -> None:
    view = read_run(runs[2])
    assert with_trends(tmp_path / "other", runs[2], view) is view
    (runs[2].parent / INDEX).write_bytes(b"no database")
    assert known(runs[2]).trends == ()
