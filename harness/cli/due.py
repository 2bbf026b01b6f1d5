"""Which of the episodes to record have a recording that no longer fits, and what else is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import recording, wiring
from harness.errors import RecordingError
from harness.schema.counting import worded
from harness.schema.run import EpisodeJob
from harness.suite import is_stale

__all__ = ["Due", "counted", "due", "place_of"]

#: Of one, and of several.
_STATES = {
    "stale": ("is stale", "are stale"),
    "fitting": ("still fits", "still fit"),
    "unreadable": ("cannot be read", "cannot be read"),
}


@dataclass(frozen=True, slots=True)
class Due:
    """The jobs by what is recorded of each: something stale, something that fits, nothing."""

    stale: tuple[EpisodeJob, ...]
    fitting: tuple[EpisodeJob, ...]
    missing: tuple[EpisodeJob, ...]


def place_of(folder: Path, job: EpisodeJob) -> Path:
    """Where the recording of an episode lies, or will."""
    return recording.recording_path(folder, job.loaded.scenario.id, job.actor.identity, job.trial)


def due(settings: wiring.Settings, folder: Path, jobs: Sequence[EpisodeJob]) -> Due:
    """Replay what is recorded below ``folder`` of these episodes. Raises RecordingError for what cannot be read."""
    there = [job for job in jobs if place_of(folder, job).is_file()]
    stale = tuple(job for job in there if _is_stale(settings, job, place_of(folder, job)))
    return Due(
        stale,
        tuple(job for job in there if job not in stale),
        tuple(job for job in jobs if job not in there),
    )


def counted(settings: wiring.Settings, folder: Path, found: Due) -> str:
    """What there is, where nothing is stale: of this actor, of it with other settings, and of other actors."""
    exist, missing = len(found.fitting), len(found.missing)
    told = [f"{exist} of {_actors(found)} exist"]
    if exist:
        told = [f"{exist} of {_actors(found)} {worded(exist, 'exists and still fits', 'exist and still fit')}"]
    if missing and exist:
        names = ", ".join(dict.fromkeys(job.loaded.scenario.id for job in found.missing))
        told.append(f"not yet recorded: {names}")
    return ", ".join([*told, *_others(settings, folder, found)])


def _actors(found: Due) -> str:
    jobs = (*found.fitting, *found.missing)
    return "this actor" if len({job.actor.identity.ref for job in jobs}) == 1 else "these actors"


def _others(settings: wiring.Settings, folder: Path, found: Due) -> Iterator[str]:
    """Recordings of the same scenarios that are of none of the jobs, by sort.

    Those that fit are told only where nothing of the jobs is recorded: then one of them may be what was meant.
    """
    jobs = (*found.fitting, *found.missing)
    own = {place_of(folder, job) for job in jobs}
    asked = {(job.actor.identity.provider, job.actor.identity.model) for job in jobs}
    sorts: dict[tuple[str, str], list[str]] = {}
    for one in {job.loaded.scenario.id: job for job in jobs}.values():
        for path in recording.find(folder, one.loaded.scenario.id):
            if path in own:
                continue
            whose, state = "another actor", "unreadable"
            try:
                actor = recording.load(path).header.actor
                if (actor.provider, actor.model) in asked:
                    whose = f"{_actors(found)} with other settings"
                state = "stale" if _is_stale(settings, one, path) else "fitting"
            except RecordingError:
                pass
            sorts.setdefault((whose, state), []).append(str(path))
    for (whose, state), paths in sorted(sorts.items()):
        if state == "fitting" and found.fitting:
            continue
        yield f"{len(paths)} of {whose} {_STATES[state][len(paths) > 1]}: {', '.join(paths)}"


def _is_stale(settings: wiring.Settings, job: EpisodeJob, path: Path) -> bool:
    (spec,) = wiring.recorded_specs(settings, job.loaded, str(path))
    with wiring.Session(settings) as session:
        replayed = job.model_copy(update={"actor": spec, "trial": spec.trial or job.trial})
        return is_stale(session.run(replayed).receipt)
