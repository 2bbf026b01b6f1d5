"""What `harness record` says: what is recorded, what is not and why, and where what was paid for is told."""

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
from harness.schema.verdict import Verdict

LIVE = ("record", "--actor", "openai/m", "--yes-spend")


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    verdicts: dict[str, Verdict]
    jobs: list[EpisodeJob]
    episode: Callable[[EpisodeJob], EpisodeResult] | None
    ceiling: Ceiling | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def unreachable(world: World, *, sent: bool) -> Callable[[EpisodeJob], EpisodeResult]:
    """Episodes of ``pack/b`` whose model cannot be reached, or breaks off after it was asked."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        made = world.result(job)
        if job.loaded.scenario.id != "pack/b":
            paid = AttemptRow(operation="turn-1/main", attempt=1, status="completed", usage=None, seconds=1)
            log = made.log.model_copy(update={"attempts": (paid,) if sent else ()})
            return EpisodeResult(receipt=made.receipt, log=log)
        ended = Outcome(status="failed", reason="model_error", detail="transport")
        row = AttemptRow(
            operation="turn-1/main",
            attempt=1,
            status="unknown" if sent else "not_sent",
            usage=None,
            seconds=0,
            error="connection_lost",
        )
        receipt = made.receipt.model_copy(update={"outcome": ended, "verdict": "not_judged", "cause": "provider"})
        return EpisodeResult(receipt=receipt, log=made.log.model_copy(update={"attempts": (row,)}))

    return episode


def test_what_gave_no_recording_says_why_and_is_not_counted_as_recorded(harness: Harness, world: World) -> None:
    world.episode = unreachable(world, sent=False)

    code, out, err = harness(*LIVE)

    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("harness: pack/b with openai/m: nothing is recorded: failed/model_error, transport; ")
    assert "connection_lost, nothing was sent; check the address and whether it is up" in err
    assert out.splitlines()[-1] == "1 of 2 recorded"
    assert not (world.folder / "reports").exists()
    assert not (world.folder / "recordings").exists()


def test_what_was_paid_for_is_kept_as_a_run_whatever_came_of_it(harness: Harness, world: World) -> None:
    world.episode = unreachable(world, sent=True)

    code, out, _ = harness(*LIVE)

    (folder,) = (world.folder / "reports").iterdir()
    assert (code, out.splitlines()[-2:]) == (2, ["1 of 2 recorded", f"run log: {folder}"])
    view = read_run(folder)
    assert [receipt.verdict for receipt in view.receipts] == ["pass", "not_judged"]
    assert [len(entry.attempts) for entry in view.log] == [1, 1]
    assert view.manifest.state == "complete"


def test_only_empty_folders_that_recording_made_are_removed(harness: Harness, world: World) -> None:
    mine = world.folder / "recordings" / "pack" / "a"
    mine.mkdir(parents=True)
    world.verdicts = {"pack/a": "not_judged", "pack/b": "not_judged"}

    def episode(job: EpisodeJob) -> EpisodeResult:
        (world.folder / "recordings" / job.loaded.scenario.id).mkdir(parents=True, exist_ok=True)
        return world.result(job)

    world.episode = episode

    assert harness(*LIVE)[0] == 2
    assert [path.name for path in (world.folder / "recordings").rglob("*")] == ["pack", "a"]


@pytest.mark.parametrize("consent", [(), ("--yes-spend",)])
def test_a_script_is_refused_as_no_live_model_whatever_was_agreed_to(
    harness: Harness, world: World, consent: tuple[str, ...]
) -> None:
    code, _, err = harness("record", "pack/a", "--actor", "script", *consent)

    assert code == 4
    assert err == (
        "harness: actor 'script' is a script and no live model: it cannot be recorded; harness run plays it as it is\n"
    )


def test_consent_is_asked_of_live_models(harness: Harness, world: World) -> None:
    code, _, err = harness("record", "--actor", "openai/m")
    assert code == 4
    assert err.startswith(
        "harness: actor 'openai/m' is a live model and costs money; bound it with --max-cost USD, or "
    )


def test_an_actor_without_any_recording_has_nothing_stale_and_that_is_no_success(
    harness: Harness, world: World
) -> None:
    code, out, err = harness(*LIVE, "--stale-only")

    assert (code, out, world.jobs) == (5, "", [])
    assert err == "harness: no recording of what was asked for is stale; 0 of this actor exist\n"


def test_each_line_of_jsonl_is_one_episode(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "not_judged"}

    lines = [json.loads(line) for line in harness(*LIVE, "--format", "jsonl")[1].splitlines()]

    assert [(line["scenario"], line["recording"] is None) for line in lines] == [("pack/a", False), ("pack/b", True)]


PRICED = ("record", "--actor", "openai-compatible/priced-bounded")


def test_recording_is_bounded_as_a_run_is(harness: Harness, world: World) -> None:
    """The second episode finds too little left: it is told, and no success."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        made = world.result(job)
        assert world.ceiling is not None
        if not world.ceiling.reserve(job.key, Decimal(600), seconds=1.0, stopped=lambda: False):
            refused = Outcome(status="limit_exceeded", reason="quota_refused")
            return EpisodeResult(
                receipt=made.receipt.model_copy(update={"outcome": refused, "verdict": "not_judged"}), log=made.log
            )
        world.ceiling.settle(job.key, Decimal(500))
        return made

    world.episode = episode
    code, out, err = harness(*PRICED, "--max-cost", "0.001")
    assert (code, out.splitlines()[-1]) == (2, "1 of 2 recorded")
    assert err.splitlines()[-1] == (
        "harness: --max-cost is reached: of $0.001 at most $0.0005 is spent, and the next call may cost $0.0006; a "
        "higher bound goes on; 1 of 2 episodes is recorded; not played to the end: pack/b"
    )


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--max-cost", "0.0001"), "--max-cost 0.0001: one call of"),
        (("--max-time", "10s", "--yes-spend"), "--max-time 10s: one call of"),
    ],
)
def test_a_bound_that_covers_no_call_records_nothing(
    harness: Harness, world: World, more: tuple[str, ...], told: str
) -> None:
    code, out, err = harness(*PRICED, *more)
    assert (code, out, err.count("\n"), world.jobs) == (4, "", 1, [])
    assert told in err


def test_what_would_be_recorded_can_be_looked_at(harness: Harness, world: World) -> None:
    code, out, err = harness(*PRICED, "--dry-run")
    assert (code, err, world.jobs) == (0, "", [])
    assert "pack/a" in out
    assert "2 episodes; at most 24 calls of live models" in out
    rows = harness(*PRICED, "--dry-run", "--format", "jsonl")[1].splitlines()
    assert [json.loads(row)["scenario"] for row in rows] == ["pack/a", "pack/b"]
