"""``harness qualify``: rates in plain words, for machines, and only where they may be told."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest
from judged import MODEL, PLANE, Played, live, several, write_run

from harness.schema.actor import ActorIdentity
from harness.schema.message import Usage
from harness.schema.spending import Entry, entry_name

CANDIDATE = live("candidate")
EXPENSIVE = live("openai/large-model")
SCRIPT = ActorIdentity(ref="script:reference", kind="script", digest="sha256:s")


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mixed() -> list[Played]:
    """Forty judged trials of two scenarios, and what else can come of one."""
    one, other, model = "loopx/selected-todo", "registry/reports-blocked-honestly", "model-2026"
    costs = (Decimal(1000), Decimal(500))
    return [
        *several(one, 18, 20, actor=CANDIDATE, costs=costs, model=model, seconds=2.5),
        *several(other, 13, 20, actor=CANDIDATE, costs=(Decimal(2000),), model=model, seconds=40.0),
        Played(other, 21, "not_judged", CANDIDATE, cause="provider", costs=(Decimal(400),)),
        Played(other, 21, "not_judged", CANDIDATE, cause="provider", attempt=2, costs=(Decimal(100),)),
        Played(other, 22, None, CANDIDATE),
    ]


MIXED = """\
nightly (interrupted): 42 trials planned, loopx==0.4.8

candidate
  passed      of 40 trials 31 passed: between 62 % and 88 %
  left out    2 of 42 trials: not played 1, provider 1
  as failures of 42 trials 31 passed: between 58 % and 85 %
  retried     1 attempt played again; none of them is a trial
  in a row    all of 5 pass: 32 % (pass^5); at least one: > 99 % (pass@5)
  spread      standard error 12.5 points over 2 scenarios
  cost        $0.00171 an episode, $0.00227 a pass
  time        half within 21.25 s, 95 of 100 within 40.00 s
  tokens      not told by its provider
  failed with wrong 9
  answered by model-2026 40

passed  between  enough  all of 5  left out  scenario
18/20   69-98 %  yes     55 %      -         loopx/selected-todo
13/20   43-82 %  yes     8 %       2         registry/reports-blocked-honestly
"""


def test_a_run_is_told_in_plain_words(harness: Harness) -> None:
    write_run(Path("nightly"), mixed())
    assert harness("qualify", "nightly") == (0, MIXED, "")


def test_each_version_of_a_run_is_told_by_itself_and_none_is_added_to_another(harness: Harness) -> None:
    newer = PLANE.model_copy(update={"version": "2.1.1", "wheel_sha256": "9e" * 32})
    played = [*several("pack/a", 3, 3), *several("pack/a", 1, 3, plane=newer), *several("pack/b", 2, 2, plane=newer)]
    write_run(Path("both"), played)
    code, out, err = harness("qualify", "both", "--format", "json")
    assert (code, err) == (0, "")
    actors = json.loads(out)["actors"]
    assert [(one["run"], one["judged"]["passes"], one["judged"]["n"]) for one in actors] == [
        ("both on loopx==0.4.8", 3, 3),
        ("both on loopx==2.1.1", 3, 5),
    ]
    text = harness("qualify", "both")[1]
    assert text.startswith("A both on loopx==0.4.8: 3 trials planned, loopx==0.4.8\nB both on loopx==2.1.1: 5 trials")
    assert {"3/3", "3/5"} <= set(text.split())
    assert "6/8" not in text
    # models are compared on one version
    code, _, err = harness("compare", "both")
    assert (code, err.count("\n")) == (4, 1)
    assert "both: was played on several versions of a control plane, and actors are compared on one" in err
    assert err.endswith("; harness qualify both tells each\n")
    write_run(Path("again"), several("pack/a", 2, 3))
    assert harness("qualify", "both", "again")[0] == 0
    write_run(Path("other"), several("pack/b", 2, 3))
    code, _, err = harness("qualify", "both", "other")
    assert (code, err.count("\n")) == (4, 1)
    assert "other cannot stand beside both on loopx==0.4.8: scenario pack/a is in one of them only" in err


def test_the_page_shows_what_is_printed() -> None:
    page = Path(__file__).parents[2] / "docs" / "qualification.md"
    assert f"```text\n{MIXED}```\n" in page.read_text("utf-8")


SIDE_BY_SIDE = """\
A small: 6 trials planned, loopx==0.4.8
B large: 12 trials planned, loopx==0.4.8

passed  between   enough  all of 3  a pass       actor
2/3     20-94 %   no      0 %       -            A openai/model
3/3     43-100 %  no      100 %     -            A script:reference
12/12   75-100 %  yes     100 %     >= $0.00001  B openai/large-model

A openai/model
  passed      of 3 trials 2 passed: between 20 % and 94 %, not enough to tell
  in a row    all of 3 pass: 0 % (pass^3); at least one: 100 % (pass@3)
  spread      not known: fewer than two scenarios have a judged trial
  cost        unknown
              nobody knows the cost of 3 of 3 model calls
  time        half within 1.00 s, 95 of 100 within 1.00 s
  tokens      not told by its provider
  failed with wrong 1
  answered by not told by its provider

passed  between  enough  all of 3  scenario
2/3     20-94 %  no      0 %       pack/a

A script:reference
  passed      of 3 trials 3 passed: between 43 % and 100 %, not enough to tell
  in a row    all of 3 pass: 100 % (pass^3); at least one: 100 % (pass@3)
  spread      not known: fewer than two scenarios have a judged trial
  time        half within 1.00 s, 95 of 100 within 1.00 s

passed  between   enough  all of 3  scenario
3/3     43-100 %  no      100 %     pack/a

B openai/large-model
  passed      of 12 trials 12 passed: between 75 % and 100 %
  in a row    all of 3 pass: 100 % (pass^3); at least one: 100 % (pass@3)
  spread      not known: fewer than two scenarios have a judged trial
  cost        >= $0.00001 an episode, >= $0.00001 a pass
              nobody knows the cost of 12 of 24 model calls
  time        half within 1.00 s, 95 of 100 within 1.00 s
  tokens      not told by its provider
  answered by not told by its provider

passed  between   enough  all of 3  scenario
12/12   75-100 %  yes     100 %     pack/a

not enough to tell: the ends of the interval are more than 40 points apart
"""


def test_runs_stand_side_by_side_and_nobody_is_ranked(harness: Harness) -> None:
    write_run(Path("small"), [*several("pack/a", 2, 3, costs=(None,)), *several("pack/a", 3, 3, actor=SCRIPT)])
    write_run(Path("large"), several("pack/a", 12, 12, actor=EXPENSIVE, costs=(Decimal(10), None)))
    assert harness("qualify", "small", "large") == (0, SIDE_BY_SIDE, "")


@pytest.mark.parametrize("told", [MIXED, SIDE_BY_SIDE])
def test_no_line_is_wider_than_80_columns(told: str) -> None:
    assert [line for line in told.splitlines() if len(line) > 80] == []


def test_an_actor_of_a_run_that_is_the_only_one_is_called_by_its_name(harness: Harness) -> None:
    write_run(Path("both"), [*several("pack/a", 1, 2), *several("pack/a", 2, 2, actor=SCRIPT)])
    _, out, _ = harness("qualify", "both")
    assert out.startswith("both: 4 trials planned, loopx==0.4.8\n\npassed  between   enough  all of 2  actor\n")
    assert "\nopenai/model\n" in out


def test_what_a_pass_costs_is_cut_to_what_can_be_read(harness: Harness) -> None:
    write_run(Path("dear"), several("pack/a", 1, 1, costs=(Decimal(12_345_678),)))
    write_run(Path("lost"), several("pack/a", 0, 1, costs=(Decimal(123_456),)))
    assert "cost        $12.34 an episode, $12.34 a pass\n" in harness("qualify", "dear")[1]
    assert "cost        $0.123 an episode, nothing passed\n" in harness("qualify", "lost")[1]


def test_calls_that_no_episode_here_made_are_told(harness: Harness) -> None:
    run = write_run(Path("few"), several("pack/a", 1, 2))
    entry = Entry(attempt=entry_name("no episode", "turn-1/main#1"), event="reserved", micro_usd=Decimal(7))
    (run / "spending.jsonl").write_text(f"{entry.model_dump_json()}\n")
    told = harness("qualify", "few")[1].splitlines()[0]
    assert told == "few: 2 trials planned, loopx==0.4.8; 1 model call of no episode here is left out"
    assert json.loads(harness("qualify", "few", "--format", "json")[1])["runs"][0]["calls_without_a_receipt"] == 1


def test_more_runs_than_letters_are_numbered(harness: Harness) -> None:
    names = [f"run-{number}" for number in range(1, 28)]
    for name in names:
        write_run(Path(name), several("pack/a", 1, 1))
    code, out, _ = harness("qualify", *names)
    assert code == 0
    assert out.splitlines()[25:27] == [
        "Z run-26: 1 trial planned, loopx==0.4.8",
        "27 run-27: 1 trial planned, loopx==0.4.8",
    ]


def test_where_nothing_was_judged_nothing_is_told_as_a_rate(harness: Harness) -> None:
    outages = [Played("pack/a", trial, "not_judged", cause="provider") for trial in (1, 2)]
    write_run(Path("outage"), outages)
    code, out, _ = harness("qualify", "outage")
    assert code == 0
    assert "passed      no trial was judged: not enough to tell\n" in out
    assert "as failures of 2 trials 0 passed: between 0 % and 66 %, not enough to tell\n" in out
    assert "in a row    not known for 1 trial: pack/a has 0 judged trials\n" in out
    assert "\n\npassed  enough  left out  scenario\n0/0     no      2         pack/a\n" in out
    row = json.loads(harness("qualify", "outage", "--format", "jsonl")[1].splitlines()[0])
    assert (row["judged"]["rate"], row["judged"]["wilson"]) == (None, None)
    assert row["in_a_row"] == [{"k": 1, "pass_at_k": None, "pass_hat_k": None, "reason": "pack/a: k > n: 0 judged"}]


def test_scenarios_without_a_difference_have_no_spread(harness: Harness) -> None:
    write_run(Path("even"), [*several("pack/a", 1, 1), *several("pack/b", 1, 1)])
    _, out, _ = harness("qualify", "even")
    assert "spread      none: all 2 scenarios have the same rate\n" in out
    assert "in a row    one trial passes: 100 %, the mean over scenarios\n" in out


def test_many_codes_are_cut_and_a_name_acts_on_no_terminal(harness: Harness) -> None:
    failed = [
        Played("pack/a", trial, "fail", code=f"code_{trial}", model="m\x1b[31m", costs=(None,)) for trial in range(1, 6)
    ]
    write_run(Path("failed"), failed)
    _, out, _ = harness("qualify", "failed")
    assert "failed with code_1 1, code_2 1, code_3 1 and 2 more\n" in out
    assert "answered by m\ufffd[31m 5\n" in out


def test_json_holds_both_intervals_and_names_its_methods(harness: Harness) -> None:
    write_run(Path("nightly"), mixed())
    code, out, _ = harness("qualify", "nightly", "--format", "json", "-k", "2")
    told = json.loads(out)
    assert code == 0
    assert told["methods"]["confidence"] == 0.95
    assert told["methods"]["pass_hat_k"].startswith("unbiased: C(c,k)/C(n,k)")
    assert told["runs"] == [
        {"run": "nightly", "run_id": "nightly", "state": "interrupted", "planned": 42, "calls_without_a_receipt": 0}
    ]
    (actor,) = told["actors"]
    assert actor["judged"]["wilson"] == pytest.approx({"low": 0.624969, "high": 0.876839}, abs=5.1e-7)
    assert actor["judged"]["clopper_pearson"] == pytest.approx({"low": 0.615488, "high": 0.891603}, abs=5.1e-7)
    assert [row["k"] for row in actor["in_a_row"]] == [1, 2]
    assert actor["costs"]["usd_per_pass"] == "0.002274"
    assert actor["not_judged"] == {"not_played": 1, "provider": 1}


def test_jsonl_is_a_line_for_each_actor_and_each_of_its_scenarios(harness: Harness) -> None:
    write_run(Path("nightly"), mixed())
    rows = [json.loads(row) for row in harness("qualify", "nightly", "--format", "jsonl")[1].splitlines()]
    assert [(row["run"], row["actor"], row["scenario"], row["judged"]["passes"]) for row in rows] == [
        ("nightly", "candidate", None, 31),
        ("nightly", "candidate", "loopx/selected-todo", 18),
        ("nightly", "candidate", "registry/reports-blocked-honestly", 13),
    ]


def test_more_in_a_row_than_a_scenario_has_is_told(harness: Harness) -> None:
    write_run(Path("few"), [*several("pack/a", 4, 4), *several("pack/b", 2, 2)])
    _, out, _ = harness("qualify", "few", "--in-a-row", "3")
    assert "in a row    not known for 3 trials: pack/b has 2 judged trials\n" in out
    assert "all of 2 pass" in harness("qualify", "few")[1]


@pytest.mark.parametrize(
    ("argv", "code", "line"),
    [
        (("nowhere",), 4, "nowhere: holds no run (manifest.json is not there)"),
        (("few", "few"), 4, "few is the same run as few; name it once"),
        (("few", "other"), 4, "other cannot stand beside few: control plane loopx is 0.4.8 and 0.4.9"),
        (("twice",), 4, "twice: holds two actors named openai/model, which no rate holds together"),
        (("unplayed",), 5, "unplayed: no episode of it is finished, so there is nothing to tell"),
    ],
)
def test_what_cannot_be_told_is_one_line(harness: Harness, argv: tuple[str, ...], code: int, line: str) -> None:
    write_run(Path("few"), several("pack/a", 1, 2))
    write_run(Path("other"), several("pack/a", 1, 2, plane=PLANE.model_copy(update={"version": "0.4.9"})))
    write_run(
        Path("twice"), [Played("pack/a", 1, "pass"), Played("pack/a", 2, "pass", live("openai/model", address="x"))]
    )
    write_run(Path("unplayed"), [Played("pack/a", 1, None)])
    ended, out, err = harness("qualify", *argv)
    assert (ended, out, err.count("\n")) == (code, "", 1)
    assert err.startswith(f"harness: {line}")


def test_a_run_that_was_changed_is_refused_by_file_and_line(harness: Harness) -> None:
    receipts = write_run(Path("few"), several("pack/a", 1, 2)) / "receipts.jsonl"
    receipts.write_text(receipts.read_text().replace('"fail"', '"pass"'))
    code, out, err = harness("qualify", "few")
    assert (code, out, err.startswith("harness: few/receipts.jsonl:2: ")) == (4, "", True)


def test_tokens_are_told_an_episode_and_those_of_some_calls_only_as_the_least(harness: Harness) -> None:
    usage = Usage(input_tokens=5_200, output_tokens=310, cache_read_tokens=4_000, reasoning_tokens=0)
    write_run(Path("all"), several("pack/a", 5, 6, costs=(Decimal(1),) * 2, usage=usage))
    told = harness("qualify", "all")[1]
    assert "  tokens      input 10,400 (8,000 of them cached), output 620 (0 of them reasoning) an episode\n" in told

    some = several("pack/a", 5, 6, costs=(Decimal(1),), usage=Usage(output_tokens=310))
    some[0] = replace(some[0], usage=None)
    write_run(Path("some"), some)
    assert "  tokens      input unknown, output >= 258 an episode\n" in harness("qualify", "some")[1]


def test_a_spreadsheet_has_a_row_for_each_actor_and_for_each_of_its_scenarios(harness: Harness) -> None:
    write_run(Path("nightly"), [*several("pack/a", 5, 6), *several("pack/b", 1, 2)])
    code, out, err = harness("qualify", "nightly", "--format", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert (code, err) == (0, "")
    assert [(row["actor"], row["scenario"], row["passed"], row["judged"]) for row in rows] == [
        *((MODEL.ref, "", "6", "8"), (MODEL.ref, "pack/a", "5", "6"), (MODEL.ref, "pack/b", "1", "2"))
    ]
    assert float(rows[0]["wilson_low"]) == pytest.approx(0.409275, abs=1e-6)
    assert (rows[0]["usd"], rows[1]["median_s"]) == ("", "")
