"""A recording held against the present, in words."""

from __future__ import annotations

from pathlib import Path

from harness import recording
from harness.episode import judged_by
from harness.schema.check import RecordingReport
from harness.schema.run import EpisodeJob
from harness.suite import check_recording
from harness.wiring.places import Settings
from harness.wiring.recordings import sayable_in
from harness.wiring.rerecording import known_scrubber, rerecord_spec
from harness.wiring.session import Session

__all__ = ["recording_report"]


def recording_report(place: Settings, session: Session, job: EpisodeJob, *, mutate: bool = False) -> RecordingReport:
    """Replay the job's recording against the real control plane, and say where it no longer fits and what to do.

    Words are shown as a recording made here would hold them: every key that is known here is taken out. Raises
    InputError where it cannot be replayed.
    """
    path = Path(job.actor.recording or "")
    return check_recording(
        path.name,
        recording.load(path),
        session.seen(job),
        job,
        sayable=sayable_in(job.loaded),
        classifier_version=judged_by(job.loaded),
        mutate=mutate,
        scrub=known_scrubber(place).json,
        again=rerecord_spec(place, path),
    )
