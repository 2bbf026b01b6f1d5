"""``--max-cost`` and ``--max-time``: consent with a bound, what is left out, and going on."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest

from harness.meter import Ceiling
from harness.receipt import read_run
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult

LIVE = "openai-compatible/priced-bounded"
PRICED = "openai-compatible/priced"


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    jobs: list[EpisodeJob]
    episode: Callable[[EpisodeJob], EpisodeResult] | None
    ceiling: Ceiling | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def paying(world: World, *, most: int, cost: int | None) -> Callable[[EpisodeJob], EpisodeResult]:
    """Episodes of one model call each, of so many millionths of a dollar."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        ceiling, made = world.ceiling, world.result(job)
        assert ceiling is not None
        if not ceiling.reserve(job.key, Decimal(most), seconds=1.0, stopped=lambda: False):
            refused = Outcome(status="limit_exceeded", reason="quota_refused")
            receipt = made.receipt.model_copy(update={"outcome": refused})
            return EpisodeResult(receipt=receipt, log=made.log.model_copy(update={"resumable": True}))
        spent = None if cost is None else Decimal(cost)
        ceiling.settle(job.key, spent)
        row = AttemptRow(operation="o", attempt=1, status="completed", usage=None, seconds=0, cost_micro_usd=spent)
        return EpisodeResult(receipt=made.receipt, log=made.log.model_copy(update={"attempts": (row,)}))

    return episode


def test_a_bound_is_consent(harness: Harness, world: World) -> None:
    assert harness("run", "pack/a", "--actor", LIVE, "--max-cost", "2.50", "--out", "out")[0] == 0
    manifest = read_run(world.folder / "out").manifest
    assert manifest.max_cost_usd == Decimal("2.50")
    (told,) = manifest.prices
    assert told.price is not None
    assert (told.actor, told.price.source) == (LIVE, "made up")


@pytest.mark.parametrize(
    ("actor", "problem"),
    [
        ("openai-compatible/m", "the price of 'openai-compatible/m' is not known; put [actors.NAME.price] into"),
        (PRICED, f"{PRICED!r} may answer at any length; bound it with --set max_output_tokens=N"),
    ],
)
def test_what_cannot_be_bounded_is_refused_before_anything_is_made(
    harness: Harness, world: World, actor: str, problem: str
) -> None:
    code, out, err = harness("run", "--actor", actor, "--max-cost", "1", "--yes-spend", "--out", "out")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith("harness: --max-cost: ")
    assert problem in err
    assert (world.jobs, (world.folder / "out").exists()) == ([], False)


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--max-cost", "0", "must be an amount of US dollars above 0"),
        ("--max-cost", "-1", "must be an amount"),
        ("--max-cost", "nan", "must be an amount"),
        ("--max-cost", "much", "must be an amount"),
        ("--max-time", "0s", "must be a time like 90s, 45m, 2h or 1h30m"),
        ("--max-time", "5 minutes", "must be a time"),
        ("--max-time", "", "must be a time"),
    ],
)
def test_a_bound_that_is_none_is_one_line(harness: Harness, option: str, value: str, problem: str) -> None:
    code, out, err = harness("run", option, value)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert problem in err


def test_a_run_that_reaches_its_bound_leaves_the_rest_for_another_command(harness: Harness, world: World) -> None:
    world.episode = paying(world, most=400, cost=300)
    argv = ("run", "pack/a", "--actor", LIVE, "--trials", "5", "-n", "1", "--out", "out", "--max-cost", "0.001")
    code, out, err = harness(*argv)
    assert code == 2
    assert err == (
        "harness: --max-cost is reached: of $0.001 at most $0.0009 is spent; 3 of 5 episodes are finished and kept "
        "in out; go on with: harness run --resume out\n"
    )
    assert "cost: $0.000900 (3 model calls)" in out
    view = read_run(world.folder / "out")
    assert (view.manifest.state, len(view.receipts)) == ("interrupted", 3)

    code, _, err = harness("run", "--resume", "out", "--max-cost", "0.001")
    assert (code, "of 5 episodes are finished and kept" in err) == (2, True)
    assert len(read_run(world.folder / "out").receipts) == 3
    assert harness("run", "--resume", "out", "--max-cost", "0.002")[0] == 0
    view = read_run(world.folder / "out")
    assert (view.manifest.state, len(view.receipts)) == ("complete", 5)
    assert view.manifest.max_cost_usd == Decimal("0.002")


def test_side_by_side_the_bound_holds_as_well(harness: Harness, world: World) -> None:
    world.episode = paying(world, most=400, cost=400)
    argv = ("run", "--actor", LIVE, "--trials", "20", "-n", "8", "--out", "out", "--max-cost", "0.0042")
    assert harness(*argv)[0] == 2
    rows = [json.loads(line) for line in (world.folder / "out/spending.jsonl").read_text().splitlines()]
    assert sum(Decimal(row["micro_usd"]) for row in rows if row["event"] == "settled") == 4_000
    assert len(read_run(world.folder / "out").receipts) == 10


def test_spending_of_unknown_cost_cannot_be_bounded_afterwards(harness: Harness, world: World) -> None:
    world.episode = paying(world, most=400, cost=300)
    (world.folder / "out").mkdir()
    assert harness("run", "pack/a", "--actor", LIVE, "--trials", "2", "--yes-spend", "--out", "out")[0] == 0
    path = world.folder / "out/spending.jsonl"
    path.write_text(path.read_text() + '{"attempt":"x","event":"reserved","micro_usd":null}\n')
    code, _, err = harness("run", "--resume", "out", "--max-cost", "1")
    assert code == 4
    assert "of 1 model calls that this run made before nobody knows the cost" in err
    assert len(read_run(world.folder / "out").receipts) == 2
    assert harness("run", "--resume", "out", "--yes-spend")[0] == 0


def test_nothing_starts_when_the_time_is_over(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first episode takes longer than the whole command may."""
    moments = [0.0]

    def monotonic(_: object) -> float:
        return moments[-1]

    def slow(job: EpisodeJob) -> EpisodeResult:
        moments.append(moments[-1] + 61)
        return world.result(job)

    monkeypatch.setattr("harness.clock.SystemClock.monotonic", monotonic)
    world.episode = slow
    code, _, err = harness("run", "--actor", "script", "-n", "1", "--out", "out", "--max-time", "1m")
    assert code == 2
    assert err.startswith("harness: --max-time is over; 1 of 2 episodes are finished and kept in out; go on with: ")


def test_a_dry_run_tells_the_range_of_the_price(harness: Harness, world: World) -> None:
    """The shortest: one request of six characters and one token. The longest: twelve turns that use up everything."""
    out = harness("run", "pack/a", "--actor", LIVE, "--dry-run", "--format", "json")[1]
    told = json.loads(out)["estimate"]
    assert (told["episodes"], told["live_episodes"], told["calls"]) == (1, 1, 12)
    assert told["least_tokens"] == 2 + 1
    assert told["most_tokens"] == 12 * 2 + 12 * 24 * 5_000 + 100 * 66 + 12 * 100
    assert Decimal(told["least_usd"]) == 0
    assert Decimal(told["most_usd"]) == Decimal("1.4526")
    text = harness("run", "pack/a", "--actor", LIVE, "--dry-run")[1]
    assert text.splitlines()[-1].endswith(f"3 to {told['most_tokens']} tokens, $0.0000 to $1.4526")
    assert world.jobs == []
