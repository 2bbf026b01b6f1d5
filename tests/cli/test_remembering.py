"""What was said of a run holds where it is gone on with: every option of ``harness run`` is one of three kinds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import click
import pytest

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.order import Order
from harness.cli.play import play
from harness.cli.remembering import ANEW, PLANNED, REMEMBERED
from harness.cli.run import run
from harness.schema.run import EpisodeJob

#: How each remembered option is typed, other than what it says by itself.
SAID: dict[str, tuple[str, ...]] = {
    "cut_off_calls": ("--cut-off-calls", "stop"),
    "executor": ("--executor", "cold"),
    "keep": ("--keep", "all"),
    "keep_workspace": ("--keep-workspace",),
    "limits": ("--provider-limit", "openai=2", "--provider-limit", "anthropic=3"),
    "connect": ("--connect-timeout", "openai=3"),
    "read": ("--read-timeout", "openai=4"),
    "refusals": ("--refusals", "7"),
    "repeat_idempotent": ("--repeat-idempotent",),
    "reports": ("--report", "junit"),
    "require_sandbox": ("--require-sandbox",),
    "retries": ("--retries", "5"),
    "sandbox": ("--sandbox", "off"),
    "shadow": ("--shadow", "0"),
    "stale": ("--stale", "warn"),
}
REFUSED: dict[str, tuple[str, ...]] = {
    "planes": ("--plane", "loopx==0.4.8"),
    "actors": ("--actor", "script"),
    "out": ("--out", "other"),
    "selection": ("pack/a",),
    "sets": ("--set", "seed=1"),
    "early": ("--early",),
    "shard": ("--shard", "1/2"),
    "trials": ("--trials", "1"),
}


#: How long providers are waited for, by the order that said so.
_TIME_OUTS: dict[int, object] = {}


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""


@pytest.fixture
def orders(world: World, monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    """What each run was told, in order."""
    del world
    seen: list[Order] = []

    def told(settings: wiring.Settings, jobs: Sequence[EpisodeJob], order: Order) -> ExitCode:
        seen.append(order)
        _TIME_OUTS[id(order)] = settings.providers
        return play(settings, jobs, order)

    monkeypatch.setattr("harness.cli.run.play", told)
    return seen


def how(order: Order) -> tuple[object, ...]:
    """All of it that is about how episodes are played and what is left of them."""
    names = [reporter.filename for reporter in order.reporters]
    return order.options, names, order.keep, order.tolerate_stale, order.care, _TIME_OUTS[id(order)]


def test_every_option_is_taken_from_the_run_refused_or_said_anew() -> None:
    names = [str(option.name) for option in run.params if not isinstance(option, click.Option) or not option.hidden]
    assert sorted(names) == sorted([*PLANNED, *REMEMBERED, *ANEW])
    assert (set(SAID), set(REFUSED)) == (set(REMEMBERED), set(PLANNED))


@pytest.mark.parametrize("name", sorted(SAID))
def test_what_was_said_when_the_run_began_holds_when_it_is_gone_on_with(
    harness: Harness, orders: list[Order], name: str
) -> None:
    assert harness("run", "--out", "out", *SAID[name])[0] == 0
    assert harness("run", "--resume", "out")[0] == 0
    assert harness("run", "--out", "plain")[0] == 0
    begun, resumed, plain = map(how, orders)
    assert begun == resumed
    assert begun != plain


@pytest.mark.parametrize("name", sorted(SAID))
def test_what_is_said_with_resume_counts_from_then_on(harness: Harness, orders: list[Order], name: str) -> None:
    assert harness("run", "--out", "out")[0] == 0
    assert harness("run", "--resume", "out", *SAID[name])[0] == 0
    assert harness("run", "--resume", "out")[0] == 0
    plain, said, after = map(how, orders)
    assert plain != said == after


def test_another_word_takes_the_place_of_the_first_and_the_rest_stays(harness: Harness, orders: list[Order]) -> None:
    assert harness("run", "--out", "out", "--keep", "all", "--stale", "warn")[0] == 0
    assert harness("run", "--resume", "out", "--keep", "none")[0] == 0
    assert harness("run", "--resume", "out", "--stale", "fail")[0] == 0
    assert [(order.keep, order.tolerate_stale) for order in orders] == [("all", True), ("none", True), ("none", False)]
    asked = Path("out/asked.json")
    assert json.loads(asked.read_text("utf-8"))["said"] == {"keep": "none", "stale": "fail"}
    assert asked.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_played_and_where_is_not_said_again(harness: Harness, orders: list[Order], name: str) -> None:
    assert harness("run", "--out", "out")[0] == 0
    before = Path("out/asked.json").read_bytes()
    code, _, err = harness("run", "--resume", "out", *REFUSED[name])
    assert (code, err.count("\n"), len(orders)) == (4, 1, 1)
    assert Path("out/asked.json").read_bytes() == before


def test_a_dry_run_keeps_nothing_of_what_it_was_told(harness: Harness, orders: list[Order]) -> None:
    assert harness("run", "--out", "out")[0] == 0
    before = Path("out/asked.json").read_bytes()
    assert harness("run", "--resume", "out", "--keep", "all", "--dry-run")[0] == 0
    assert (Path("out/asked.json").read_bytes(), len(orders)) == (before, 1)


@pytest.mark.parametrize(
    "said",
    [
        {"keep": "some"},
        {"resume": "x"},
        {"refusals": [1]},
        {"refusals": ["1"]},
        {"reports": "a"},
        {"reports": 1},
        {"reports": {"a": 1}},
        {"shadow": -1},
    ],
)
def test_what_harness_did_not_write_there_is_one_line(
    harness: Harness, orders: list[Order], said: dict[str, object]
) -> None:
    assert harness("run", "--out", "out")[0] == 0
    asked = Path("out/asked.json")
    asked.write_text(json.dumps({**json.loads(asked.read_text("utf-8")), "said": said}), "utf-8")
    code, _, err = harness("run", "--resume", "out")
    assert (code, err) == (4, "harness: out/asked.json: is not what harness wrote there\n")
    assert len(orders) == 1


def test_retries_that_stand_beside_what_was_said_count_too(harness: Harness, orders: list[Order]) -> None:
    assert harness("run", "--out", "out")[0] == 0
    asked = Path("out/asked.json")
    asked.write_text(json.dumps({**json.loads(asked.read_text("utf-8")), "retries": 4}), "utf-8")
    assert harness("run", "--resume", "out")[0] == 0
    assert [order.care.retries for order in orders] == [2, 4]
