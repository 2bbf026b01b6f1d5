"""What of an interrupted run still counts when it is gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from harness.errors import StoreError
from harness.receipt.attempts import is_damaged, provider_failure
from harness.receipt.differing import Differences
from harness.receipt.lines import append
from harness.receipt.reading import read_manifest, results
from harness.redaction import SecretGuard
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario

__all__ = ["SUPERSEDED", "Remainder", "remainder", "set_aside"]

#: Finished episodes that answer another question than the plan asks now: they were paid for, so they are kept.
SUPERSEDED = "superseded.jsonl"
#: What the run log says of an episode that could not be gone on with and is played anew.
_ASIDE = "set_aside"


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left to do of a plan.

    ``finished`` are results with their places in the plan, ``jobs`` those that are still to be played, with their
    places; one that was cancelled, or whose time was over before it was gone on with, or not judged for its provider
    failed, is tried again under the next attempt, and ``failed`` counts the last of these. One that waits for a person
    is gone on with under its own attempt, and is among ``finished`` as well: it stays until the new result comes.
    ``superseded`` fit no place any more, and ``changed`` names what is different about each of them, and of what was
    not finished. Of a run that was
    killed an episode that its provider failed at is tried again as often as that run would have; of one that ended,
    once more in any case, but for a request that the provider cannot use: that ending is final. ``before`` are the
    results of a killed one in the order in which they came. ``aside`` are those of the finished that could not be gone
    on with and are played anew.
    """

    finished: tuple[tuple[int, EpisodeResult], ...]
    jobs: tuple[tuple[int, EpisodeJob], ...]
    superseded: tuple[EpisodeResult, ...]
    changed: tuple[str, ...]
    failed: int = 0
    aside: tuple[EpisodeResult, ...] = ()
    before: tuple[EpisodeResult, ...] = ()


def remainder(
    folder: Path,
    jobs: Sequence[EpisodeJob],
    *,
    classifier_version: Callable[[LoadedScenario], int],
    retries: int = 0,
    replay_damaged: bool = False,
) -> Remainder:
    """Hold the finished episodes of a run against a plan: only those whose whole key is the same count.

    So does one that was judged as this version judges its scenario, which ``classifier_version`` tells. ``retries`` are
    the further attempts at an episode that the run makes by itself. What is damaged on disk is played anew where
    ``replay_damaged`` says so. Raises StoreError where the folder cannot be read.
    """
    manifest = read_manifest(folder)
    most = retries if manifest.state == "running" else None
    places = {job.key: place for place, job in enumerate(jobs)}
    finished: list[tuple[int, EpisodeResult]] = []
    superseded: list[EpisodeResult] = []
    last: dict[int, EpisodeResult] = {}
    for found in results(folder):
        result = _set_aside(found) if replay_damaged and is_damaged(found.receipt, found.log) else found
        receipt = result.receipt
        place = places.get(receipt.episode)
        if place is None or receipt.classifier_version != classifier_version(jobs[place].loaded):
            superseded.append(result)
            continue
        finished.append((place, result))
        if result.log.resumable:
            continue  # it waits where it is kept, and is gone on with there; what it came to then replaces this
        if place not in last or last[place].receipt.attempt < receipt.attempt:
            last[place] = result
    left = [
        (place, following) for place, job in enumerate(jobs) if (following := _following(job, last.get(place), most))
    ]
    again = {place for place, _ in left}
    told = Differences(manifest, jobs)
    return Remainder(
        tuple(finished),
        tuple(left),
        tuple(superseded),
        tuple(dict.fromkeys((*told.of_plan(), *(told.of(result.receipt) for result in superseded)))),
        failed=sum(provider_failure(result) is not None for place, result in last.items() if place in again),
        aside=tuple(result for _, result in finished if _ASIDE in result.log.recovery),
        before=_as_they_came(finished) if manifest.state == "running" else (),
    )


def set_aside(folder: Path, superseded: Sequence[EpisodeResult], guard: SecretGuard) -> None:
    """Keep what no longer fits the plan beside the run. Raises StoreError or RedactionError."""
    lines = (json.dumps(result.model_dump(mode="json"), sort_keys=True, separators=(",", ":")) for result in superseded)
    data = "".join(f"{line}\n" for line in lines).encode("ascii")
    guard.check(data, SUPERSEDED)
    try:
        append(folder / SUPERSEDED, data)
    except OSError as error:
        raise StoreError(f"{folder / SUPERSEDED}: cannot be written: {error.strerror}") from error


def _set_aside(result: EpisodeResult) -> EpisodeResult:
    """What became of a damaged episode that is begun anew."""
    told = {"resumable": False, "recovery_class": "restart_required", "recovery": (*result.log.recovery, _ASIDE)}
    return result.model_copy(update={"log": result.log.model_copy(update=told)})


def _as_they_came(finished: Sequence[tuple[int, EpisodeResult]]) -> tuple[EpisodeResult, ...]:
    """By the moment in which each ended. Raises StoreError where that is no time."""

    def ended(result: EpisodeResult) -> float:
        return datetime.fromisoformat(result.log.started_at).timestamp() + result.log.seconds

    try:
        return tuple(sorted((result for _, result in finished), key=ended))
    except ValueError:
        raise StoreError("the start of an episode is no time: the run was changed after it was killed") from None


def _following(job: EpisodeJob, last: EpisodeResult | None, most: int | None) -> EpisodeJob | None:
    """What is still to be played at a place: nothing where it was finished, else another attempt.

    Where its provider failed there are ``most`` of them; None: one more than there were.
    """
    if last is None:
        return job
    to_begin_anew = last.receipt.outcome.status == "cancelled" or last.log.recovery_class == "restart_required"
    if not to_begin_anew:
        failure = provider_failure(last)
        if failure is None:
            return None
        if failure == "unusable":
            return None  # the same request meets the same answer; a corrected one has another key
        if most is not None and (failure != "outage" or last.receipt.attempt > most):
            return None
    return job.model_copy(update={"attempt": last.receipt.attempt + 1, "pays_again": _ASIDE in last.log.recovery})
