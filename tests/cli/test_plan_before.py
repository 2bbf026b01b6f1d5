"""``--resume`` plays the plan of its run: what was added since is not paid for, and what is gone is told."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from stopping import stopped

from harness.receipt import read_run
from harness.schema.outcome import Outcome
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.wiring.waiting import durable_place


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    jobs: list[EpisodeJob]
    names: tuple[str, ...]
    changed: dict[str, str]
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def played(world: World) -> list[tuple[str, str, int]]:
    return [(job.loaded.scenario.id, job.actor.identity.ref, job.trial) for job in world.jobs]


@pytest.mark.parametrize("selection", [(), ("pack/*",), ("tag:tier:pr", "pack/b")])
def test_what_was_added_since_is_not_played(harness: Harness, world: World, selection: tuple[str, ...]) -> None:
    stopped(harness, world, *selection, "--trials", "2")
    plan = read_run(Path("out")).manifest.plan
    world.names = ("pack/0a", "pack/a", "pack/b", "pack/za")
    assert harness("run", "--resume", "out")[0] == 0
    assert played(world) == [("pack/a", "script", 2), ("pack/b", "script", 1), ("pack/b", "script", 2)]
    view = read_run(Path("out"))
    assert (view.manifest.plan, view.manifest.state, len(view.receipts)) == (plan, "complete", 4)


def test_of_a_shard_the_same_part_is_played_though_scenarios_were_added(harness: Harness, world: World) -> None:
    stopped(harness, world, "--trials", "3", "--shard", "2/2")
    shard = read_run(Path("out")).manifest.shard
    world.names = ("pack/0a", "pack/a", "pack/b")
    assert harness("run", "--resume", "out")[0] == 0
    assert played(world) == [("pack/b", "script", 1), ("pack/b", "script", 3)]
    assert read_run(Path("out")).manifest.shard == shard


def test_a_scenario_that_is_gone_is_one_line_and_nothing_is_played(harness: Harness, world: World) -> None:
    stopped(harness, world)
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    world.names = ("pack/a",)
    code, out, err = harness("run", "--resume", "out")
    assert (code, out, world.jobs) == (4, "", [])
    assert err == (
        "harness: --resume: scenario pack/b is not there any more, and a run is gone on with as it was planned; give "
        "it back, or begin a new run\n"
    )
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


def test_a_scenario_that_was_added_cannot_be_named(harness: Harness, world: World) -> None:
    stopped(harness, world)
    world.names = ("pack/a", "pack/b", "pack/c")
    code, _, err = harness("run", "pack/c", "--resume", "out")
    assert (code, err.count("\n"), world.jobs) == (4, 1, [])
    assert "leave them out, or begin a new run for what is not in it" in err


def test_actors_that_a_word_means_now_and_did_not_mean_then_do_not_play(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file of scripts to which one was added, or from which one was taken."""
    scripts = ["script:one", "script:two"]
    specs = world.actor_specs  # type: ignore[attr-defined]
    monkeypatch.setattr(
        "harness.wiring.actor_specs", lambda *_: tuple(spec for name in scripts for spec in specs(name))
    )
    stopped(harness, world, "--actor", "script:mine.json")
    scripts.insert(0, "script:new")
    assert harness("run", "--resume", "out")[0] == 0
    assert played(world) == [
        ("pack/a", "script:two", 1),
        ("pack/b", "script:one", 1),
        ("pack/b", "script:two", 1),
    ]
    scripts.remove("script:two")
    code, _, err = harness("run", "--resume", "out")
    assert (code, err.count("\n")) == (4, 1)
    assert "actor script:two of pack/a, trial 1, is not there any more" in err


def test_a_scenario_that_changed_is_named_and_played_anew(harness: Harness, world: World) -> None:
    stopped(harness, world)
    world.changed = {"pack/a": "2"}
    code, _, err = harness("run", "--resume", "out")
    assert (code, played(world)) == (0, [("pack/a", "script", 1), ("pack/b", "script", 1)])
    assert "scenario pack/a changed since the run began" in err


def cut_off(harness: Harness, world: World) -> None:
    """A run of a live model that was killed in its first episode, before any was finished."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        folder = durable_place(Path("out/episodes"), job.key).folder
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").write_text("private")
        os.kill(os.getpid(), signal.SIGINT)
        result = world.result(job)
        outcome = Outcome(status="cancelled", reason="cancellation_requested")
        return result.model_copy(
            update={
                "receipt": result.receipt.model_copy(update={"outcome": outcome, "verdict": "not_judged"}),
                "log": result.log.model_copy(update={"resumable": True}),
            }
        )

    world.episode = episode
    assert harness("run", *LIVE, "-n", "1", "--out", "out")[0] == 130
    world.episode = None
    world.jobs.clear()


LIVE = ("pack/a", "--actor", "openai/m", "--trials", "2", "--yes-spend")
CHANGED = "harness: scenario pack/a changed since the run began: it is played as it is now\n"
ABANDONED = (
    "harness: 1 unfinished episode of before is not gone on with and set aside in out/superseded; harness history "
    "purge removes it\n"
)
LEFT = "harness: 0 of 2 episodes are finished; 2 are played now\n"


def test_what_changed_is_told_though_nothing_was_finished_and_what_was_begun_is_kept_apart(
    harness: Harness, world: World
) -> None:
    cut_off(harness, world)
    world.changed = {"pack/a": "2"}
    code, out, err = harness("run", "--resume", "out", "--dry-run", "--format", "jsonl")
    assert (code, len(out.splitlines()), err) == (0, 2, CHANGED + ABANDONED + LEFT)
    assert (len(list(Path("out/episodes").iterdir())), world.jobs) == (1, [])
    code, _, err = harness("run", "--resume", "out", "--yes-spend")
    assert (code, err) == (0, CHANGED + ABANDONED + LEFT)
    assert list(Path("out").glob("episodes/*")) == []
    (kept,) = Path("out/superseded/episodes").iterdir()
    assert (kept / "journal.jsonl").read_text() == "private"
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert harness("history", "purge", "out") == (0, "out: 1 unfinished episode removed\n", "")
    assert not kept.exists()


def test_what_was_begun_of_the_same_is_gone_on_with_and_stays(harness: Harness, world: World) -> None:
    cut_off(harness, world)
    code, _, err = harness("run", "--resume", "out", "--dry-run")
    assert (code, err) == (0, LEFT)
    assert harness("run", "--resume", "out", "--yes-spend")[2] == LEFT
    assert len(list(Path("out/episodes").iterdir())) == 1


def test_a_dry_run_of_a_run_that_is_gone_on_with_plans_what_is_left(harness: Harness, world: World) -> None:
    stopped(harness, world, "--trials", "2")
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    code, out, err = harness("run", "--resume", "out", "--dry-run", "--format", "json")
    left = json.loads(out)
    assert (code, err) == (0, "harness: 1 of 4 episodes is finished; 3 are played now\n")
    assert [(row["scenario"], row["trial"]) for row in left["plan"]] == [("pack/a", 2), ("pack/b", 1), ("pack/b", 2)]
    assert left["estimate"]["episodes"] == 3
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before
    assert harness("run", "--resume", "out")[0] == 0
    code, out, err = harness("run", "--resume", "out", "--dry-run", "--format", "jsonl")
    assert (code, out, err) == (0, "", "harness: all 4 episodes are finished: nothing is left to play\n")
