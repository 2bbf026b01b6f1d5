"""The world without one of its parts: somebody must notice, or the part is there for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.schema.check import CheckFinding, DeepCount
from harness.schema.scenario import LoadedScenario, Scenario, WorkspaceSpec
from harness.schema.script import Script
from harness.suite.control_run import Offer, came_to
from harness.suite.playing import Play, Played, play_script, side_by_side, with_scenario

__all__ = ["blocks", "check_fixtures"]


@dataclass(frozen=True, slots=True)
class _Question:
    """A script with how its episode ends in the whole world: verdict and code, or what a control run's call came to."""

    name: str
    script: Script
    expected: tuple[str, str | None] | str | None
    offer: Offer | None = None


def blocks(scenario: Scenario) -> Iterator[tuple[str, WorkspaceSpec]]:
    """Each place of a file, each step that prepares the world, each repository: its name, and the world without it."""
    space = scenario.workspace
    for number, file in enumerate(space.file):
        for place in file.at:
            rest = tuple(other for other in file.at if other != place)
            kept = (file.model_copy(update={"at": rest}),) if rest else ()
            files = (*space.file[:number], *kept, *space.file[number + 1 :])
            yield f"fixture {place}", space.model_copy(update={"file": files})
    for number in range(len(space.prepare)):
        steps = space.prepare[:number] + space.prepare[number + 1 :]
        yield f"fixture prepare[{number}]", space.model_copy(update={"prepare": steps})
    for root in space.git:
        others = tuple(other for other in space.git if other != root)
        yield f"fixture git {root}", space.model_copy(update={"git": others})


def check_fixtures(
    play: Play,
    loaded: LoadedScenario,
    *,
    passing: Sequence[Played],
    wrong: Sequence[Played],
    offers: Sequence[tuple[Offer, str | None]],
    jobs: int,
) -> tuple[DeepCount, list[CheckFinding]]:
    """Drop each part in turn and play until an episode ends otherwise than in the whole world.

    ``passing`` and ``wrong`` are the episodes of the whole world; ``offers`` the control runs with what
    their calls came to there: where the part is gone that a wrong path needs, that is noticed too.
    """
    scenario = loaded.scenario
    right: Mapping[str, Script] = {"reference": scenario.script.reference, **scenario.script.right}
    questions = [
        *(_Question(one.name, right[one.name], _end(one)) for one in passing),
        *(_Question(offer.code, offer.script, came, offer) for offer, came in offers),
        *(_Question(one.name, scenario.script.wrong[one.name], _end(one)) for one in wrong),
    ]

    def noticed(part: tuple[str, WorkspaceSpec]) -> bool:
        return any(_notices(play, loaded, part[1], question) for question in questions)

    parts = list(blocks(scenario))
    told = side_by_side(noticed, parts, jobs=jobs)
    missed = [name for (name, _), seen in zip(parts, told, strict=True) if not seen]
    findings = [
        CheckFinding(
            scenario=scenario.id,
            what="nobody notices that it is gone: every script and every wrong path ends as before",
            where=name,
            todo="remove it, or let a script, a check or a rule depend on it",
        )
        for name in missed
    ]
    return DeepCount(played=len(parts), noticed=len(parts) - len(missed)), findings


def _notices(play: Play, loaded: LoadedScenario, space: WorkspaceSpec, question: _Question) -> bool:
    world = loaded if question.offer is None else question.offer.loaded
    without = with_scenario(world, world.scenario.model_copy(update={"workspace": space}))
    played = play_script(play, without, question.name, question.script)
    if question.offer is not None:
        return came_to(question.offer, played) != question.expected
    return _end(played) != question.expected


def _end(played: Played) -> tuple[str, str | None]:
    return played.receipt.verdict, played.receipt.failure_code
