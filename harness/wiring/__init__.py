"""Options and environment to live objects; the only reader of the process environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.wiring._first_use import on_first_use

if TYPE_CHECKING:
    from harness.wiring.actors import actor_specs, secret_guard
    from harness.wiring.classification import Classification, classifier
    from harness.wiring.drifting import recording_report
    from harness.wiring.network import network_problem
    from harness.wiring.ordinary_keys import refuse_ordinary_keys
    from harness.wiring.places import Settings, load_scenario, reporters, scenarios, settings
    from harness.wiring.planes import plane_identity
    from harness.wiring.providers import care
    from harness.wiring.recordings import (
        Keeping,
        interrupted,
        judged_by,
        keeping,
        recorded_choice,
        recorded_paths,
        recorded_specs,
        recording_folders,
        replayed_digest,
        sayable_in,
    )
    from harness.wiring.rerecording import known_scrubber, rerecord_spec
    from harness.wiring.session import Session, run_episode, trace_episode
    from harness.wiring.transcripts import kept_recording, transcript_of, with_transcripts
    from harness.wiring.unplayable import Strays, strays

__all__ = [
    "Classification",
    "Keeping",
    "Session",
    "Settings",
    "Strays",
    "actor_specs",
    "care",
    "classifier",
    "interrupted",
    "judged_by",
    "keeping",
    "kept_recording",
    "known_scrubber",
    "load_scenario",
    "network_problem",
    "plane_identity",
    "recorded_choice",
    "recorded_paths",
    "recorded_specs",
    "recording_folders",
    "recording_report",
    "refuse_ordinary_keys",
    "replayed_digest",
    "reporters",
    "rerecord_spec",
    "run_episode",
    "sayable_in",
    "scenarios",
    "secret_guard",
    "settings",
    "strays",
    "trace_episode",
    "transcript_of",
    "with_transcripts",
]

__getattr__ = on_first_use(
    __name__,
    {
        "actors": "actor_specs secret_guard",
        "classification": "Classification classifier",
        "drifting": "recording_report",
        "network": "network_problem",
        "planes": "plane_identity",
        "ordinary_keys": "refuse_ordinary_keys",
        "places": "Settings load_scenario reporters scenarios settings",
        "providers": "care",
        "recordings": "Keeping interrupted judged_by keeping recorded_choice recorded_paths recorded_specs"
        " recording_folders replayed_digest sayable_in",
        "rerecording": "known_scrubber rerecord_spec",
        "session": "Session run_episode trace_episode",
        "unplayable": "Strays strays",
        "transcripts": "kept_recording transcript_of with_transcripts",
    },
)
