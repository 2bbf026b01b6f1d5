"""Any number of shards of any plan: together they are the plan, and merged they are the run that was never cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned import result_of
from toy import SCENARIO

from harness.cli.folder import starting_manifest
from harness.cli.suite_options import part_of
from harness.errors import NothingSelectedError, StoreError, UsageError
from harness.receipt import line, merge
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult, RunView
from harness.schema.scenario import LoadedScenario, Scenario
from harness.suite import parse_shard, slice_of

PLANE = PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="ab")
Results = Sequence[tuple[int, EpisodeResult]]


def _job(name: str, ref: str, trial: int) -> EpisodeJob:
    scenario = Scenario.model_validate({**SCENARIO, "id": f"pack/{name}"}, strict=False)
    return EpisodeJob(
        loaded=LoadedScenario(scenario=scenario, digest=f"sha256:{name}", path="x.toml"),
        # two actors of one name: a script file may be given from two folders
        actor=ActorSpec(identity=ActorIdentity(ref=ref[0], kind="script", digest=f"sha256:{ref}")),
        plane=PLANE,
        trial=trial,
    )


JOBS = tuple(_job(name, ref, trial) for name, ref, trial in product("abc", ("x1", "x2", "y"), (1, 2, 3)))
plans = st.integers(1, len(JOBS)).map(lambda size: JOBS[:size])
counts = st.integers(1, 12)


def _result(job: EpisodeJob, attempt: int) -> EpisodeResult:
    outcome = Outcome(status="completed", reason="final_response")
    return result_of(job.model_copy(update={"attempt": attempt}), "pass", outcome)


def _view(plan: tuple[EpisodeJob, ...], shard: str, attempts: Sequence[int]) -> RunView | None:
    """A shard that was played; ``attempts`` says how often each episode of the plan was tried. None: it is empty."""
    try:
        jobs, told = part_of(plan, shard)
    except NothingSelectedError:
        return None
    manifest = starting_manifest(
        jobs, EpisodeOptions(), run_id=shard, created_at="2026-01-01T00:00:00Z", shard=told
    ).model_copy(update={"state": "complete", "finished_at": "2026-01-01T00:00:09Z"})
    often = {job.key: attempts[plan.index(job)] for job in jobs}
    results = [_result(job, attempt) for job in jobs for attempt in range(1, often[job.key] + 1)]
    return RunView(
        manifest=manifest, receipts=tuple(one.receipt for one in results), log=tuple(one.log for one in results)
    )


def _views(plan: tuple[EpisodeJob, ...], count: int, attempts: Sequence[int]) -> list[RunView]:
    found = [_view(plan, f"{number}/{count}", attempts) for number in range(1, count + 1)]
    return [view for view in found if view is not None]


def _named(views: Sequence[RunView]) -> dict[str, RunView]:
    return {f"run-{number}": view for number, view in enumerate(views)}


@given(st.integers(0, 200), st.integers(1, 40))
def test_shards_are_a_partition_and_differ_by_one_episode_at_most(size: int, count: int) -> None:
    plan = range(size)
    parts: list[tuple[int, ...]] = []
    for number in range(1, count + 1):
        try:
            parts.append(slice_of(plan, number, count))
        except NothingSelectedError:
            parts.append(())
    assert sorted(place for part in parts for place in part) == list(plan)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert all(list(part) == sorted(part) for part in parts)


@given(st.data(), plans, counts)
def test_shards_in_any_order_are_the_run_that_was_never_cut(
    data: st.DataObject, plan: tuple[EpisodeJob, ...], count: int
) -> None:
    attempts = data.draw(st.lists(st.integers(1, 3), min_size=len(plan), max_size=len(plan)))
    views = data.draw(st.permutations(_views(plan, count, attempts)))
    merged = merge(_named(views), run_id="whole")

    whole = _view(plan, "1/1", attempts)
    assert whole is not None
    assert [line(one.receipt) for _, one in merged.results] == [line(one) for one in whole.receipts]
    expected = [place for place, often in enumerate(attempts) for _ in range(often)]
    assert [place for place, _ in merged.results] == expected
    assert all(one.log.key == one.receipt.key for _, one in merged.results)
    same = {"shard": None, "merged": merged.manifest.merged, "state": "running", "finished_at": None, "run_id": "whole"}
    assert merged.manifest == whole.manifest.model_copy(update=same)


@given(st.data(), plans, counts)
def test_one_receipt_that_was_dropped_or_doubled_is_refused_and_named(
    data: st.DataObject, plan: tuple[EpisodeJob, ...], count: int
) -> None:
    views = _views(plan, count, [1] * len(plan))
    number = data.draw(st.integers(0, len(views) - 1))
    view = views[number]
    place = data.draw(st.integers(0, len(view.receipts) - 1))
    receipt, log = view.receipts[place], view.log[place]
    told = f"trial {receipt.trial} of {receipt.scenario} by {receipt.actor.ref} on {receipt.plane.ref}"

    dropped = view.model_copy(
        update={"receipts": _without(view.receipts, place), "log": (*view.log[:place], *view.log[place + 1 :])}
    )
    # of two actors of one name the other one may be the one that seems to be missing
    with pytest.raises(StoreError, match=f"{told} is missing|are not those of the plan"):
        merge(_named([*views[:number], dropped, *views[number + 1 :]]), run_id="whole")

    taker = data.draw(st.integers(0, len(views) - 1))
    into = views[taker]
    doubled = into.model_copy(update={"receipts": (*into.receipts, receipt), "log": (*into.log, log)})
    with pytest.raises(StoreError, match=f"{told} is doubled|which was not to play it"):
        merge(_named([*views[:taker], doubled, *views[taker + 1 :]]), run_id="whole")


def _without(receipts: tuple[Receipt, ...], place: int) -> tuple[Receipt, ...]:
    return (*receipts[:place], *receipts[place + 1 :])


@given(plans.filter(lambda plan: len(plan) > 1), st.integers(2, 6))
def test_a_shard_that_is_not_given_is_told_with_its_first_episode(plan: tuple[EpisodeJob, ...], count: int) -> None:
    views = _views(plan, count, [1] * len(plan))
    with pytest.raises(StoreError, match=rf"trial 2 of pack/a by x on .* is missing.*: shard 2/{count} is not given"):
        merge(_named([views[0], *views[2:]]), run_id="whole")


def _changed(view: RunView, **update: object) -> RunView:
    return view.model_copy(update={"manifest": view.manifest.model_copy(update=update)})


def test_shards_that_do_not_belong_together_are_refused_with_what_is_different() -> None:
    first, second = _views(JOBS, 2, [1] * len(JOBS))
    other_plan = _views(JOBS[:5], 2, [1] * 5)[1]
    third = _views(JOBS, 3, [1] * len(JOBS))[1]
    edited = [job.model_copy(update={"loaded": job.loaded.model_copy(update={"digest": "sha256:new"})}) for job in JOBS]
    changed = _views(tuple(edited), 2, [1] * len(JOBS))[1]
    hotter = [
        job.model_copy(
            update={
                "actor": ActorSpec(identity=job.actor.identity.model_copy(update={"digest": f"hot{number}"})),
            }
        )
        for number, job in enumerate(JOBS)
    ]
    hot = _views(tuple(hotter), 2, [1] * len(JOBS))[1]
    cold = second.manifest.enforcement.model_copy(update={"executor": "cold"})
    assert second.manifest.shard is not None
    for other, told in (
        (_changed(second, shard=None), "run-1: is no shard"),
        (_changed(second, harness_version="9"), r"were played by harness \S+ and 9"),
        (third, "cut into another number of shards"),
        (other_plan, "episode 6 is trial 3 of pack/a by x on loopx==0.4.8 in one and nothing in the other"),
        (changed, "scenario pack/a is not the same in both"),
        (hot, "the settings of an actor"),
        (_changed(second, enforcement=cold), "under different options"),
        (_changed(second, stale="warn"), "under different options"),
    ):
        with pytest.raises(StoreError, match=told):
            merge(_named([first, other]), run_id="whole")


def test_receipts_of_another_plan_are_refused_even_where_their_names_fit() -> None:
    first, second = _views(JOBS, 2, [1] * len(JOBS))
    other = second.receipts[0].model_copy(update={"scenario_digest": "sha256:other"})
    tampered = second.model_copy(update={"receipts": (other, *second.receipts[1:])})
    with pytest.raises(StoreError, match="are not those of the plan"):
        merge(_named([first, tampered]), run_id="whole")


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/0", "1/1001", "-1/3", "1/3/5", "²/3", "1/ 3", "a/b"])
def test_a_text_that_is_no_shard_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(UsageError, match="--shard takes I/N"):
        parse_shard(text)


def test_a_shard_without_an_episode_says_so() -> None:
    with pytest.raises(NothingSelectedError, match="shard 5/5 is empty: the plan has only 4 episodes"):
        slice_of(range(4), 5, 5)
    assert parse_shard("5/5") == (5, 5)
