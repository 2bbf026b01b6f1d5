"""``harness qualify --power-plan``: trials, money and time before they are spent."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest
from judged import Played, live, several, write_run

from harness.qualification.planning import trials_needed
from harness.schema.actor import ActorIdentity

STEADY, CANDIDATE = live("steady"), live("candidate")


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    return tmp_path


def night(actor: ActorIdentity, passes: int, costs: tuple[Decimal | None, ...], seconds: float = 10.0) -> list[Played]:
    """Twenty trials of eight scenarios."""
    played: list[Played] = []
    for number in range(8):
        played += several(f"pack/s{number}", passes, 20, actor=actor, costs=costs, seconds=seconds)
    return played


def test_it_tells_trials_episodes_money_and_time_of_a_run_like_this(harness: Harness) -> None:
    write_run(Path("night"), night(STEADY, 15, (Decimal(1700),)))
    needed = trials_needed([0.75] * 8, 0.05, alpha=0.025)
    assert needed == 162

    code, out, _ = harness("qualify", "night", "--power-plan", "--detect", "0.05", "--power", "0.8")

    assert code == 0
    assert out.splitlines()[0].startswith("to find a drop of 5 points in 8 of 10 comparisons, going by night;")
    assert "  needs       162 trials of each scenario: 1,296 episodes" in out
    assert "  cost        about $2.20" in out, "1296 of $0.0017"
    assert "  time        about 3 h 36 min one by one, 54 min with --jobs 4" in out
    assert "  has         20 trials of each scenario, which find one of 15.3 points" in out
    assert "all of it, with --trials 162: 1,296 episodes; about $2.20;" in out


def test_all_actors_get_as_many_trials_as_the_one_that_needs_most(harness: Harness) -> None:
    played = [*night(STEADY, 15, (Decimal(1000),)), *night(CANDIDATE, 18, (Decimal(500), None))]
    write_run(Path("night"), played)
    told = json.loads(harness("qualify", "night", "--power-plan", "--detect", "0.1", "--format", "json")[1])
    steady, candidate = told["actors"]
    assert steady["trials"] > candidate["trials"]
    assert (told["trials"], told["episodes"]) == (steady["trials"], 16 * steady["trials"])
    assert (steady["is_lower_bound"], candidate["is_lower_bound"], told["is_lower_bound"]) == (False, True, True)
    assert Decimal(told["usd"]) == Decimal("0.0015") * 8 * steady["trials"]
    text = harness("qualify", "night", "--power-plan", "--detect", "0.1")[1]
    assert "or more, for the cost of some calls is unknown" in text


def test_what_nobody_knows_is_told_as_unknown(harness: Harness) -> None:
    write_run(Path("night"), night(STEADY, 15, (None,)))
    out = harness("qualify", "night", "--power-plan")[1]
    assert "  cost        unknown" in out
    assert "1,296 episodes; cost unknown; about" in out
    assert json.loads(harness("qualify", "night", "--power-plan", "--format", "json")[1])["usd"] is None


def test_a_drop_that_is_out_of_reach_is_told_with_the_nearest_one(harness: Harness) -> None:
    write_run(Path("night"), night(STEADY, 15, (Decimal(1),)))
    code, out, _ = harness("qualify", "night", "--power-plan", "--detect", "0.002")
    assert code == 0
    assert out.splitlines()[-1] == (
        "a drop of 0.2 points is out of reach with 10,000 trials of each scenario; "
        "the trials that there are find one of 15.3 points"
    )


def test_scenarios_that_hardly_pass_are_told_for_they_cannot_show_a_drop(harness: Harness) -> None:
    played = [*night(STEADY, 15, ()), *several("pack/hard", 0, 20, actor=STEADY)]
    write_run(Path("night"), played)
    assert "1 of them cannot show such a drop" in harness("qualify", "night", "--power-plan")[1]


def test_without_a_run_it_goes_by_the_newest_one_that_is_complete(harness: Harness) -> None:
    write_run(Path("reports/a-night"), night(STEADY, 15, (Decimal(1),)))
    cut = [*night(STEADY, 15, (Decimal(1),)), Played("pack/s0", 21, None, STEADY)]
    write_run(Path("reports/b-cut-off"), cut)
    Path("reports/c-broken").mkdir()
    Path("reports/c-broken/manifest.json").write_text("{", "utf-8")
    code, out, _ = harness("qualify", "--power-plan", "--detect", "0.05", "--power", "0.8")
    assert code == 0
    assert "going by reports/a-night;" in out


def test_without_any_run_a_rate_is_expected_of_all_scenarios(harness: Harness, world: object) -> None:
    del world
    code, out, err = harness("qualify", "--power-plan")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert "--expect RATE" in err
    code, out, _ = harness("qualify", "--power-plan", "--expect", "0.9", "--detect", "0.2")
    needed = trials_needed([0.9] * 2, 0.2, alpha=0.025)
    assert code == 0
    assert f"needs       {needed} trials of each scenario: {2 * (needed or 0)} episodes" in out
    assert "time unknown" in out


def test_an_expected_rate_goes_over_what_was_seen(harness: Harness) -> None:
    write_run(Path("night"), night(STEADY, 15, (Decimal(1700),)))
    told = json.loads(harness("qualify", "night", "--power-plan", "--expect", "0.95", "--format", "json")[1])
    assert told["actors"][0]["trials"] == trials_needed([0.95] * 8, 0.05, alpha=0.025)
    assert Decimal(told["usd"]) == Decimal("0.0017") * told["episodes"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("night", "--detect", "0.1"), "--detect goes beside --power-plan"),
        (("night", "--power-plan", "--detect", "0"), "--detect"),
        (("night", "--power-plan", "--power", "nan"), "--power"),
        (("night", "--power-plan", "--format", "csv"), "is printed as text, json or jsonl"),
        ((), "name a run folder"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(harness: Harness, argv: tuple[str, ...], said: str) -> None:
    code, out, err = harness("qualify", *argv)
    assert (code, out) == (4, "")
    assert said in err
