"""How rates went from run to run, and which verdicts turned, on the command line."""

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


@pytest.fixture
def nights(harness: Harness, world: World) -> None:
    """Four nights: ``pack/a`` fails in every second one, ``pack/b`` is another text in the last one."""
    for day, verdict in enumerate(("pass", "fail", "pass", "fail"), start=1):
        world.verdicts["pack/a"] = "fail" if verdict == "fail" else "pass"
        if day == 4:
            world.changed["pack/b"] = "stricter"
        harness("run", "--out", f"reports/night-{day}")
        path = Path(f"reports/night-{day}/manifest.json")
        path.write_text(json.dumps({**json.loads(path.read_text()), "created_at": f"2026-01-{day:02}T02:00:00Z"}))


@pytest.mark.usefixtures("nights")
def test_each_actor_is_told_run_by_run(harness: Harness) -> None:
    told = (
        "all scenarios, script\n"
        "  ▅█|▅\n"
        "day         passed  between   time    run\n"
        "2026-01-02  1/2     9-91 %    0.50 s  night-2\n"
        "2026-01-03  2/2     34-100 %  0.50 s  night-3\n"
        "2026-01-04  1/2     9-91 %    0.50 s  night-4: other text of a scenario\n"
    )
    assert harness("history", "trend", "--last", "3") == (0, told, "")


@pytest.mark.usefixtures("nights")
def test_many_are_told_with_one_line_each(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.cli.trend_told._CLOSE", 1)
    code, out, _ = harness("history", "trend", "pack/*")
    assert (code, out.splitlines()) == (
        0,
        [
            "course  passed  between   time    what",
            "█▁█▁    0/1     0-80 %    0.50 s  pack/a, script",
            "███|█   1/1     20-100 %  0.50 s  pack/b, script; 2026-01-04: other text of a scenario",
        ],
    )
    rows = [json.loads(row) for row in harness("history", "trend", "pack/a", "--format", "jsonl")[1].splitlines()]
    assert [(row["scenario"], [point["passes"] for point in row["points"]]) for row in rows] == [
        ("pack/a", [1, 0, 1, 0])
    ]
    assert len(json.loads(harness("history", "trend", "--format", "json")[1])["trends"]) == 1


@pytest.mark.usefixtures("nights")
def test_a_verdict_that_turns_is_told_and_one_whose_text_was_changed_has_not_turned(harness: Harness) -> None:
    told = (
        "turned  between   passed  quarantine  what\n"
        "3/3     43-100 %  2/4     {}  pack/a, script on loopx==0.4.8\n\n"
        "1 scenario and actor came out alike whenever played, in 4 runs\n"
    )
    advice = (
        "1 of these turns for no reason that is known: mend it, or put it into quarantine.toml with an owner and "
        "a last day\n"
    )
    assert harness("history", "flakes") == (0, told.format("worth it  ") + advice, "")
    Path("quarantine.toml").write_text(
        '[[quarantine]]\nscenario = "pack/a"\nowner = "team-a"\nreason = "flips"\nexpires = 2999-12-31\n'
    )
    harness("run", "--out", "reports/night-5")
    code, out, _ = harness("history", "flakes", "pack/a")
    assert (code, "  there  " in out, "of these" in out) == (0, True, False)
    rows = [json.loads(row) for row in harness("history", "flakes", "--format", "jsonl")[1].splitlines()]
    assert [(row["scenario"], row["flips"], row["set_aside"]) for row in rows] == [
        ("pack/a", 3, True),
        ("pack/b", 0, False),
    ]
    assert json.loads(harness("history", "flakes", "--last", "3", "--format", "json")[1])["runs"] == 3


@pytest.mark.usefixtures("nights")
@pytest.mark.parametrize("verb", ["trend", "flakes"])
def test_what_nobody_played_is_one_line(harness: Harness, verb: str) -> None:
    code, out, err = harness("history", verb, "--actor", "nobody")
    assert (code, out, err.count("\n")) == (5, "", 1)
    assert "holds no whole run of what is asked for" in err
