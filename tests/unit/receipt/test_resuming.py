"""A run that was interrupted is gone on with: what was finished is not played again, and nothing paid for is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from toy import SCENARIO

from harness.errors import StoreError
from harness.receipt import RunStore, read_run, remainder, set_aside
from harness.redaction import SecretGuard
from harness.schema.actor import ActorSpec
from harness.schema.base import digest_text
from harness.schema.outcome import Outcome
from harness.schema.run import EpisodeJob, EpisodeResult, Manifest
from harness.schema.scenario import LoadedScenario, Scenario

END = "2026-08-12T00:01:00+00:00"
MakeResult = Callable[[int], EpisodeResult]
Jobs = tuple[EpisodeJob, ...]


@pytest.fixture
def jobs(make_result: MakeResult) -> tuple[EpisodeJob, ...]:
    """The jobs whose receipts ``make_result`` makes."""
    made = []
    for receipt in (make_result(position).receipt for position in range(3)):
        scenario = Scenario.model_validate_json(json.dumps({**SCENARIO, "id": receipt.scenario}))
        loaded = LoadedScenario(scenario=scenario, digest=receipt.scenario_digest, path="x.toml")
        made.append(EpisodeJob(loaded=loaded, actor=ActorSpec(identity=receipt.actor), plane=receipt.plane))
    return tuple(made)


def store(folder: Path, manifest: Manifest, finished: tuple[tuple[int, EpisodeResult], ...] | None = None) -> RunStore:
    return RunStore(folder, manifest, SecretGuard(["kanari-kanari"]), sync=False, finished=finished)


def cancelled(result: EpisodeResult) -> EpisodeResult:
    outcome = Outcome(status="cancelled", reason="cancellation_requested")
    update = {"outcome": outcome, "verdict": "not_judged", "cause": "harness"}
    return result.model_copy(update={"receipt": result.receipt.model_copy(update=update)})


def test_a_jobs_key_is_that_of_its_receipt(jobs: Jobs, make_result: MakeResult) -> None:
    assert [one.key for one in jobs] == [make_result(position).receipt.key for position in range(3)]


@pytest.mark.parametrize("ended", [False, True], ids=["killed", "stopped"])
def test_the_rest_is_played_and_the_folder_is_as_if_nothing_had_happened(
    ended: bool, tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "whole", manifest) as run:
        for position in range(3):
            run.add(position, make_result(position))
        run.finish(END)
    with store(tmp_path / "run", manifest) as run:
        run.add(1, make_result(1))
        if ended:
            run.finish(END)
    if not ended:
        with (tmp_path / "run/episodes.part.jsonl").open("ab") as part:
            part.write(b'{"position":2,"receipt":{"torn')

    left = remainder(tmp_path / "run", jobs)
    assert ([place for place, _ in left.jobs], left.superseded) == ([0, 2], ())
    with store(tmp_path / "run", manifest, left.finished) as run:
        assert read_run(tmp_path / "run").manifest.state == "running"
        for place, _ in reversed(left.jobs):
            run.add(place, make_result(place))
        run.finish(END)

    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == names
    for name in names:
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_one_that_was_cancelled_is_tried_again_and_both_are_kept(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, cancelled(make_result(0)))
        run.add(1, make_result(1))
        run.finish(END)
    left = remainder(tmp_path / "run", jobs)
    assert [(place, one.attempt) for place, one in left.jobs] == [(0, 2), (2, 1)]
    again = make_result(0)
    with store(tmp_path / "run", manifest, left.finished) as run:
        run.add(0, again.model_copy(update={"receipt": again.receipt.model_copy(update={"attempt": 2})}))
        run.add(2, make_result(2))
        run.finish(END)
        ended = read_run(tmp_path / "run").manifest
    assert (ended.state, ended.verdicts["pass"], len(ended.receipts)) == ("complete", 3, 4)
    assert remainder(tmp_path / "run", jobs).jobs == ()


def other_scenario(job: EpisodeJob) -> EpisodeJob:
    return job.model_copy(update={"loaded": job.loaded.model_copy(update={"digest": digest_text("other")})})


def hotter(job: EpisodeJob) -> EpisodeJob:
    identity = job.actor.identity.model_copy(update={"digest": digest_text("hotter")})
    return job.model_copy(update={"actor": ActorSpec(identity=identity)})


def other_actor(job: EpisodeJob) -> EpisodeJob:
    identity = job.actor.identity.model_copy(update={"ref": "other", "digest": digest_text("other")})
    return job.model_copy(update={"actor": ActorSpec(identity=identity)})


def other_plane(job: EpisodeJob) -> EpisodeJob:
    return job.model_copy(update={"plane": job.plane.model_copy(update={"version": "0.5.0"})})


def other_trial(job: EpisodeJob) -> EpisodeJob:
    return job.model_copy(update={"trial": 2})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (other_scenario, "scenario demo/first changed"),
        (hotter, "actor script changed: its settings or its address"),
        (other_actor, "actor script does not play"),
        (other_plane, "control plane loopx==0.4.8 changed"),
        (other_trial, "trial 1 of demo/first is not planned any more"),
    ],
)
def test_what_answers_another_question_is_named_and_set_aside(
    change: Callable[[EpisodeJob], EpisodeJob],
    told: str,
    *,
    tmp_path: Path,
    manifest: Manifest,
    make_result: MakeResult,
    jobs: Jobs,
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
    left = remainder(tmp_path / "run", (change(jobs[0]), *jobs[1:]))
    assert ([place for place, _ in left.jobs], left.finished) == ([0, 1, 2], ())
    assert left.changed == (told,)
    set_aside(tmp_path / "run", left.superseded, SecretGuard(()))
    (line,) = (tmp_path / "run/superseded.jsonl").read_text().splitlines()
    assert EpisodeResult.model_validate_json(line) == make_result(0)


def test_a_scenario_that_is_not_chosen_is_named(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
    assert remainder(tmp_path / "run", jobs[1:]).changed == ("scenario demo/first is not chosen any more",)


def test_a_run_that_still_goes_on_is_not_gone_on_with(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
        with pytest.raises(StoreError, match="another run is writing here"):
            store(tmp_path / "run", manifest, remainder(tmp_path / "run", jobs).finished)
        run.add(1, make_result(1))
    assert len(read_run(tmp_path / "run").receipts) == 2
