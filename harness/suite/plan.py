"""The order of a run: fixed by what was asked for, never by what happened to finish first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.errors import UsageError
from harness.schema.actor import ActorSpec
from harness.schema.process import PlaneIdentity
from harness.schema.run import EpisodeJob, EpisodeOptions
from harness.schema.scenario import LoadedScenario

__all__ = ["plan", "refuse_twins"]


#: Most episodes of one run.
EPISODES_MAX: Final = 100_000


def plan(
    loaded: Sequence[LoadedScenario],
    actors_by_scenario: Mapping[str, Sequence[ActorSpec]],
    planes: Mapping[str, Sequence[PlaneIdentity]],
    *,
    trials: int = 1,
    options: EpisodeOptions | None = None,
) -> tuple[EpisodeJob, ...]:
    """One job per scenario (by id), actor, version of its plane (both as given) and trial.

    Trials count from 1; a recorded actor has one of its own. ``planes`` maps the plane that a scenario names to what
    it is played on, which is installed. Raises UsageError where one actor would take
    the same turns twice under one name, for its receipts could not be told apart, and beyond ``EPISODES_MAX``.
    """
    asked = sum(
        len(planes[one.scenario.plane]) * (trials if actor.trial is None else 1)
        for one in loaded
        for actor in actors_by_scenario[one.scenario.id]
    )
    if asked > EPISODES_MAX:
        raise UsageError(f"{asked} episodes are too many for one run; allowed: at most {EPISODES_MAX}")
    shared = options or EpisodeOptions()
    jobs: list[EpisodeJob] = []
    for one in sorted(loaded, key=lambda item: item.scenario.id):
        actors = actors_by_scenario[one.scenario.id]
        refuse_twins(one.scenario.id, actors)
        jobs.extend(
            EpisodeJob(
                loaded=one,
                actor=actor,
                plane=plane,
                trial=trial,
                options=shared,
            )
            for actor in actors
            for plane in planes[one.scenario.plane]
            for trial in (range(1, trials + 1) if actor.trial is None else (actor.trial,))
        )
    return tuple(jobs)


def refuse_twins(scenario: str, actors: Sequence[ActorSpec]) -> None:
    """Raises UsageError for an actor that is given twice, and for two recordings of one actor's same trial.

    Such recordings are copies, or two attempts at one episode, whatever their files are called: counted twice, one
    episode would weigh as two.
    """
    named: set[tuple[str, str]] = set()
    played: dict[tuple[str, int | None], str] = {}
    for actor in actors:
        identity = actor.identity
        if (identity.ref, identity.digest) in named:
            raise UsageError(f"actor {identity.ref!r} is given twice for {scenario}; use --trials to repeat it")
        named.add((identity.ref, identity.digest))
        if actor.recording is None:
            continue
        first = played.setdefault((identity.digest, actor.trial), actor.recording)
        if first != actor.recording:
            raise UsageError(
                f"{actor.recording} records the same episode as {first} ({scenario}, same actor, "
                f"trial {actor.trial}) and would count twice; remove one of them"
            )
