from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.errors import UsageError
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.process import PlaneIdentity
from harness.schema.run import EpisodeOptions
from harness.schema.scenario import LoadedScenario
from harness.suite import plan

PLANE = PlaneIdentity(name="plane", version="1", wheel_sha256="ab")
PLANES = {"plane==1": (PLANE,)}
Loaded = Callable[[str], LoadedScenario]


def _actor(ref: str, digest: str = "sha256:a") -> ActorSpec:
    return ActorSpec(identity=ActorIdentity(ref=ref, kind="script", digest=digest))


def test_plan_is_by_scenario_id_then_actor_as_given_then_trial(make_loaded: Loaded) -> None:
    loaded = [make_loaded("pack/b"), make_loaded("pack/a")]
    actors = {name: [_actor("z"), _actor("y")] for name in ("pack/a", "pack/b")}

    jobs = plan(loaded, actors, PLANES, trials=2)

    assert [(job.loaded.scenario.id, job.actor.identity.ref, job.trial) for job in jobs] == [
        (name, ref, trial) for name in ("pack/a", "pack/b") for ref in ("z", "y") for trial in (1, 2)
    ]


def test_plan_carries_plane_and_options_into_every_job(make_loaded: Loaded) -> None:
    options = EpisodeOptions(executor="cold", shadow_every=3)

    (job,) = plan([make_loaded("pack/a")], {"pack/a": [_actor("x")]}, PLANES, options=options)

    assert (job.plane, job.options, job.attempt) == (PLANE, options, 1)


def test_plan_plays_each_actor_on_each_version_before_the_next_and_counts_all_of_it(make_loaded: Loaded) -> None:
    newer = PlaneIdentity(name="plane", version="2", wheel_sha256="cd")
    loaded, planes = [make_loaded("pack/a")], {"plane==1": (newer, PLANE)}
    actors = {"pack/a": [_actor("x"), _actor("y", "sha256:b")]}

    jobs = plan(loaded, actors, planes, trials=2)

    told = [(job.actor.identity.ref, job.plane.version, job.trial) for job in jobs]
    assert told == [(ref, version, trial) for ref in ("x", "y") for version in ("2", "1") for trial in (1, 2)]
    assert len({job.key for job in jobs}) == len(jobs)
    with pytest.raises(UsageError, match="100004 episodes are too many"):
        plan(loaded, actors, planes, trials=25_001)


def test_plan_refuses_an_actor_given_twice(make_loaded: Loaded) -> None:
    with pytest.raises(UsageError, match="'x' is given twice for pack/a; use --trials"):
        plan([make_loaded("pack/a")], {"pack/a": [_actor("x"), _actor("x")]}, PLANES)


def test_plan_keeps_two_names_of_the_same_script_apart(make_loaded: Loaded) -> None:
    jobs = plan([make_loaded("pack/a")], {"pack/a": [_actor("x"), _actor("y")]}, PLANES)

    assert [job.actor.identity.ref for job in jobs] == ["x", "y"]


def _recorded(file: str, digest: str, trial: int) -> ActorSpec:
    identity = ActorIdentity(ref=f"recorded:{file}", kind="recorded", digest=digest)
    return ActorSpec(identity=identity, recording=f"recordings/{file}.jsonl", trial=trial)


def test_plan_refuses_two_recordings_of_one_episode_whatever_they_are_called(make_loaded: Loaded) -> None:
    copies = [_recorded("a", "sha256:a", 1), _recorded("copy", "sha256:a", 1)]
    told = r"recordings/copy\.jsonl records the same episode as recordings/a\.jsonl .*pack/a, same actor, trial 1"
    with pytest.raises(UsageError, match=told):
        plan([make_loaded("pack/a")], {"pack/a": copies}, PLANES)
    others = [_recorded("a", "sha256:a", 1), _recorded("b", "sha256:b", 1), _recorded("c", "sha256:a", 2)]
    assert len(plan([make_loaded("pack/a")], {"pack/a": others}, PLANES)) == 3
