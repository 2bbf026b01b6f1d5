"""Many episodes from the command line: shards and their merging, outages, and going on with a run."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from planned import job_of

from harness.cli.suite_options import Scale
from harness.errors import PlaneMissingError
from harness.ports import Pacing
from harness.receipt import read_run
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult
from harness.schema.verdict import Verdict
from harness.suite import Care
from harness.suite.queue import Queue

LIVE = ("--actor", "openai/m", "--yes-spend")


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    verdicts: dict[str, Verdict]
    names: tuple[str, ...]
    jobs: list[EpisodeJob]
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def failing(result: EpisodeResult, category: str) -> EpisodeResult:
    """The result of an episode whose provider failed."""
    outcome = Outcome(status="failed", reason="model_error", detail="server")
    update = {"verdict": "not_judged", "cause": "provider", "outcome": outcome, "failure_code": "model_error"}
    row = AttemptRow(operation="model", attempt=1, status="failed", usage=None, seconds=0.1, error=category)
    return EpisodeResult(
        receipt=result.receipt.model_copy(update=update), log=result.log.model_copy(update={"attempts": (row,)})
    )


def played(world: World) -> list[tuple[str, int, int]]:
    """What was played, in order: scenario, trial, attempt."""
    return [(job.loaded.scenario.id, job.trial, job.attempt) for job in world.jobs]


@pytest.fixture(autouse=True)
def _without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.suite.care.Care.pause", lambda *_: 0.0)


def test_shards_that_are_merged_are_the_run_that_was_never_cut(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "fail"}
    assert harness("run", "--trials", "3", "--out", "whole")[0] == 1
    codes = [
        harness("run", "--trials", "3", "--shard", f"{number}/4", "--out", f"{number}")[0] for number in range(1, 5)
    ]
    assert codes == [1, 1, 0, 1]

    code, out, err = harness("history", "merge", "3", "1", "4", "2", "--out", "merged")

    assert (code, err) == (1, "")
    assert out.startswith("3 of 6 passed, 3 failed")
    assert "Look next in merged" in out
    assert Path("merged/receipts.jsonl").read_bytes() == Path("whole/receipts.jsonl").read_bytes()
    whole, merged = read_run(Path("whole")).manifest, read_run(Path("merged")).manifest
    assert merged.merged == tuple(read_run(Path(name)).manifest.run_id for name in "1234")
    for name in ("state", "scenarios", "actors", "planes", "enforcement", "plan", "receipts", "verdicts"):
        assert getattr(merged, name) == getattr(whole, name)
    assert {path.name for path in Path("merged").iterdir()} == {
        path.name for path in Path("whole").iterdir() if path.name != "asked.json"
    }


def test_the_manifest_tells_which_shard_it_is_and_what_the_whole_plan_is(harness: Harness, world: World) -> None:
    del world
    harness("run", "--trials", "2", "--shard", "2/3", "--out", "out")
    manifest = read_run(Path("out")).manifest
    assert manifest.shard is not None
    assert (manifest.shard.number, manifest.shard.count, len(manifest.shard.plan)) == (2, 3, 4)
    assert manifest.plan == (manifest.shard.plan[1],)


def test_kept_recordings_of_shards_are_put_together_too(harness: Harness, world: World) -> None:
    for number in (1, 2):
        harness("run", "--shard", f"{number}/2", "--out", f"{number}")
        place = world.folder / f"{number}/recordings/pack/{number}/a.jsonl"
        place.parent.mkdir(parents=True)
        place.write_text("{}\n", "utf-8")

    assert harness("history", "merge", "1", "2", "--out", "merged")[0] == 0

    found = world.folder / "merged/recordings"
    assert sorted(path.relative_to(found).as_posix() for path in found.rglob("*.jsonl")) == [
        "pack/1/a.jsonl",
        "pack/2/a.jsonl",
    ]
    assert found.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("1", "1"), "1 is given twice"),
        (
            ("1", "copy"),
            "trial 1 of pack/a by script on loopx==0.4.8 is doubled: it is in 1 (shard 1/2) and in copy (shard 1/2)",
        ),
        (("1",), "trial 2 of pack/a by script on loopx==0.4.8 is missing (and 1 more): shard 2/2 is not given"),
        (("1", "whole"), "whole: is no shard; only runs of harness run --shard I/N are put together"),
        (("1", "nothing"), "nothing: holds no run (manifest.json is not there)"),
    ],
)
def test_what_is_not_the_whole_plan_is_one_line_and_leaves_nothing(
    harness: Harness, world: World, argv: tuple[str, ...], told: str
) -> None:
    del world
    for name in ("1", "copy"):
        harness("run", "--trials", "2", "--shard", "1/2", "--out", name)
    harness("run", "--trials", "2", "--out", "whole")

    code, out, err = harness("history", "merge", *argv, "--out", "merged")

    assert (code, out, err) == (4, "", f"harness: {told}\n")
    assert not Path("merged").exists()


def test_a_shard_that_was_changed_after_it_ended_is_refused(harness: Harness, world: World) -> None:
    del world
    for number in (1, 2):
        harness("run", "--shard", f"{number}/2", "--out", f"{number}")
    log = Path("2/run.jsonl")
    log.write_text(log.read_text("utf-8").replace('"seconds":0.5', '"seconds":9.5'), "utf-8")
    code, _, err = harness("history", "merge", "1", "2", "--out", "merged")
    assert (code, err.count("\n")) == (4, 1)
    assert err.startswith("harness: 2/run.jsonl: ")
    assert err.endswith("it was changed after it ended: harness verify 2\n")


def test_a_live_night_in_which_an_episode_waits_is_pending_in_every_form_of_it(harness: Harness, world: World) -> None:
    waiting = {"pack/b"}

    def one(job: EpisodeJob) -> EpisodeResult:
        if job.loaded.scenario.id not in waiting:
            return world.result(job)
        result = world.result(job)
        outcome = Outcome(status="suspended", reason="reconciliation_required", detail="model_call")
        receipt = result.receipt.model_copy(update={"outcome": outcome, "verdict": "pending"})
        return EpisodeResult(receipt=receipt, log=result.log.model_copy(update={"resumable": True}))

    world.episode = one
    assert harness("run", "pack/b", *LIVE, "--out", "all")[0] == 3
    assert harness("run", *LIVE, "--shard", "1/2", "--out", "1")[0] == 0
    assert harness("run", *LIVE, "--shard", "2/2", "--out", "2")[0] == 3
    assert harness("history", "merge", "1", "2", "--out", "whole")[0] == 3
    assert harness("run", "--resume", "2", "--yes-spend")[0] == 3
    world.verdicts = {"pack/a": "fail"}
    assert harness("run", *LIVE, "--out", "failed")[0] == 3
    world.verdicts = {"pack/a": "not_judged"}
    assert harness("run", *LIVE, "--out", "not judged")[0] == 2
    waiting.clear()
    assert harness("run", "--resume", "2", "--yes-spend")[0] == 0


def test_a_shard_that_was_interrupted_is_named_gone_on_with_and_then_merged(harness: Harness, world: World) -> None:
    harness("run", "--trials", "4", "--out", "whole")
    harness("run", "--trials", "4", "--shard", "2/2", "--out", "2")

    def episode(job: EpisodeJob) -> EpisodeResult:
        os.kill(os.getpid(), signal.SIGINT)
        return world.result(job)

    world.episode = episode
    assert harness("run", "--trials", "4", "--shard", "1/2", "--out", "1", "-n", "1")[0] == 130
    code, _, err = harness("history", "merge", "1", "2", "--out", "merged")
    assert code == 4
    assert err == (
        "harness: trial 3 of pack/a by script on loopx==0.4.8 is missing (and 2 more): 1 (shard 1/2) did not finish "
        "it; go on with harness run --resume first\n"
    )

    world.episode = None
    world.jobs.clear()
    assert harness("run", "--resume", "1")[0] == 0
    assert played(world) == [("pack/a", 3, 1), ("pack/b", 1, 1), ("pack/b", 3, 1)]
    assert harness("history", "merge", "1", "2", "--out", "merged")[0] == 0
    assert Path("merged/receipts.jsonl").read_bytes() == Path("whole/receipts.jsonl").read_bytes()


def test_a_shard_takes_its_share_from_the_run_that_is_gone_on_with(harness: Harness, world: World) -> None:
    del world
    harness("run", "--shard", "1/2", "--out", "1")
    code, _, err = harness("run", "--resume", "1", "--shard", "2/2")
    assert (code, err.count("\n")) == (4, 1)
    assert "--resume takes scenarios, actors, planes, trials and settings from the run" in err


@pytest.mark.parametrize(
    ("shard", "code", "told"),
    [("3/2", 4, "--shard takes I/N, like 2/5"), ("3/3", 5, "shard 3/3 is empty: the plan has only 2 episodes")],
)
def test_a_shard_that_cannot_be_is_told_before_anything_is_made(
    harness: Harness, world: World, shard: str, code: int, told: str
) -> None:
    ended, _, err = harness("run", "--shard", shard, "--out", "out")
    assert (ended, err.count("\n"), world.jobs) == (code, 1, [])
    assert told in err
    assert not Path("out").exists()


def test_a_dry_run_prints_the_plan_of_a_shard(harness: Harness, world: World) -> None:
    del world
    out = harness("run", "--shard", "2/2", "--dry-run", "--format", "jsonl")[1]
    assert [json.loads(row)["scenario"] for row in out.splitlines()] == ["pack/b"]


def test_a_merged_run_is_not_gone_on_with(harness: Harness, world: World) -> None:
    del world
    for number in (1, 2):
        harness("run", "--shard", f"{number}/2", "--out", f"{number}")
    harness("history", "merge", "1", "2", "--out", "merged")
    code, out, err = harness("run", "--resume", "merged")
    assert (code, out) == (4, "")
    assert err == "harness: merged is merged from 2 runs: go on with one of those, and merge again\n"


def test_of_a_complete_run_nothing_is_left_to_play(harness: Harness, world: World) -> None:
    harness("run", "--out", "out")
    before = Path("out/receipts.jsonl").read_bytes()
    world.jobs.clear()
    code, _, err = harness("run", "--resume", "out")
    assert (code, err) == (0, "harness: all 2 episodes are finished: nothing is left to play\n")
    assert (world.jobs, Path("out/receipts.jsonl").read_bytes()) == ([], before)


def test_a_run_without_a_finished_episode_that_is_refused_again_can_still_be_gone_on_with(
    harness: Harness, world: World
) -> None:
    def stopped(job: EpisodeJob) -> EpisodeResult:
        os.kill(os.getpid(), signal.SIGINT)
        result = world.result(job)
        outcome = Outcome(status="cancelled", reason="cancellation_requested")
        return result.model_copy(update={"receipt": result.receipt.model_copy(update={"outcome": outcome})})

    def refused(job: EpisodeJob) -> EpisodeResult:
        raise PlaneMissingError(job.plane.ref, "home")

    world.episode = stopped
    assert harness("run", "-n", "1", "--out", "out")[0] == 130
    world.episode = refused
    assert harness("run", "--resume", "out")[0] == 4
    world.episode = None
    assert harness("run", "--resume", "out")[0] == 0
    assert len(read_run(Path("out")).receipts) == 2


def test_a_folder_with_a_run_says_how_to_go_on_with_it(harness: Harness, world: World) -> None:
    del world
    harness("run", "pack/a", "--out", "out")
    code, _, err = harness("run", "--out", "out")
    assert code == 4
    assert err == (
        "harness: out: holds a run already, which is not overwritten; give another folder, or go on with it: harness "
        "run --resume out\n"
    )
    harness("run", "pack/a", "--actor", "openai/priced-bounded", "--max-cost", "1.50", "--out", "live")
    assert "go on with it: harness run --resume live --max-cost 1.50\n" in harness("run", "--out", "live")[2]
    for number in (1, 2):
        harness("run", "--shard", f"{number}/2", "--out", f"{number}")
    harness("history", "merge", "1", "2", "--out", "merged")
    err = harness("run", "--out", "merged")[2]
    assert err == "harness: merged: holds a run already, which is not overwritten; give another folder\n"


def test_an_outage_is_tried_again_and_every_attempt_is_kept(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        result = world.result(job)
        return failing(result, "overloaded") if (job.trial, job.attempt) == (1, 1) else result

    world.episode = episode
    code, out, err = harness("run", "pack/a", *LIVE, "--trials", "2", "-n", "1", "--out", "out", "--format", "jsonl")

    assert (code, err) == (0, "")
    assert played(world) == [("pack/a", 1, 1), ("pack/a", 2, 1), ("pack/a", 1, 2)]
    view = read_run(Path("out"))
    assert [(one.trial, one.attempt, one.verdict) for one in view.receipts] == [
        (1, 1, "not_judged"),
        (1, 2, "pass"),
        (2, 1, "pass"),
    ]
    assert (view.manifest.state, view.manifest.verdicts["pass"], view.manifest.verdicts["not_judged"]) == (
        "complete",
        2,
        0,
    )
    assert Path("out/receipts.jsonl").read_text("utf-8") == out
    summary = Path("out/summary.txt").read_text("utf-8")
    assert summary.startswith("2 of 2 passed\n")
    assert "tried again" in summary
    assert "Not judged" not in summary
    junit = Path("out/junit.xml").read_text("utf-8")
    assert (junit.count('tests="2" failures="0" errors="0" skipped="0"'), junit.count("<flakyError ")) == (2, 1)
    assert Path("out/annotations.txt").read_text("utf-8").count("\n") == 1
    assert "tried again" in Path("out/summary.md").read_text("utf-8")


@pytest.mark.parametrize(("argv", "attempts"), [((), 3), (("--retries", "0"), 1), (("--retries", "4"), 5)])
def test_how_often_an_outage_is_tried_again_can_be_said(
    harness: Harness, world: World, argv: tuple[str, ...], attempts: int
) -> None:
    world.episode = lambda job: failing(world.result(job), "timeout")
    assert harness("run", "pack/a", *LIVE, *argv, "--out", "out")[0] == 2
    assert [job.attempt for job in world.jobs] == list(range(1, attempts + 1))


def test_a_run_that_is_gone_on_with_remembers_how_often_and_tries_what_failed_again(
    harness: Harness, world: World
) -> None:
    world.episode = lambda job: failing(world.result(job), "timeout")
    harness("run", *LIVE, "--retries", "1", "--out", "out")
    world.jobs.clear()
    code, _, err = harness("run", "--resume", "out", "--yes-spend", "-n", "1")
    assert (code, played(world)) == (2, [("pack/a", 1, 3), ("pack/b", 1, 3)])
    assert (
        err == "harness: 0 of 2 episodes are finished; 2 are played now, 2 of them again, for their provider failed\n"
    )

    world.episode = None
    assert harness("run", "--resume", "out", "--yes-spend")[0] == 0
    assert len(read_run(Path("out")).receipts) == 8


def test_a_provider_that_refuses_is_left_alone_in_one_line_and_gone_on_with(harness: Harness, world: World) -> None:
    world.episode = lambda job: failing(world.result(job), "auth")
    code, _, err = harness("run", *LIVE, "--trials", "4", "-n", "1", "--out", "out")

    assert (code, len(world.jobs)) == (2, 3)
    assert err == (
        "harness: openai refused several episodes in a row (key or quota) and is left alone: 5 of 8 were not begun, "
        "without a call; put that right, and go on with: harness run --resume out --yes-spend\n"
    )
    assert read_run(Path("out")).manifest.state == "interrupted"
    assert read_run(Path("out")).manifest.stopped == (
        "openai refused several episodes in a row (key or quota) and is left alone: 5 of 8 were not begun",
    )
    world.episode = None
    world.jobs.clear()
    assert harness("run", "--resume", "out", "--yes-spend")[0] == 0
    assert len(world.jobs) == 8
    view = read_run(Path("out"))
    assert (view.manifest.state, view.manifest.verdicts["pass"], len(view.receipts)) == ("complete", 8, 11)


@pytest.mark.parametrize("category", ["invalid_request", "model_not_found"])
def test_a_request_that_a_provider_cannot_use_is_final_and_what_to_do_is_told(
    harness: Harness, world: World, category: str
) -> None:
    world.episode = lambda job: failing(world.result(job), category if job.loaded.scenario.id == "pack/a" else "auth")

    code, _, err = harness("run", *LIVE, "--out", "out")

    told = (
        f"harness: 1 episode of openai/m not judged: the provider cannot use the request ({category}); --resume does "
        "not send it again: correct the model's name, its settings or the scenario, then go on with what is corrected, "
        "or begin a new run\n"
    )
    assert (code, err) == (2, told)
    world.jobs.clear()
    world.episode = None
    code, _, err = harness("run", "--resume", "out", "--yes-spend")
    assert played(world) == [("pack/b", 1, 2)]
    assert (code, err) == (
        2,
        f"harness: 1 of 2 episodes is finished; 1 is played now, 1 of them again, for its provider failed\n{told}",
    )


def test_how_many_refusals_are_enough_can_be_said(harness: Harness, world: World) -> None:
    world.episode = lambda job: failing(world.result(job), "quota_exhausted")
    assert harness("run", *LIVE, "--trials", "4", "-n", "1", "--refusals", "0", "--out", "out")[0] == 2
    assert len(world.jobs) == 8


class Killed(BaseException):
    """Nothing of a process goes on."""


def killed_after(world: World, monkeypatch: pytest.MonkeyPatch, harness: Harness, categories: Sequence[str]) -> None:
    """A run of eight that ends as a killed one does: with results of these sorts, and nothing laid out."""
    ends = iter(categories)

    def episode(job: EpisodeJob) -> EpisodeResult:
        category = next(ends, None)
        if category is None:
            raise Killed
        return world.result(job) if category == "none" else failing(world.result(job), category)

    world.episode = episode
    with monkeypatch.context() as patch:
        patch.setattr("harness.cli.play._lay_out", lambda *_: None)
        with pytest.raises(Killed):
            harness("run", *LIVE, "--trials", "4", "-n", "1", "--retries", "0", "--out", "out")
    assert read_run(Path("out")).manifest.state == "running"
    world.jobs.clear()


@pytest.mark.parametrize(
    ("categories", "more"),
    [
        (("auth", "auth"), 1),
        (("none", "quota_exhausted", "auth"), 1),
        (("auth", "auth", "none"), 3),
        (("auth", "timeout", "auth"), 1),
        ((), 3),
    ],
)
def test_refusals_in_a_row_are_counted_on_after_a_kill(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, categories: tuple[str, ...], more: int
) -> None:
    killed_after(world, monkeypatch, harness, categories)
    world.episode = lambda job: failing(world.result(job), "auth")
    assert harness("run", "--resume", "out", "--yes-spend", "-n", "1")[0] == 2
    assert len(world.jobs) == more


def test_a_provider_that_had_refused_everybody_is_not_asked_by_who_goes_on_after_a_kill(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_after(world, monkeypatch, harness, ("auth", "auth"))
    world.episode = None
    code, _, err = harness("run", "--resume", "out", "--yes-spend", "-n", "1", "--refusals", "2")
    assert (code, world.jobs) == (2, [])
    assert "openai refused several episodes in a row (key or quota) and is left alone: 6 of 8 were not begun" in err
    assert harness("run", "--resume", "out", "--yes-spend", "-n", "1", "--refusals", "2")[0] == 0
    assert len(world.jobs) == 8


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (
            ("--provider-limit", "azure=1"),
            "--provider-limit: 'azure' is no provider; there are: openai, ",
        ),
        (("--provider-limit", "openai"), "--provider-limit takes NAME=N; names: openai"),
        (("--provider-limit", "openai=0"), "--provider-limit openai: this number cannot be used"),
        (("--read-timeout", "openai"), "--read-timeout takes NAME=S; names: openai"),
        (("--connect-timeout", "openai=0"), "--connect-timeout openai: this number cannot be used"),
        (("--retries", "-1"), "Invalid value for '--retries'"),
        (("--refusals", "x"), "Invalid value for '--refusals'"),
    ],
)
def test_what_cannot_be_used_is_one_line(harness: Harness, world: World, argv: tuple[str, ...], told: str) -> None:
    for more in ((), ("--dry-run",)):
        code, _, err = harness("run", *argv, "--out", "out", *more)
        assert (code, err.count("\n"), world.jobs) == (4, 1, [])
        assert told in err


def test_the_limit_of_a_provider_comes_from_the_file_and_the_command_line_goes_over_it(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, int]] = []

    class Watched(Queue):
        def __init__(
            self,
            jobs: Sequence[EpisodeJob],
            care: Care,
            before: Sequence[EpisodeResult] = (),
            pacing: Pacing | None = None,
        ) -> None:
            given.append(dict(care.concurrency))
            super().__init__(jobs, care, before, pacing)

    monkeypatch.setattr("harness.suite.runner.Queue", Watched)
    Path("harness.toml").write_text("[providers.openai]\nconcurrency = 3\n[providers.ark]\nconcurrency = 2\n", "utf-8")
    harness("run", *LIVE, "--out", "1")
    harness("run", *LIVE, "--provider-limit", "openai=5", "--out", "2")
    assert given == [{"openai": 3, "ark": 2}, {"openai": 5, "ark": 2}]
    assert world.jobs


@pytest.mark.parametrize(
    ("asked", "live", "at_once", "processors", "where"),
    [
        ("auto", True, 16, 8, "threads"),
        ("auto", True, 17, 8, "processes"),
        ("auto", True, 64, 1, "threads"),
        ("auto", False, 64, 8, "threads"),
        ("processes", True, 1, 1, "processes"),
        ("threads", True, 64, 8, "threads"),
    ],
)
def test_so_many_live_models_that_one_process_would_not_keep_up_are_played_in_several(
    asked: str, live: bool, at_once: int, processors: int, where: str
) -> None:
    scale = Scale(retries=None, limits=(), refusals=3, shard=None, pool=asked)
    assert scale.pool_for([job_of("pack/a"), job_of("pack/a", live=live)], at_once, processors) == where
