"""What is in quarantine is played and shown, and not held against the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree as ET

import pytest

from harness.receipt import read_run
from harness.schema.verdict import Verdict


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    verdicts: dict[str, Verdict]


def put(scenario: str = "pack/a", expires: str = "2999-12-31", actor: str = "script") -> None:
    Path("quarantine.toml").write_text(
        f'[[quarantine]]\nscenario = "{scenario}"\nactor = "{actor}"\nowner = "team-a"\nreason = "flips"\n'
        f"expires = {expires}\n"
    )


@pytest.mark.parametrize("verdict", ["fail", "not_judged", "pending"])
def test_it_is_told_and_the_run_passes(harness: Harness, world: World, verdict: Verdict) -> None:
    world.verdicts["pack/a"] = verdict
    assert harness("run", "--out", "before")[0] != 0
    put()
    code, out, err = harness("run", "--out", "run")
    assert code == 0
    assert err == (
        "harness: 1 episode of pack/a by script did not pass and is not held against the run: in quarantine until "
        "2999-12-31, team-a sees to it: flips\n"
    )
    assert "(1 of them in quarantine)" in out.splitlines()[0]
    assert "script, in quarantine" in out
    assert "In quarantine (shown, not held against the run)" in out
    assert "\nFailed\n" not in out
    before, after = (Path(name, "receipts.jsonl").read_bytes() for name in ("before", "run"))
    assert before == after
    assert set(read_run(Path("run")).manifest.set_aside) == {("pack/a", "script")}
    told = [json.loads(harness("report", name, "--format", "json")[1]).get("quarantine") for name in ("before", "run")]
    assert (told[0], told[1][0]["owner"]) == (None, "team-a")
    assert b'"quarantine"' not in Path("before/manifest.json").read_bytes()
    assert harness("verify", "run", "before")[0] == 0


def test_reports_mark_it_and_build_servers_do_not_fail_for_it(harness: Harness, world: World) -> None:
    world.verdicts.update({"pack/a": "fail", "pack/b": "fail"})
    put()
    assert harness("run", "--out", "run")[0] == 1
    root = ET.fromstring(Path("run/junit.xml").read_text())  # noqa: S314  (our own output)
    assert [root.get(name) for name in ("tests", "failures", "skipped")] == ["2", "1", "1"]
    (skipped,) = root.findall(".//skipped")
    assert skipped.get("message") == "in quarantine until 2999-12-31: stopped"
    values = [one.get("value") for one in root.iter("property") if one.get("name") == "quarantine"]
    assert values == ["until 2999-12-31, team-a sees to it: flips"]
    annotations = Path("run/annotations.txt").read_text()
    assert (annotations.count("::warning "), annotations.count("::error ")) == (1, 1)
    for name in ("summary.md", "report.html", "summary.txt"):
        assert "in quarantine" in Path("run", name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    ("how", "told"),
    [
        (
            {"expires": "2020-01-31"},
            "pack/a by script is held against the run again: its quarantine ended on 2020-01-31",
        ),
        ({"scenario": "pack/old"}, "pack/old by script matches no scenario; correct it, or leave it out"),
        ({"actor": "openai/*"}, ""),
    ],
)
def test_an_entry_that_is_over_or_elsewhere_holds_nothing_back(
    harness: Harness, world: World, how: dict[str, str], told: str
) -> None:
    world.verdicts["pack/a"] = "fail"
    put(**how)
    code, _, err = harness("run", "--out", "run")
    assert (code, err.count("\n")) == (1, bool(told))
    assert told in err


def test_doctor_tells_of_an_entry_that_is_over_that_it_matches_nothing_as_well(harness: Harness, world: World) -> None:
    put(scenario="pack/old", expires="2020-01-31")
    rows = json.loads(harness("doctor", "--format", "json")[1])["facts"]
    (row,) = [row for row in rows if row["name"].startswith("quarantine")]
    assert row["hint"] == "matches no scenario; is over: it counts again; leave it out, or set a new day"


def test_doctor_tells_each_entry_and_what_is_to_be_done_about_it(harness: Harness, world: World) -> None:
    put(expires="2020-01-31")
    rows = json.loads(harness("doctor", "--format", "json")[1])["facts"]
    (row,) = [row for row in rows if row["name"].startswith("quarantine")]
    assert (row["name"], row["status"]) == ("quarantine", "optional")
    assert row["text"].startswith("pack/a by script: until 2020-01-31")
    assert row["hint"] == "is over: it counts again; leave it out, or set a new day"
    Path("quarantine.toml").write_text("[[quarantine]]\n")
    code, out, _ = harness("doctor")
    assert code == 4
    assert "entry 1: scenario: is not there" in out


def test_a_file_that_is_wrong_begins_no_run(harness: Harness, world: World) -> None:
    Path("quarantine.toml").write_text("[[quarantine]]\n")
    for more in ((), ("--dry-run",)):
        code, _, err = harness("run", "--out", "run", *more)
        assert (code, err.count("\n")) == (4, 1)
        assert "quarantine.toml: entry 1: scenario: is not there" in err
    assert not Path("run").exists()


def test_check_tells_an_entry_that_matches_nothing(harness: Harness, world: World) -> None:
    put(scenario="pack/old")
    assert "quarantine.toml: pack/old by script matches no scenario" in harness("check", "pack/a")[2]
    put(expires="2020-01-31")
    assert "quarantine.toml" not in harness("check", "pack/a")[2]


def test_shards_that_are_put_together_keep_what_is_set_aside(harness: Harness, world: World) -> None:
    world.verdicts["pack/a"] = "fail"
    put()
    for number in (1, 2):
        assert harness("run", "--shard", f"{number}/2", "--out", f"shard-{number}")[0] == 0
    assert harness("history", "merge", "shard-2", "shard-1", "--out", "whole")[0] == 0
    assert set(read_run(Path("whole")).manifest.set_aside) == {("pack/a", "script")}


def test_a_run_that_is_gone_on_with_is_held_to_what_the_file_says_by_then(harness: Harness, world: World) -> None:
    world.verdicts["pack/a"] = "pending"
    assert harness("run", "--out", "run")[0] == 3
    world.verdicts["pack/a"] = "fail"
    put()
    assert harness("run", "--resume", "run")[0] == 0
    assert set(read_run(Path("run")).manifest.set_aside) == {("pack/a", "script")}
