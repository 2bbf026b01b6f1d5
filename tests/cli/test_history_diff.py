"""What is different in a run from an earlier one, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

from harness.schema.verdict import Verdict


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    verdicts: dict[str, Verdict]
    changed: dict[str, str]


def dated(name: str, day: int) -> None:
    """Runs of one second are told apart by their names only; these are of different days."""
    path = Path("reports", name, "manifest.json")
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "created_at": f"2026-01-{day:02}T02:00:00Z"}))


@pytest.fixture
def nights(harness: Harness, world: World) -> Path:
    """Three nights, one of another selection between them; ``pack/a`` fails in the last one."""
    for day, (name, verdict, what) in enumerate(
        (("one", "pass", ()), ("two", "fail", ("pack/a",)), ("three", "fail", ())), start=1
    ):
        world.verdicts["pack/a"] = "fail" if verdict == "fail" else "pass"
        harness("run", *what, "--out", f"reports/{name}")
        dated(name, day)
    return Path("reports")


def test_a_run_is_held_against_the_newest_earlier_one_that_played_the_same(harness: Harness, nights: Path) -> None:
    told = (
        "before: reports/one (2026-01-01 02:00)\n"
        "now:    reports/three (2026-01-03 02:00)\n\n"
        "script: 1 of 2 passed, 2 of 2 passed before\n"
        "  fails now   pack/a: stopped\n"
    )
    assert harness("history", "diff") == (0, told, "")
    assert harness("history", "diff", "reports/three") == (0, told, "")
    assert harness("history", "diff", "reports/one", "reports/three") == (0, told, "")
    code, out, _ = harness("history", "diff", "--format", "jsonl")
    (row,) = map(json.loads, out.splitlines())
    assert (code, row["places"][0]["kinds"], row["alike"]) == (0, ["new_fail"], 1)
    whole = json.loads(harness("history", "diff", "--format", "json")[1])
    assert (whole["before"]["run"], whole["now"]["run"]) == ("reports/one", "reports/three")


def test_two_runs_that_are_named_need_no_folder_of_runs(harness: Harness, nights: Path) -> None:
    nights.rename("elsewhere")
    code, out, err = harness("history", "diff", "elsewhere/one", "elsewhere/three")
    assert (code, "fails now   pack/a: stopped" in out, err) == (0, True, "")
    assert harness("history", "diff", "elsewhere/three")[0] == 5


def test_a_job_can_fail_on_what_it_does_not_want(harness: Harness, nights: Path) -> None:
    for gates, code, said in (
        (("new-fails",), 1, "harness: --fail-on new-fails: 1 scenario\n"),
        (("sure-fails",), 1, "harness: --fail-on sure-fails: 1 scenario\n"),
        (("worse", "not-judged"), 0, ""),
    ):
        ended = harness("history", "diff", *(word for gate in gates for word in ("--fail-on", gate)))
        assert (ended[0], ended[2]) == (code, said)
    assert harness("history", "diff", "reports/three", "reports/one", "--fail-on", "new-fails")[0] == 0


def test_another_text_of_a_scenario_is_said(harness: Harness, world: World, nights: Path) -> None:
    world.changed["pack/b"] = "stricter"
    harness("run", "--out", "reports/four")
    out = harness("history", "diff", "reports/four")[1]
    rates = "1 of 1 passed, 1 of 1 passed before"
    assert f"  other text  pack/b: its text, or how it is judged, is another one; {rates}" in out.splitlines()
    for name, texts in (("three", {"prompt.user": "a", "limits": "b"}), ("four", {"prompt.user": "c", "limits": "b"})):
        path = Path("reports", name, "manifest.json")
        told = json.loads(path.read_text())
        for one in told["scenarios"]:
            one["parts"] = texts
        path.write_text(json.dumps(told))
    out = harness("history", "diff", "reports/three", "reports/four")[1]
    assert f"  other text  pack/b: other prompt.user; {rates}" in out.splitlines()


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("reports/one",), 5, "holds no whole run before reports/one that played the same scenarios"),
        (("reports/two",), 5, "holds no whole run before reports/two"),
        (("reports/one", "reports/one"), 4, "is the same run as reports/one"),
        (("reports/one", "reports/two", "reports/three"), 4, "two runs are held against each other"),
        (("reports/nowhere", "reports/one"), 4, "holds no run"),
        (("--reports", "elsewhere"), 4, "there is no such folder"),
    ],
)
def test_what_cannot_be_held_against_each_other_is_one_line(
    harness: Harness, nights: Path, argv: tuple[str, ...], code: int, said: str
) -> None:
    ended = harness("history", "diff", *argv)
    assert (ended[0], ended[1], ended[2].count("\n")) == (code, "", 1)
    assert said in ended[2]


def test_a_run_that_the_index_tells_is_not_read_again(
    harness: Harness, nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand receipts take minutes to read, and a row of the index a second."""
    told = harness("history", "diff")  # brings the index up to date
    with monkeypatch.context() as patch:
        patch.setattr("harness.wiring.indexing.read_outline", None)
        assert harness("history", "diff", "reports/one", "reports/three") == told
    (nights / "history.sqlite").write_bytes(b"x" * 4096)
    assert harness("history", "diff", "reports/one", "reports/three") == told
    dated("one", 2)
    assert "(2026-01-02" in harness("history", "diff", "reports/one", "reports/three")[1]


def test_a_folder_without_a_whole_run_has_nothing_to_hold_against_another(harness: Harness, world: World) -> None:
    Path("empty").mkdir()
    code, out, err = harness("history", "diff", "--reports", "empty")
    assert (code, out, err.count("\n")) == (5, "", 1)
    assert "empty: holds no whole run" in err
    harness("run", "--out", "one")
    harness("run", "--out", "two")
    assert harness("history", "diff", "one", "two", "--reports", "nowhere")[0] == 0
