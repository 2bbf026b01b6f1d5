from __future__ import annotations

from collections.abc import Callable

import pytest
import recorded as rec

from harness.recording import Seen, drifts_of, dump, load, mutations, reseal
from harness.recording.mutating import INFORMATIVE
from harness.schema.base import JsonValue
from harness.schema.recording import Drift, Recording
from harness.schema.run import EpisodeJob
from harness.suite import check_recording

SAID: JsonValue = {"go": [1, 2]}
ANSWERS = [rec.answer(1, "look", 0, SAID), rec.answer(2, None, 0, "text")]


@pytest.fixture
def job(make_job: Callable[[int], EpisodeJob]) -> EpisodeJob:
    made = make_job(1)
    actor = made.actor.identity.model_copy(update={"model": rec.ACTOR.model, "settings": rec.ACTOR.settings})
    return made.model_copy(update={"actor": made.actor.model_copy(update={"identity": actor})})


@pytest.fixture
def made(job: EpisodeJob) -> Recording:
    """A recording of three exchanges that fits the job."""
    header = rec.header().model_copy(
        update={"scenario": job.loaded.scenario.id, "scenario_digest": job.loaded.digest, "plane": job.plane}
    )
    exchanges = [rec.exchange(n, {"turn": n, "said": [f"{n}", "x"]}, {"a": n}) for n in (1, 2, 3)]
    return load(dump(header, exchanges, ANSWERS))


def met(made: Recording, *, replied: bool | None = True) -> Seen:
    """What a replay of it meets where nothing changed: an answer after each of the first two requests."""
    return Seen(
        prompt=made.header.prompt or "",
        tools=made.header.tools or "",
        requests=tuple((one.request, one.key) for one in made.exchanges),
        answers=tuple(enumerate(made.answers, start=1)),
        replied=replied,
    )


def drifts(changed: Recording, seen: Seen, job: EpisodeJob) -> list[tuple[str, int | None, int | None, str | None]]:
    found: tuple[Drift, ...] = drifts_of(reseal(changed), seen, job, sayable=frozenset(), classifier_version=1)
    return [(one.stale, one.exchange, one.step, one.pointer) for one in found]


def test_what_fits_has_no_drift(made: Recording, job: EpisodeJob) -> None:
    assert drifts(made, met(made), job) == []


def test_every_compared_field_is_mutated_and_every_mutation_is_named(made: Recording, job: EpisodeJob) -> None:
    places = {one.pointer for one in mutations(made)}
    assert places >= {
        "/entry/scenario",
        "/entry/scenario_digest",
        "/entry/plane/version",
        "/entry/plane/wheel_sha256",
        "/entry/actor/model",
        "/entry/actor/settings/temperature",
        "/entry/prompt",
        "/entry/tools",
        "/entry/classifier_version",
        "/entry/request/method",
        "/entry/request/path",
        "/entry/request/headers/content-type",
        "/entry/response/status",
        "/entry/kind",
        "/entry/exit_code",
        "/entry/step",
        "/turn",
        "/go/0",
    }
    assert not places & {f"/entry{place}" for place in INFORMATIVE}
    report = check_recording("r", made, met(made), job, sayable=frozenset(), classifier_version=1, mutate=True)
    assert (report.drifts, report.survivors) == ((), ())
    assert report.mutations == len(list(mutations(made))) > len(places)


def test_a_mutation_that_nothing_can_notice_survives(made: Recording, job: EpisodeJob) -> None:
    seen = met(made, replied=None)
    report = check_recording("r", made, seen, job, sayable=frozenset(), classifier_version=1, mutate=True)
    assert [(one.exchange, one.pointer) for one in report.survivors] == [(3, "/entry/response/status")]


def test_a_failure_that_the_episode_went_on_from_is_told_and_one_that_was_asked_again_is_not(
    made: Recording, job: EpisodeJob
) -> None:
    first = made.exchanges[0]
    failed = first.model_copy(update={"response": first.response.model_copy(update={"status": 503})})
    changed = made.model_copy(update={"exchanges": (failed, *made.exchanges[1:])})
    assert drifts(changed, met(made), job) == [("reply", 1, None, "/entry/response/status")]
    again = reseal(made.model_copy(update={"exchanges": (failed, *made.exchanges)}))
    assert drifts(again, met(again), job) == []


def test_a_last_reply_is_held_against_what_became_of_it(made: Recording, job: EpisodeJob) -> None:
    last = made.exchanges[-1]
    failed = last.model_copy(update={"response": last.response.model_copy(update={"status": 500})})
    changed = made.model_copy(update={"exchanges": (*made.exchanges[:-1], failed)})
    place = ("reply", 3, None, "/entry/response/status")
    assert drifts(changed, met(made), job) == [place]
    assert drifts(changed, met(made, replied=False), job) == []
    assert drifts(made, met(made, replied=False), job) == [place]
