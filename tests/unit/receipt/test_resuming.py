"""A run that was interrupted is gone on with: what was finished is not played again, and nothing paid for is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from toy import SCENARIO

from harness.errors import HarnessError, ProviderCategory, StoreError
from harness.receipt import Remainder, RunStore, read_run, remainder, set_aside
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import digest_text
from harness.schema.graph import RuleGraph
from harness.schema.message import GenerationSettings
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult, Manifest, ScenarioSummary
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


def left_of(folder: Path, jobs: Jobs, retries: int = 0) -> Remainder:
    """What is left of a plan where episodes are judged as they always were."""
    return remainder(folder, jobs, classifier_version=lambda _: 1, retries=retries)


def refused_by_provider(result: EpisodeResult, category: ProviderCategory | None, attempt: int = 1) -> EpisodeResult:
    """A result of a live model that nobody could judge, because its provider failed so (None: for another reason)."""
    live = result.receipt.actor.model_copy(update={"kind": "live"})
    update = {"actor": live, "verdict": "not_judged", "cause": "provider", "attempt": attempt}
    if category is None:
        update["outcome"] = Outcome(status="limit_exceeded", reason="metric_unavailable")
    else:
        update["outcome"] = Outcome(status="failed", reason="model_error", detail="server")
    row = AttemptRow(operation="x", attempt=1, status="failed", usage=None, seconds=1.0, error=category)
    return EpisodeResult(
        receipt=result.receipt.model_copy(update=update), log=result.log.model_copy(update={"attempts": (row,)})
    )


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

    left = left_of(tmp_path / "run", jobs)
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
    left = left_of(tmp_path / "run", jobs)
    assert [(place, one.attempt) for place, one in left.jobs] == [(0, 2), (2, 1)]
    again = make_result(0)
    with store(tmp_path / "run", manifest, left.finished) as run:
        run.add(0, again.model_copy(update={"receipt": again.receipt.model_copy(update={"attempt": 2})}))
        run.add(2, make_result(2))
        run.finish(END)
        ended = read_run(tmp_path / "run").manifest
    assert (ended.state, ended.verdicts["pass"], len(ended.receipts)) == ("complete", 3, 4)
    assert left_of(tmp_path / "run", jobs).jobs == ()


def waiting(result: EpisodeResult) -> EpisodeResult:
    outcome = Outcome(status="suspended", reason="reconciliation_required")
    receipt = result.receipt.model_copy(update={"outcome": outcome, "verdict": "pending", "cause": "provider"})
    return EpisodeResult(receipt=receipt, log=result.log.model_copy(update={"resumable": True}))


@pytest.mark.parametrize("killed", [False, True])
def test_one_that_waits_keeps_its_receipt_until_the_new_one_comes(
    killed: bool, tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "run", manifest) as run:
        for position in range(2):
            run.add(position, waiting(make_result(position)))
        run.finish(END)
    left = left_of(tmp_path / "run", jobs)
    assert [(place, one.attempt) for place, one in left.jobs] == [(0, 1), (1, 1), (2, 1)]
    with store(tmp_path / "run", manifest, left.finished) as run:
        run.add(1, make_result(1))  # and nothing came of the others
        with pytest.raises(HarnessError, match="already kept"):
            run.add(1, make_result(1))
        if not killed:
            run.finish(END)
            assert run.discard() is False
    view = read_run(tmp_path / "run")
    assert [receipt.verdict for receipt in view.receipts] == ["pending", "pass"]
    assert [place for place, _ in left_of(tmp_path / "run", jobs).jobs] == [0, 2]


def test_one_whose_time_was_over_before_it_was_gone_on_with_is_begun_anew(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    result = make_result(0)
    outcome = Outcome(status="rejected", reason="deadline_passed_before_start")
    update = {"outcome": outcome, "verdict": "not_judged", "cause": "harness"}
    late = EpisodeResult(
        receipt=result.receipt.model_copy(update=update),
        log=result.log.model_copy(update={"recovery_class": "restart_required"}),
    )
    with store(tmp_path / "run", manifest) as run:
        run.add(0, late)
        run.add(1, make_result(1))
        run.finish(END)
    left = left_of(tmp_path / "run", jobs)
    assert [(place, one.attempt) for place, one in left.jobs] == [(0, 2), (2, 1)]
    assert (len(left.finished), left.failed) == (2, 0)


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
        (hotter, "actor script changed"),
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
    left = left_of(tmp_path / "run", (change(jobs[0]), *jobs[1:]))
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
    assert left_of(tmp_path / "run", jobs[1:]).changed == ("scenario demo/first is not chosen any more",)


def test_what_was_judged_in_another_way_is_set_aside_and_not_mixed(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
    left = remainder(tmp_path / "run", jobs, classifier_version=lambda _: 2)
    assert ([place for place, _ in left.jobs], left.finished) == ([0, 1, 2], ())
    assert left.changed == ("how episodes are judged changed with the version of harness",)


def test_of_a_changed_scenario_the_parts_are_named_and_of_a_live_actor_its_settings(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    parts = {"prompt.user": "a", "limits.model_turns": "b", "kind[x].sets": "c", "call": "d", "end": "e"}
    summary = ScenarioSummary(
        id="demo/first", digest="sha256:x", asks="", tags=(), graph=RuleGraph(nodes=(), edges=()), parts=parts
    )
    live = ActorIdentity(
        ref="m", kind="live", provider="openai", model="m-1", settings=GenerationSettings(), digest="sha256:cold"
    )
    second = make_result(1)
    asked = second.model_copy(update={"receipt": second.receipt.model_copy(update={"actor": live})})
    with store(tmp_path / "run", manifest.model_copy(update={"scenarios": (summary,)})) as run:
        run.add(0, make_result(0))
        run.add(1, asked)
    now = {**parts, "prompt.user": "A", "end": "E"}
    first = other_scenario(jobs[0])
    first = first.model_copy(update={"loaded": first.loaded.model_copy(update={"parts": now})})
    update = {"model": "m-2", "settings": GenerationSettings(temperature=1), "digest": "sha256:hot"}
    hot = jobs[1].model_copy(update={"actor": ActorSpec(identity=live.model_copy(update=update))})
    assert left_of(tmp_path / "run", (first, hot)).changed == (
        "scenario demo/first changed: end, prompt.user",
        "actor m changed: model, temperature",
    )
    begun = manifest.model_copy(update={"scenarios": (summary,), "actors": (live,), "planes": (jobs[0].plane,)})
    with store(tmp_path / "begun", begun):
        pass
    replaced = other_plane(first)
    assert left_of(tmp_path / "begun", (replaced, hot)).changed == (
        "scenario demo/first changed: end, prompt.user",
        "actor m changed: model, temperature",
    )
    assert left_of(tmp_path / "begun", (replaced,)).changed == ("scenario demo/first changed: end, prompt.user",)
    moved = jobs[1].model_copy(update={"actor": ActorSpec(identity=live.model_copy(update={"digest": "sha256:far"}))})
    everything = first.model_copy(update={"loaded": first.loaded.model_copy(update={"parts": {"asks": "x"}})})
    assert left_of(tmp_path / "run", (everything, moved)).changed == (
        "scenario demo/first changed: call, end, kind[x].sets and 3 more",
        "actor m changed: its address",
    )


@pytest.mark.parametrize(
    ("category", "again"),
    [
        ("server_error", True),
        ("auth", True),
        ("invalid_request", False),
        ("model_not_found", False),
        (None, False),
    ],
)
def test_what_a_providers_failure_left_unjudged_is_tried_again(
    category: ProviderCategory | None,
    *,
    again: bool,
    tmp_path: Path,
    manifest: Manifest,
    make_result: MakeResult,
    jobs: Jobs,
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, refused_by_provider(make_result(0), category))
        run.finish(END)
    left = left_of(tmp_path / "run", jobs)
    assert left.failed == again
    assert [(place, one.attempt) for place, one in left.jobs if place == 0] == ([(0, 2)] if again else [])


@pytest.mark.parametrize(
    ("attempts", "retries", "category", "following"),
    [
        (1, 0, "server_error", []),
        (1, 2, "server_error", [2]),
        (2, 2, "server_error", [3]),
        (3, 2, "server_error", []),
        (1, 2, "auth", []),
        (1, 2, "invalid_request", []),
    ],
)
def test_of_a_killed_run_a_failed_episode_is_tried_again_as_often_as_that_run_would_have(
    attempts: int,
    retries: int,
    category: ProviderCategory,
    following: list[int],
    *,
    tmp_path: Path,
    manifest: Manifest,
    make_result: MakeResult,
    jobs: Jobs,
) -> None:
    with store(tmp_path / "run", manifest) as run:
        for attempt in range(1, attempts + 1):
            run.add(0, refused_by_provider(make_result(0), category, attempt))
    left = left_of(tmp_path / "run", jobs, retries)
    assert [one.attempt for place, one in left.jobs if place == 0] == following
    assert (left.failed, len(left.finished)) == (len(following), attempts)


def test_a_run_that_still_goes_on_is_not_gone_on_with(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, jobs: Jobs
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
        with pytest.raises(StoreError, match="another run is writing here"):
            store(tmp_path / "run", manifest, left_of(tmp_path / "run", jobs).finished)
        run.add(1, make_result(1))
    assert len(read_run(tmp_path / "run").receipts) == 2
