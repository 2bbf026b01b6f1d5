"""Whether the drift check would notice every small change that a recording could have suffered."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.recording import Mutation, Seen, drifts_of, mutations
from harness.schema.base import JsonValue
from harness.schema.check import RecordingReport, Survivor
from harness.schema.recording import Drift, Recording, RerecordSpec
from harness.schema.run import EpisodeJob

__all__ = ["check_recording"]


def check_recording(
    name: str,
    recording: Recording,
    seen: Seen,
    job: EpisodeJob,
    *,
    sayable: frozenset[str],
    classifier_version: int,
    mutate: bool = False,
    scrub: Callable[[JsonValue], JsonValue] | None = None,
    again: RerecordSpec | None = None,
) -> RecordingReport:
    """Hold the recording against what the episode really met; then each of its mutants, where ``mutate`` asks for it.

    ``seen`` is from a real replay of the unchanged recording. A mutation counts as found only where a drift names a
    step or exchange and a pointer, or the changed place of the header. Every key is made anew after each mutation, so
    only the comparison itself can find it. With ``scrub`` the words of texts that differ are told too; ``again`` is
    told where the recording is stale.
    """
    counts: dict[str, int] = {}
    survivors: list[Survivor] = []
    clean = drifts_of(recording, seen, job, sayable=sayable, classifier_version=classifier_version, scrub=scrub)
    for mutation in mutations(recording) if mutate else ():
        counts[mutation.way] = counts.get(mutation.way, 0) + 1
        found = drifts_of(mutation.recording, seen, job, sayable=sayable, classifier_version=classifier_version)
        if not _named(found, mutation):
            survivors.append(_survivor(mutation))
    return RecordingReport(
        recording=name,
        scenario=recording.header.scenario,
        provenance=recording.header.provenance,
        drifts=clean,
        again=again if clean else None,
        mutations=sum(counts.values()),
        ways=counts,
        survivors=tuple(survivors),
    )


def _named(found: Iterable[Drift], mutation: Mutation) -> bool:
    """Whether the place of the change is told; the header has neither step nor exchange."""
    if mutation.step is None and mutation.exchange is None:
        place = f"{mutation.pointer}/"
        return any(drift.pointer is not None and place.startswith(f"{drift.pointer}/") for drift in found)
    return any(drift.pointer is not None and (drift.step is not None or drift.exchange is not None) for drift in found)


def _survivor(mutation: Mutation) -> Survivor:
    return Survivor(way=mutation.way, exchange=mutation.exchange, step=mutation.step, pointer=mutation.pointer)
