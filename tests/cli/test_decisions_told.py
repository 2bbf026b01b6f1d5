"""What a policy decides stands first in every report, in the words of ``harness qualify``."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree as ET

import pytest
from judged import PLANE, all_of, live, several, write_run

from harness.schema.verdict import Verdict

NEW = live("candidate")
POLICY = "schema = 1\nrate = 0.95\n\n[tier.must]\nscenarios = ['pack/s1']\nevery = true\n"
OVERALL = (
    "overall: 37 of 40 trials passed, so at the certainty of this policy between 81 % and 98 % pass; 95 % are wanted. "
    "About 280 more trials of each scenario would tell."
)
SENTENCES = [OVERALL, "must: 2 of 20 trials failed, and every one is to pass: pack/s1 2"]


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    verdicts: dict[str, Verdict]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY, "utf-8")
    write_run(Path("night"), all_of([18, 19], 20, NEW))


def words(text: str) -> str:
    return " ".join(text.split())


def test_every_report_tells_the_decision_in_the_words_of_qualify(harness: Harness) -> None:
    qualified = words(harness("qualify", "night", "--policy", "policy.toml")[1])
    code, out, err = harness("report", "night", "--policy", "policy.toml")
    assert (code, err) == (0, "")
    page, markdown, xml, lines, text = (
        Path("night", name).read_text("utf-8")
        for name in ("report.html", "summary.md", "junit.xml", "annotations.txt", "summary.txt")
    )
    shown = words(html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<main>")[2])))
    assert shown.startswith("Decisions ✗ FAIL candidate by policy.toml overall 37 of 40")
    assert '<a href="#decisions">Decisions</a>' in page
    assert markdown.index("### ❌ `candidate`: FAIL by `policy.toml`") < markdown.index("Passed of the trials")
    (told,) = {one.get("value", "") for one in ET.fromstring(xml).iter("property") if one.get("name") == DECISION}  # noqa: S314
    assert told == "; ".join(("candidate: FAIL by policy.toml", *SENTENCES))
    assert lines.splitlines()[1].startswith("::error title=candidate%3A FAIL by policy.toml::overall: 37 of 40")
    for sentence in SENTENCES:
        said = sentence.partition(": ")[2]
        assert said in qualified
        for report in (shown, words(out), words(text), markdown, lines.replace("%25", "%")):
            assert said in report


DECISION = "decision:candidate"


def test_tables_and_json_have_the_decision_of_each_actor(harness: Harness) -> None:
    told = json.loads(harness("report", "night", "--policy", "policy.toml", "--format", "json")[1])
    assert (told["decisions"][0]["answer"], told["policy"]["file"]) == ("fail", "policy.toml")
    assert told["decisions"][0]["told"] == SENTENCES
    assert list(told)[:3] == ["policy", "deciding", "decisions"], "before what may be very long"
    rows = list(csv.DictReader(Path("night/trials.csv").read_text("utf-8").splitlines()))
    assert {row["decision"] for row in rows} == {"FAIL"}
    out = harness("qualify", "night", "--policy", "policy.toml", "--format", "csv")[1]
    assert [(row["scenario"], row["decision"]) for row in csv.DictReader(out.splitlines())] == [
        ("", "FAIL"),
        ("pack/s1", ""),
        ("pack/s2", ""),
    ]
    assert harness("report", "night", "--report", "csv")[0] == 0
    rows = list(csv.DictReader(Path("night/trials.csv").read_text("utf-8").splitlines()))
    assert {row["decision"] for row in rows} == {""}, "without a policy nothing is decided"


def test_each_version_has_its_own_decision(harness: Harness) -> None:
    newer = PLANE.model_copy(update={"version": "2.1.1", "wheel_sha256": "9e" * 32})
    write_run(Path("both"), [*several("pack/s1", 20, 20), *several("pack/s1", 0, 20, plane=newer)])
    Path("low.toml").write_text("schema = 1\nrate = 0.5\n", "utf-8")
    assert harness("report", "both", "--policy", "low.toml", "--report", "csv", "--report", "markdown")[0] == 0
    rows = csv.DictReader(Path("both/trials.csv").read_text("utf-8").splitlines())
    assert {(row["plane_version"], row["decision"]) for row in rows} == {("0.4.8", "PASS"), ("2.1.1", "FAIL")}
    assert "❌ `openai/model, loopx==2.1.1`: FAIL" in Path("both/summary.md").read_text("utf-8")


def test_a_run_that_is_judged_writes_the_decision_into_its_reports(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "fail"}
    Path("all.toml").write_text("schema = 1\nevery = true\n", "utf-8")
    assert harness("run", "--policy", "all.toml", "--out", "played")[0] == 1
    assert "script: FAIL by all.toml" in Path("played/annotations.txt").read_text("utf-8").replace("%3A", ":")


def test_a_policy_of_the_file_is_read_for_reports_as_it_is_for_qualify(harness: Harness) -> None:
    Path("harness.toml").write_text("[report]\npolicy = 'policy.toml'\n", "utf-8")
    assert "candidate: FAIL by policy.toml" in harness("report", "night")[1]
    code, _, err = harness("report", "night", "--baseline", "last")
    assert (code, err.count("\n")) == (4, 1)
    assert err.startswith("harness: policy.toml: says no margin, so nothing is held against a baseline")
