"""``--max-cost`` and ``--max-time``: consent with a bound, what is left out, and going on."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest

from harness.meter import Ceiling
from harness.receipt import read_run
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult
from harness.schema.spending import entry_name

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
        name = entry_name(job.key, "o:attempt:1")
        if not ceiling.reserve(name, Decimal(most), seconds=1.0, stopped=lambda: False):
            refused = Outcome(status="limit_exceeded", reason="quota_refused")
            receipt = made.receipt.model_copy(update={"outcome": refused})
            return EpisodeResult(receipt=receipt, log=made.log.model_copy(update={"resumable": True}))
        spent = None if cost is None else Decimal(cost)
        ceiling.settle(name, spent)
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
        "harness: --max-cost is reached: of $0.001 at most $0.0009 is spent, and the next call may cost $0.0004; "
        "a higher bound goes on; 3 of 5 episodes are finished and kept in out; go on with: harness run --resume "
        "out --max-cost 0.002\n"
    )
    assert "cost: $0.0009 (3 model calls)" in out
    view = read_run(world.folder / "out")
    assert (view.manifest.state, len(view.receipts)) == ("interrupted", 3)
    (why,) = view.manifest.stopped
    assert why == err.removeprefix("harness: ").partition("; 3 of 5")[0]
    told = json.loads(harness("report", "out", "--format", "json")[1])
    assert [told[name] for name in ("run", "folder", "state")] == [view.manifest.run_id, "out", "interrupted"]
    assert told["stopped"] == list(view.manifest.stopped)

    before = {path: path.read_bytes() for path in (world.folder / "out").rglob("*") if path.is_file()}
    code, _, err = harness("run", "--resume", "out", "--max-cost", "0.001")
    assert code == 4
    assert err == (
        f"harness: --max-cost 0.001: one call of {LIVE!r} in pack/a may cost $0.000503 or more, and $0.0001 is left, "
        "for $0.0009 is spent; give at least 0.001403, or lower max_output_tokens\n"
    )
    assert {path: path.read_bytes() for path in (world.folder / "out").rglob("*") if path.is_file()} == before
    assert len(read_run(world.folder / "out").receipts) == 3
    assert harness("run", "--resume", "out", "--max-cost", "0.002")[0] == 0
    view = read_run(world.folder / "out")
    assert (view.manifest.state, len(view.receipts), view.manifest.stopped) == ("complete", 5, ())
    assert view.manifest.max_cost_usd == Decimal("0.002")


def test_what_is_printed_to_go_on_with_is_accepted_as_it_is(harness: Harness, world: World) -> None:
    world.episode = paying(world, most=400, cost=300)
    argv = ("run", "pack/a", "--actor", LIVE, "--trials", "6", "-n", "1", "--out", "a b", "--max-cost", "0.001")
    code, commands = 2, 0
    words: tuple[str, ...] = argv[1:]
    while code == 2:
        code, _, err = harness("run", *words)
        commands += 1
        if code == 2:
            words = tuple(shlex.split(err.partition("go on with: harness run ")[2]))
    assert (code, commands, read_run(world.folder / "a b").manifest.state) == (0, 2, "complete")


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
    assert "of 1 model call that this run made before nobody knows the cost" in err
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
    assert err.startswith("harness: --max-time is over; 1 of 2 episodes is finished and kept in out; go on with: ")


def test_a_dry_run_tells_the_range_of_the_price(harness: Harness, world: World) -> None:
    """The shortest: one request of six characters and one token. The longest: twelve turns that use up everything."""
    out = harness("run", "pack/a", "--actor", LIVE, "--dry-run", "--format", "json")[1]
    told = json.loads(out)["estimate"]
    assert (told["episodes"], told["live_episodes"], told["calls"]) == (1, 1, 12)
    assert told["least_tokens"] == 2 + 1
    assert told["most_tokens"] == 12 * 2 + 12 * 24 * 5_000 + 100 * 66 + 12 * 100
    assert Decimal(told["least_usd"]) == Decimal("0.000007")
    assert round(Decimal(told["most_usd"]), 4) == Decimal("1.4526")
    text = harness("run", "pack/a", "--actor", LIVE, "--dry-run")[1]
    assert text.splitlines()[-1].endswith(f"3 to {told['most_tokens']:,} tokens, $0.000007 to $1.46")
    assert world.jobs == []


@pytest.mark.parametrize(
    "words",
    [
        ("--actor", "openai-compatible/m", "--max-cost", "1"),
        ("--actor", PRICED, "--max-cost", "1"),
        ("--actor", LIVE, "--max-cost", "0.0001"),
        ("--actor", LIVE, "--yes-spend", "--max-time", "1s"),
        ("--actor", LIVE, "--yes-spend", "--out", "taken"),
    ],
)
def test_what_a_run_refuses_its_dry_run_refuses_too(harness: Harness, world: World, words: tuple[str, ...]) -> None:
    Path("taken").mkdir()
    Path("taken/notes").write_text("")
    refused = harness("run", "pack/a", *words)
    assert (refused[0], refused[2].count("\n"), world.jobs) == (4, 1, [])
    assert harness("run", "pack/a", *words, "--dry-run") == refused
    if "taken" not in words:
        refused = harness("record", "pack/a", *words)
        assert refused[0] == 4
        assert harness("record", "pack/a", *words, "--dry-run") == refused


def test_a_bound_that_what_is_left_does_not_fit_into_is_refused_by_a_dry_run_too(
    harness: Harness, world: World
) -> None:
    world.episode = paying(world, most=400, cost=300)
    argv = ("pack/a", "--actor", LIVE, "--trials", "3", "-n", "1", "--out", "out")
    assert harness("run", *argv, "--max-cost", "0.0009")[0] == 2
    refused = harness("run", "--resume", "out", "--max-cost", "0.0009")
    assert (refused[0], refused[2].count("\n")) == (4, 1)
    assert harness("run", "--resume", "out", "--max-cost", "0.0009", "--dry-run") == refused
    assert harness("run", "--resume", "out", "--max-cost", "1", "--dry-run")[0] == 0


def test_a_call_of_an_episode_that_was_cut_off_makes_the_cost_a_lower_bound(harness: Harness, world: World) -> None:
    paid = paying(world, most=400, cost=300)

    def cut_off_at_last(job: EpisodeJob) -> EpisodeResult:
        if job.trial < 3:
            return paid(job)
        assert world.ceiling is not None
        settled, in_flight = (entry_name(job.key, f"o:attempt:{number}") for number in (1, 2))
        world.ceiling.reserve(settled, Decimal(400), seconds=1.0, stopped=lambda: False)
        world.ceiling.settle(settled, Decimal(100))
        world.ceiling.reserve(in_flight, Decimal(400), seconds=1.0, stopped=lambda: False)
        os.kill(os.getpid(), signal.SIGINT)
        made = world.result(job)
        cancelled = made.receipt.model_copy(
            update={"outcome": Outcome(status="cancelled", reason="shutdown"), "verdict": "not_judged"}
        )
        return EpisodeResult(receipt=cancelled, log=made.log.model_copy(update={"resumable": True}))

    world.episode = cut_off_at_last
    argv = ("run", "pack/a", "--actor", LIVE, "--trials", "3", "-n", "1", "--out", "out", "--yes-spend")
    code, out, _ = harness(*argv, "--format", "json")
    told = {
        "usd": "0.000700",
        "is_lower_bound": True,
        "calls": 4,
        "calls_of_unknown_cost": 1,
        "calls_without_a_receipt": 2,
    }
    assert (code, json.loads(out)["cost"]) == (130, told)
    line = "cost: >= $0.0007 (1 of 4 model calls of unknown cost; 2 in episodes without a receipt here)"
    code, out, _ = harness("report", "out")
    assert (code, line in " ".join(out.split())) == (0, True)
    code, out, _ = harness("report", "out", "--format", "json")
    assert (code, json.loads(out)["cost"], len(json.loads(out)["receipts"])) == (0, told, 2)
    assert harness("report", "out", "--report", "html", "--out", "page.html", "--format", "json")[0] == 4


def test_a_bound_below_one_call_is_refused_before_anything_is_made(harness: Harness, world: World) -> None:
    code, out, err = harness("run", "pack/a", "--actor", LIVE, "--max-cost", "0.0005", "--out", "out")
    assert (code, out, world.jobs, (world.folder / "out").exists()) == (4, "", [], False)
    assert err == (
        f"harness: --max-cost 0.0005: one call of {LIVE!r} in pack/a may cost $0.000503 or more, and $0.0005 is left; "
        "give at least 0.000503, or lower max_output_tokens\n"
    )


def test_a_call_that_the_bound_turns_out_not_to_cover_is_told_with_what_it_needs(
    harness: Harness, world: World
) -> None:
    world.episode = paying(world, most=700, cost=300)
    code, _, err = harness("run", "pack/a", "--actor", LIVE, "--max-cost", "0.0006", "--out", "out")
    assert code == 2
    assert "of $0.0006 at most $0 is spent, and the next call may cost $0.0007; a higher bound goes on; 0 of 1" in err


@pytest.mark.parametrize(("time", "code"), [("2m", 4), ("119s", 4), ("121s", 0)])
def test_a_time_in_which_no_call_can_end_is_refused_before_anything_is_made(
    harness: Harness, world: World, time: str, code: int
) -> None:
    ended, _, err = harness("run", "pack/a", "--actor", LIVE, "--yes-spend", "--max-time", time, "--out", "out")
    assert (ended, bool(world.jobs), (world.folder / "out").exists()) == (code, code == 0, code == 0), err
    if code:
        assert err.count("\n") == 1
        assert f"one call of {LIVE!r} in pack/a may take 120 s (model_call_s)" in err
        assert "give more than 120s" in err


def test_a_time_that_is_too_short_for_a_call_bounds_no_script(harness: Harness, world: World) -> None:
    assert harness("run", "pack/a", "--max-time", "10s", "--out", "out")[0] == 0
    assert len(world.jobs) == 1
