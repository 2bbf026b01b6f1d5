"""Choosing a model, start to finish: planted models, every bundled scenario, and one command for each question."""

from __future__ import annotations

import json
import re
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pytest
from command_line import CommandLine
from machine import PATIENCE_S, yardstick_s
from report_pages import without_script

#: In one process of those that share the tests: what all of these look at is played for minutes.
pytestmark = [pytest.mark.plane, pytest.mark.slow, pytest.mark.xdist_group("choosing")]

#: How often each model plays the reference, the best one first.
PLANTED = {"strong": 0.97, "middle": 0.85, "weak": 0.6}
#: They pass equally often.
TWINS = {"one": 0.8, "other": 0.8}
SCENARIOS, TRIALS = 20, 10
#: How much work it may be: two minutes of both cores of a small machine, whose yardstick is an eighth of a second.
YARDSTICKS = 2 * 120.0 * 8
PAGE_BYTES = 1_000_000


class Ran(TypedDict):
    """Of what `harness run` and `harness report` say."""

    state: str
    verdicts: dict[str, int]
    receipts: list[dict[str, object]]


class Judged(TypedDict):
    """How often something passed."""

    passes: int
    n: int
    wilson: dict[str, float]


class Actor(TypedDict):
    """One actor and its trials; in a run of its scenarios as well."""

    actor: str
    judged: Judged
    not_judged: dict[str, int]
    scenarios: list[dict[str, object]]


class Decided(TypedDict):
    """What a policy says of an actor."""

    actor: str
    answer: str


class Qualified(TypedDict):
    """Of what `harness qualify` says; decisions are there with a policy."""

    actors: list[Actor]
    decisions: list[Decided]


class Pair(TypedDict):
    """Two places among the contenders, and what is found of the second, held against the first."""

    first: int
    second: int
    finding: str


class Compared(TypedDict):
    """Of what `harness compare` says."""

    contenders: list[Actor]
    pairs: list[Pair]
    order: list[int] | None


@dataclass(frozen=True)
class Played:
    """What was played: the run of all models over all scenarios, the short one of the twins, and what they took."""

    line: CommandLine
    told: Ran
    twins: Ran
    cpu_s: float


#: The models as reports name them.
ACTORS = [f"openai-compatible/{model}" for model in PLANTED]


def ask(line: CommandLine, *argv: str, code: int = 0) -> bytes:
    """What a command says in its JSON form; it ends with that code, however busy the machine is."""
    process = line.start(*argv, "--format", "json")
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code, (argv, process.returncode, err.decode())
    return out


def used_s() -> float:
    """Seconds of a core that ended processes of this test used, with all theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def actors(url: str, *models: str) -> list[str]:
    """The options that let these models play."""
    return [word for model in models for word in ("--actor", f"openai-compatible/{model}@{url}")]


@pytest.fixture(scope="module")
def played(plane_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """One `harness run` of three models over all scenarios, against one rehearsal server, which has ended by then."""
    line = CommandLine(plane_home, tmp_path_factory.mktemp("choosing"))
    rates = [word for model, rate in {**PLANTED, **TWINS}.items() for word in ("--pass-rate", f"{model}={rate}")]
    before = used_s()
    served = line.start("wire", "rehearse", *rates)
    try:
        assert served.stdout is not None
        url = json.loads(served.stdout.readline())["url"]
        spend = ("--yes-spend", "--pool", "processes")
        whole = ask(line, "run", *actors(url, *PLANTED), "--trials", str(TRIALS), *spend, "--out", "night")
        short = ask(line, "run", "registry/*", *actors(url, *TWINS), "--trials", "3", *spend, "--out", "twins")
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)
    return Played(line, json.loads(whole), json.loads(short), used_s() - before)


def test_every_model_plays_every_trial_of_every_scenario_and_all_is_judged(played: Played) -> None:
    episodes = SCENARIOS * TRIALS * len(PLANTED)
    verdicts = played.told["verdicts"]
    assert played.told["state"] == "complete"
    assert (verdicts["pass"] + verdicts["fail"], len(played.told["receipts"])) == (episodes, episodes)
    assert played.cpu_s < YARDSTICKS * yardstick_s()


def test_the_planted_rates_lie_within_what_is_told_of_each_model(played: Played) -> None:
    told: Qualified = json.loads(ask(played.line, "qualify", "night"))
    assert [one["actor"] for one in told["actors"]] == ACTORS
    for one, planted in zip(told["actors"], PLANTED.values(), strict=True):
        judged = one["judged"]
        assert (judged["n"], len(one["scenarios"]), one["not_judged"]) == (SCENARIOS * TRIALS, SCENARIOS, {})
        assert judged["wilson"]["low"] < planted < judged["wilson"]["high"]


@pytest.mark.parametrize(
    ("wanted", "answers", "code"),
    [
        pytest.param(0.85, ["pass", "inconclusive", "fail"], 1, id="one of three misses it"),
        pytest.param(0.6, ["pass", "pass", "inconclusive"], 7, id="one of three passes just so often"),
        pytest.param(0.4, ["pass", "pass", "pass"], 0, id="all of them clear it"),
    ],
)
def test_a_policy_decides_about_each_model(played: Played, wanted: float, answers: list[str], code: int) -> None:
    policy = played.line.cwd / f"policy-{wanted}.toml"
    policy.write_text(f"schema = 1\nrate = {wanted}\n", "utf-8")
    told: Qualified = json.loads(ask(played.line, "qualify", "night", "--policy", policy.name, code=code))
    decided = {one["actor"]: one["answer"] for one in told["decisions"]}
    assert decided == dict(zip(ACTORS, answers, strict=True))


def test_models_that_differ_are_put_in_their_order(played: Played) -> None:
    told: Compared = json.loads(ask(played.line, "compare", "night"))
    assert [one["actor"] for one in told["contenders"]] == ACTORS
    assert told["order"] == [0, 1, 2]
    assert [(pair["first"], pair["second"], pair["finding"]) for pair in told["pairs"]] == [
        (0, 1, "worse"),
        (0, 2, "worse"),
        (1, 2, "worse"),
    ]


def test_of_models_that_are_alike_nobody_is_put_first(played: Played) -> None:
    assert (played.twins["state"], len(played.twins["receipts"])) == ("complete", 4 * 3 * len(TWINS))
    told: Compared = json.loads(ask(played.line, "compare", "twins"))
    assert told["order"] is None
    assert [pair["finding"] for pair in told["pairs"]] == ["undecided"]


def test_the_page_holds_the_rates_and_is_small(played: Played) -> None:
    told: Qualified = json.loads(ask(played.line, "qualify", "night"))
    (played.line.cwd / "night" / "report.html").unlink()
    assert json.loads(ask(played.line, "report", "night", "--report", "html"))["verdicts"] == played.told["verdicts"]
    page = played.line.cwd / "night" / "report.html"
    assert page.stat().st_size < PAGE_BYTES
    shown = re.sub(r"<[^>]+>", "", without_script(page.read_text("utf-8")))
    for one in told["actors"]:
        passes, n = one["judged"]["passes"], one["judged"]["n"]
        (percent,) = re.findall(rf"(\d+) % {passes} of {n}\b", shown)
        assert float(percent) == pytest.approx(100 * passes / n, abs=0.5)
