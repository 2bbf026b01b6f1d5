"""``--actor recorded:FILE``: the scenario that the file holds is played, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CHOSEN = min((REPOSITORY / "recordings/loopx/selected-todo").glob("*.jsonl"))
REPAIR = min((REPOSITORY / "recordings/loopx/capability-repair").glob("*.jsonl"))


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


pytestmark = pytest.mark.plane


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, plane_home: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_HOME", str(plane_home))


def plan(harness: Harness, *argv: str) -> list[tuple[str, str]]:
    """Scenarios and actors that would play."""
    code, out, err = harness("run", *argv, "--dry-run", "--format", "jsonl")
    assert (code, err) == (0, "")
    return [(row["scenario"], row["actor"]) for row in map(json.loads, out.splitlines())]


def test_without_a_selection_it_plays_what_it_holds(harness: Harness) -> None:
    assert plan(harness, "--actor", f"recorded:{CHOSEN}") == [("loopx/selected-todo", f"recorded:{CHOSEN.stem}")]
    both = plan(harness, "--actor", f"recorded:{CHOSEN}", "--actor", f"recorded:{REPAIR}")
    assert both == [
        ("loopx/capability-repair", f"recorded:{REPAIR.stem}"),
        ("loopx/selected-todo", f"recorded:{CHOSEN.stem}"),
    ]


def test_a_pattern_may_choose_more_than_it_holds(harness: Harness) -> None:
    assert plan(harness, "loopx/*", "--actor", f"recorded:{CHOSEN}") == [
        ("loopx/selected-todo", f"recorded:{CHOSEN.stem}")
    ]


def test_beside_other_actors_it_plays_its_own_scenario_only(harness: Harness) -> None:
    played = plan(harness, "--actor", "script", "--actor", f"recorded:{CHOSEN}")
    assert [scenario for scenario, actor in played if actor != "script:reference"] == ["loopx/selected-todo"]
    assert len(played) > 2


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (
            ("loopx/capability-repair",),
            f"loopx/capability-repair is not what is recorded: recorded:{CHOSEN} holds",
        ),
        (("loopx/selected-todo", "loopx/capability-repair"), "loopx/capability-repair is not what is recorded"),
        (("registry/*",), f"recorded:{CHOSEN} holds loopx/selected-todo, which is not among the chosen scenarios"),
        (
            (str(REPOSITORY / "scenarios/loopx/capability-repair.toml"),),
            "loopx/capability-repair is not what is recorded",
        ),
    ],
)
def test_a_scenario_that_it_does_not_hold_is_one_line(
    harness: Harness, tmp_path: Path, selection: tuple[str, ...], told: str
) -> None:
    code, out, err = harness("run", *selection, "--actor", f"recorded:{CHOSEN}", "--out", "out")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert told in err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_recording_is_one_line(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("{}\n")
    code, out, err = harness("run", "--actor", "recorded:none.jsonl")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert "none.jsonl:1: " in err
