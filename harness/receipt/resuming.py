"""What of an interrupted run still counts when it is gone on with."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import StoreError
from harness.receipt.reading import results
from harness.redaction import SecretGuard
from harness.schema.receipt import Receipt, receipt_key
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["SUPERSEDED", "Remainder", "remainder", "set_aside"]

#: Finished episodes that answer another question than the plan asks now: they were paid for, so they are kept.
SUPERSEDED = "superseded.jsonl"


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left to do of a plan.

    ``finished`` are results with their places in the plan, ``jobs`` those that are still to be played, with their
    places; one that was cancelled is tried again under the next attempt, one that waits for a person is gone on
    with under its own. ``superseded`` fit no place any more, and
    ``changed`` names what is different about each of them.
    """

    finished: tuple[tuple[int, EpisodeResult], ...]
    jobs: tuple[tuple[int, EpisodeJob], ...]
    superseded: tuple[EpisodeResult, ...]
    changed: tuple[str, ...]


def remainder(folder: Path, jobs: Sequence[EpisodeJob]) -> Remainder:
    """Hold the finished episodes of a run against a plan: only those whose whole key is the same count.

    Raises StoreError where the folder cannot be read.
    """
    places = {job.key: place for place, job in enumerate(jobs)}
    finished: list[tuple[int, EpisodeResult]] = []
    superseded: list[EpisodeResult] = []
    last: dict[int, Receipt] = {}
    for result in results(folder):
        place = places.get(_first_attempt(result.receipt))
        if place is None:
            superseded.append(result)
            continue
        if result.log.resumable:
            continue  # it waits where it is kept, and is gone on with there
        finished.append((place, result))
        if place not in last or last[place].attempt < result.receipt.attempt:
            last[place] = result.receipt
    left = [(place, following) for place, job in enumerate(jobs) if (following := _following(job, last.get(place)))]
    changed = tuple(dict.fromkeys(_changed(result.receipt, jobs) for result in superseded))
    return Remainder(tuple(finished), tuple(left), tuple(superseded), changed)


def set_aside(folder: Path, superseded: Sequence[EpisodeResult], guard: SecretGuard) -> None:
    """Keep what no longer fits the plan beside the run. Raises StoreError or RedactionError."""
    lines = (json.dumps(result.model_dump(mode="json"), sort_keys=True, separators=(",", ":")) for result in superseded)
    data = "".join(f"{line}\n" for line in lines).encode("ascii")
    guard.check(data, SUPERSEDED)
    try:
        descriptor = os.open(folder / SUPERSEDED, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        with open(descriptor, "ab") as file:  # noqa: PTH123  (a descriptor)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise StoreError(f"{folder / SUPERSEDED}: cannot be written: {error.strerror}") from error


def _first_attempt(receipt: Receipt) -> str:
    return receipt_key(
        receipt.scenario, receipt.scenario_digest, receipt.actor, receipt.plane, trial=receipt.trial, attempt=1
    )


def _following(job: EpisodeJob, last: Receipt | None) -> EpisodeJob | None:
    """What is still to be played at a place: nothing where it was finished, another attempt where it was cancelled."""
    if last is None:
        return job
    if last.outcome.status != "cancelled":
        return None
    return job.model_copy(update={"attempt": last.attempt + 1})


def _changed(receipt: Receipt, jobs: Sequence[EpisodeJob]) -> str:
    """What is different now about an episode that fits no place of the plan."""
    same = [job for job in jobs if job.loaded.scenario.id == receipt.scenario]
    if not same:
        return f"scenario {receipt.scenario} is not chosen any more"
    if all(job.loaded.digest != receipt.scenario_digest for job in same):
        return f"scenario {receipt.scenario} changed"
    if all(job.actor.identity.digest != receipt.actor.digest for job in same):
        named = any(job.actor.identity.ref == receipt.actor.ref for job in same)
        return f"actor {receipt.actor.ref} " + ("changed: its settings or its address" if named else "does not play")
    if all(job.plane != receipt.plane for job in same):
        return f"control plane {receipt.plane.ref} changed"
    return f"trial {receipt.trial} of {receipt.scenario} is not planned any more"
