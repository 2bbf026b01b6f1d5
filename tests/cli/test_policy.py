"""``--policy``: what a run comes to by the demands of a file, in words that need no statistics, and its exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest
from judged import PLANE, all_of, left_out, live, several, write_run
from syrupy.assertion import SnapshotAssertion

from harness import wiring
from harness.cli.decision_told import in_words
from harness.qualification.deciding import Candidate, decide
from harness.receipt import read_run
from harness.schema.actor import ActorIdentity
from harness.schema.decision import Demand
from harness.schema.message import GenerationSettings
from harness.schema.policy import Policy
from harness.schema.qualification import Trial
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.verdict import Verdict

OLD, NEW = live("steady"), live("candidate")
POLICY = """\
schema = 1
rate = 0.9
margin = 0.05
trials = 10

[tier.must]
scenarios = ["pack/s1"]
every = true

[tier.should]
scenarios = ["pack/s[2-9]"]
rate = 0.8
"""
ABSOLUTE = "schema = 1\nrate = 0.95\n"


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    verdicts: dict[str, Verdict]
    jobs: list[EpisodeJob]
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY, "utf-8")
    Path("absolute.toml").write_text(ABSOLUTE, "utf-8")
    return tmp_path


def last(passes: Sequence[int], n: int, actor: ActorIdentity = OLD, **more: object) -> None:
    write_run(Path("last"), all_of(passes, n, actor, **more))


def clear_win() -> None:
    last([20] * 3, 30)
    write_run(Path("night"), all_of([30] * 3, 30, OLD))


def clear_loss() -> None:
    last([10, 9, 10], 10)
    write_run(Path("night"), all_of([6, 5, 6], 10, OLD))


def tie() -> None:
    last([30, 30, 29], 30)
    write_run(Path("night"), all_of([30, 29, 30], 30, OLD))


def too_few_trials() -> None:
    last([3, 3], 3)
    write_run(Path("night"), all_of([3, 3], 3, OLD))


def fewer_trials_than_are_asked_for() -> None:
    last([30] * 3, 30)
    write_run(Path("night"), [*all_of([40] * 2, 40, OLD), *several("pack/s3", 9, 9, actor=OLD)])


def provider_outage() -> None:
    last([10] * 3, 10)
    write_run(Path("night"), left_out(all_of([10] * 3, 10, OLD), every=3))


def a_few_not_judged_that_could_turn_it() -> None:
    last([30] * 3, 30)
    write_run(Path("night"), left_out(all_of([30] * 3, 30, OLD), every=11))


def one_flaky_scenario() -> None:
    last([20] * 5, 20)
    write_run(Path("night"), all_of([20] * 4 + [11], 20, OLD))


def settings_differ() -> None:
    last([9], 10)
    write_run(Path("night"), all_of([9], 10, live("steady", GenerationSettings(temperature=1))))


def model_id_moved() -> None:
    last([30] * 3, 30, costs=(Decimal(10),), model="model-2026-05")
    write_run(Path("night"), all_of([30] * 3, 30, OLD, costs=(Decimal(10),), model="model-2026-11"))


def plane_version_moved() -> None:
    last([9], 10)
    newer = PLANE.model_copy(update={"version": "0.5.4"})
    write_run(Path("night"), all_of([9], 10, OLD, plane=newer))


def cost_trade_off() -> None:
    last([30, 29, 29], 30, costs=(Decimal(40_000),))
    write_run(Path("night"), all_of([30, 29, 29], 30, NEW, costs=(Decimal(4_000),)))


def two_models_of_which_one_is_worse() -> None:
    last([30] * 3, 30)
    write_run(Path("night"), [*all_of([30] * 3, 30, OLD), *all_of([15] * 3, 30, NEW)])


def all_pass() -> None:
    last([30] * 3, 30)
    write_run(Path("night"), all_of([30] * 3, 30, OLD))


def all_fail() -> None:
    last([0] * 3, 30)
    write_run(Path("night"), all_of([0] * 3, 30, OLD))


SITUATIONS: list[tuple[Callable[[], None], int]] = [
    *((clear_win, 0), (clear_loss, 1), (tie, 0), (too_few_trials, 7), (fewer_trials_than_are_asked_for, 7)),
    *((provider_outage, 2), (a_few_not_judged_that_could_turn_it, 7), (one_flaky_scenario, 1), (settings_differ, 4)),
    *((model_id_moved, 0), (plane_version_moved, 4), (cost_trade_off, 0), (two_models_of_which_one_is_worse, 1)),
    *((all_pass, 0), (all_fail, 1)),
]
JARGON = re.compile(r"\b(p|CI|alpha|confidence|signific\w*|hypothes\w*|permut\w*|Holm|null|binomial|inferior\w*)\b")


def decided(told: str) -> str:
    """What stands behind the rates."""
    return told[re.search(r"^\S.*: (PASS|FAIL|INCONCLUSIVE|NOT JUDGED) by", told, re.MULTILINE).start() :]  # type: ignore[union-attr]


@pytest.mark.parametrize(("situation", "code"), SITUATIONS, ids=[situation.__name__ for situation, _ in SITUATIONS])
def test_each_situation_has_its_answer_in_plain_words(
    harness: Harness, situation: Callable[[], None], code: int, snapshot: SnapshotAssertion
) -> None:
    situation()
    ended, out, err = harness("qualify", "night", "--policy", "policy.toml", "--baseline", "last")

    assert ended == code
    assert (decided(out) if out else out, err) == snapshot
    assert not JARGON.search(out + err)


def test_many_scenarios_with_too_few_trials_are_counted_and_not_listed(harness: Harness) -> None:
    last([30] * 5, 30)
    write_run(Path("night"), [*all_of([30] * 4, 30, OLD), *several("pack/s5", 29, 29, actor=OLD)])
    Path("more.toml").write_text("schema = 1\nrate = 0.5\nmargin = 0.05\ntrials = 31\n", "utf-8")
    out = harness("qualify", "night", "--policy", "more.toml", "--baseline", "last")[1]
    assert decided(out).endswith(
        "  trials      each scenario is to have 31 judged trials: 5 scenarios have fewer, 29 at least; "
        "5 scenarios have fewer, 30 at least in the baseline\n"
    )


def test_it_takes_59_passes_in_a_row_to_show_95_of_100(harness: Harness) -> None:
    write_run(Path("few"), several("pack/s1", 5, 5, actor=OLD))
    code, out, _ = harness("qualify", "few", "--policy", "absolute.toml")
    assert code == 7
    assert "54 more passes without a failure would show it." in decided(out)
    write_run(Path("almost"), several("pack/s1", 58, 58, actor=OLD))
    code, out, _ = harness("qualify", "almost", "--policy", "absolute.toml")
    assert code == 7
    assert "1 more pass without a failure would show it." in decided(out)
    write_run(Path("enough"), several("pack/s1", 59, 59, actor=OLD))
    assert harness("qualify", "enough", "--policy", "absolute.toml")[0] == 0


def test_the_page_shows_what_is_printed(harness: Harness) -> None:
    write_run(Path("few"), several("pack/s1", 5, 5, actor=OLD))
    Path("policy.toml").write_text(ABSOLUTE, "utf-8")
    told = decided(harness("qualify", "few", "--policy", "policy.toml")[1])
    assert f"```text\n{told}```\n" in (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")


def test_the_json_form_holds_the_policy_the_numbers_and_how_they_were_made(harness: Harness) -> None:
    clear_loss()
    argv = ("qualify", "night", "--policy", "policy.toml", "--baseline", "last", "--format")
    told = json.loads(harness(*argv, "json")[1])
    assert told["policy"]["file"] == "policy.toml"
    assert (told["policy"]["rate"], told["policy"]["tier"]["must"]["every"]) == (0.9, True)
    assert told["deciding"]["rate"] == "binomial, exact, one-sided"
    (decision,) = told["decisions"]
    assert (decision["answer"], decision["against"]) == ("fail", {"run": "last", "actor": "steady"})
    drop = decision["reasons"][1]
    assert drop["demand"]["kind"] == "drop"
    assert drop["counted"]["difference"]["effect"] == pytest.approx(-12 / 30)
    assert 0 < drop["counted"]["chance_missed"] < drop["counted"]["level_missed"]
    row = json.loads(harness(*argv, "jsonl")[1].splitlines()[-1])
    assert row == decision


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--baseline", "last"), "--baseline is what a policy holds a run against: add --policy FILE"),
        (("--policy", "policy.toml"), "policy.toml: says which margin may be lost against a baseline: add --baseline"),
        (("--policy", "absolute.toml", "--baseline", "last"), "absolute.toml: says no margin, so nothing is held"),
        (("--policy", "policy.toml", "--baseline", "night"), "night is the same run as its baseline"),
        (("--policy", "policy.toml", "--baseline", "two"), "two: steady did not play there, and other, candidate did"),
        (
            ("--policy", "nowhere.toml", "--baseline", "last"),
            "tier.gone: chooses none of the scenarios that are played",
        ),
        (("--policy", "unknown.toml", "--baseline", "last"), "tier.gone: unknown scenario 'pack/gone'; there are: pac"),
    ],
)
def test_what_cannot_be_decided_is_refused_in_one_line(harness: Harness, argv: tuple[str, ...], said: str) -> None:
    clear_loss()
    write_run(Path("two"), [*all_of([3] * 3, 3, live("other")), *all_of([3] * 3, 3, NEW)])
    tier = "[tier.gone]\nrate = 0.5\nscenarios = "
    Path("nowhere.toml").write_text(f'{POLICY}{tier}["tag:gone", "gone/*"]\n', "utf-8")
    Path("unknown.toml").write_text(f'{POLICY}{tier}["pack/gone"]\n', "utf-8")
    code, out, err = harness("qualify", "night", *argv)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert said in err


def test_each_version_of_a_control_plane_is_held_against_itself(harness: Harness) -> None:
    newer = PLANE.model_copy(update={"version": "2.1.1", "wheel_sha256": "9e" * 32})

    def both(folder: str, old: int, new: int) -> None:
        write_run(Path(folder), [*several("pack/s1", old, 20), *several("pack/s1", new, 20, plane=newer)])

    both("last", 20, 10)
    both("night", 20, 0)
    Path("policy.toml").write_text("schema = 1\nmargin = 0.2\n", "utf-8")
    code, out, _ = harness("qualify", "night", "--policy", "policy.toml", "--baseline", "last")
    assert code == 1
    assert "A openai/model: PASS" in out
    assert "B openai/model: FAIL" in out
    write_run(Path("one"), several("pack/s1", 20, 20))
    code, _, err = harness("qualify", "night", "--policy", "policy.toml", "--baseline", "one")
    assert (code, err) == (4, "harness: one was not played on loopx==2.1.1, as what is held against it\n")


def test_what_a_version_does_not_play_is_not_asked_of_it(harness: Harness) -> None:
    newer = PLANE.model_copy(update={"version": "2.1.1", "wheel_sha256": "9e" * 32})
    also = several("pack/s2", 10, 10, plane=newer)
    write_run(Path("night"), [*several("pack/s1", 10, 10), *several("pack/s1", 10, 10, plane=newer), *also])
    Path("low.toml").write_text(
        "schema = 1\nrate = 0.5\ntrials = 10\n[tier.new]\nscenarios = ['pack/s2']\nrate = 0.5\n", "utf-8"
    )
    code, out, _ = harness("qualify", "night", "--policy", "low.toml")
    assert (code, out.count(": PASS by"), out.count("\n  new  ")) == (0, 2, 1)


LIVE = "openai-compatible/model"


def live_run(harness: Harness, *more: str, out: str = "night", form: str = "text") -> tuple[int, str, str]:
    return harness("run", "--actor", LIVE, "--trials", "10", "--yes-spend", "--out", out, "--format", form, *more)


def test_a_run_is_judged_when_it_ended_whoever_plays(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "fail"}
    assert live_run(harness, out="unjudged")[0] == 0
    code, out, _ = live_run(harness, "--policy", "absolute.toml")
    assert code == 1
    assert f"\n\n{LIVE}: FAIL by absolute.toml\n  overall     10 of 20 trials passed" in out
    again = harness("qualify", "night", "--policy", "absolute.toml")
    assert (again[0], decided(again[1])) == (1, decided(out))

    world.verdicts = {}
    assert live_run(harness, "--policy", "absolute.toml", out="short")[0] == 7
    Path("low.toml").write_text("schema = 1\nrate = 0.8\nmargin = 0.2\n", "utf-8")
    assert live_run(harness, "--policy", "low.toml", "--baseline", "short", out="good")[0] == 0
    # a script need not pass each time where a policy says so
    world.verdicts = {"pack/b": "fail"}
    Path("half.toml").write_text("schema = 1\n[tier.a]\nscenarios = ['pack/a']\nevery = true\n", "utf-8")
    assert harness("run", "--policy", "half.toml", "--out", "scripted")[0] == 0


def test_json_and_lines_of_a_run_hold_the_decision_apart_from_receipts(harness: Harness, world: World) -> None:
    code, out, _ = live_run(harness, "--policy", "absolute.toml", form="json")
    told = json.loads(out)
    assert (code, told["decisions"][0]["answer"], len(told["receipts"])) == (7, "inconclusive", 20)
    code, out, err = live_run(harness, "--policy", "absolute.toml", out="lines", form="jsonl")
    assert (code, len(out.splitlines())) == (7, 20)
    assert f"{LIVE}: INCONCLUSIVE by absolute.toml\n" in err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ("--policy", "policy.toml", "--baseline", "last"),
            "last cannot stand beside night: scenario pack/a is in one",
        ),
        (("--policy", "absolute.toml", "--shard", "1/2"), "a shard is part of a plan: merge all of them"),
        (("--policy", "gone.toml"), "gone.toml: cannot be read: No such file or directory"),
    ],
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=("run", "dry"))
def test_what_could_not_be_judged_is_not_played(
    harness: Harness, world: World, more: tuple[str, ...], dry: tuple[str, ...], said: str
) -> None:
    last([3], 3)
    code, _, err = live_run(harness, *more, *dry)
    assert (code, err.count("\n"), world.jobs) == (4, 1, [])
    assert said.replace("night", "the run" if dry else "night") in err
    assert not Path("night").exists()


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=("run", "dry"))
def test_what_a_later_version_would_judge_is_not_held_against_an_earlier_one(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, dry: tuple[str, ...]
) -> None:
    """Receipts alone tell it, and to play them costs money."""
    Path("low.toml").write_text("schema = 1\nmargin = 0.2\n", "utf-8")
    assert live_run(harness, out="last")[0] == 0
    version = read_run(Path("last")).receipts[0].classifier_version
    monkeypatch.setattr(wiring, "judged_by", lambda _: version + 1, raising=False)
    played = len(world.jobs)
    code, _, err = live_run(harness, "--policy", "low.toml", "--baseline", "last", *dry)
    assert (code, len(world.jobs) - played) == (4, 0)
    assert err.endswith(
        f" cannot stand beside last: pack/a is judged by classifier version {version} and {version + 1}\n"
    )


def test_a_run_that_was_broken_off_is_judged_once_it_is_gone_on_with(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        os.kill(os.getpid(), signal.SIGINT)
        return world.result(job)

    world.episode = episode
    code, _, err = live_run(harness, "--policy", "absolute.toml", "-n", "1")
    assert code == 130
    assert "nothing is decided by absolute.toml: the run was broken off" in err
    world.episode = None
    code, out, _ = harness("run", "--resume", "night", "--yes-spend", "--policy", "absolute.toml")
    assert (code, "INCONCLUSIVE by absolute.toml" in out) == (7, True)


def test_what_could_not_be_judged_in_a_run_is_weighed_by_the_policy(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "not_judged"}
    assert live_run(harness, "--policy", "absolute.toml")[0] == 2
    Path("half.toml").write_text("schema = 1\nrate = 0.3\n[not_judged]\nmost = 0.5\n", "utf-8")
    assert live_run(harness, "--policy", "half.toml", out="tolerated")[0] == 7
    shutil.rmtree("night")
    Path("strict.toml").write_text("schema = 1\nrate = 0.9\n[not_judged]\ncount = 'fail'\n", "utf-8")
    assert live_run(harness, "--policy", "strict.toml")[0] == 1


def test_what_is_in_quarantine_is_shown_and_nothing_is_demanded_of_it(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "fail"}
    Path("quarantine.toml").write_text(
        '[[quarantine]]\nscenario = "pack/b"\nowner = "ada"\nreason = "it flickers"\nexpires = "2999-12-31"\n', "utf-8"
    )
    Path("low.toml").write_text("schema = 1\nrate = 0.7\nevery = false\n", "utf-8")
    code, out, _ = live_run(harness, "--policy", "low.toml")
    assert code == 0
    assert decided(out) == (
        f"{LIVE}: PASS by low.toml\n"
        "  overall     all of 10 trials passed: at least 70 % pass, as wanted\n"
        "  set aside   pack/b: 0 of 10 trials passed; nothing is demanded of it: in quarantine until 2999-12-31, "
        "ada sees to it: it flickers\n"
    )
    assert harness("qualify", "night", "--policy", "low.toml")[0] == 0


def test_more_trials_are_wanted_of_those_scenarios_alone_of_which_something_is_demanded() -> None:
    policy = Policy.model_validate({"schema": 1, "rate": 0.8})
    trials = [Trial(scenario="pack/a", verdict=verdict) for verdict in ("pass",) * 27 + ("fail",) * 3]
    told = []
    for scenarios in (("pack/a",), ("pack/a", "pack/b", "pack/c")):
        asked = Demand(tier=None, kind="rate", scenarios=scenarios, wanted=0.8, trials=1)
        aside = dict.fromkeys(scenarios[1:], "it flickers")
        (found,) = decide([Candidate("night", "steady", trials, (asked,), set_aside=aside)], policy)
        told.append(in_words(found, policy, "policy.toml", "steady").sentences)
    assert "About 64 more trials of each scenario would tell." in told[0][0][1]
    assert told[1] == told[0]


def test_a_spreadsheet_holds_rates_and_the_decision_stands_beside_it(harness: Harness) -> None:
    write_run(Path("few"), several("pack/s1", 5, 5, actor=OLD))
    plain = harness("qualify", "few", "--format", "csv")
    code, out, err = harness("qualify", "few", "--format", "csv", "--policy", "absolute.toml")
    assert (code, out.splitlines()[1].rpartition(",")) == (7, (plain[1].splitlines()[1], ",", "INCONCLUSIVE"))
    assert err.startswith("steady: INCONCLUSIVE by absolute.toml\n")
