"""Options and environment to live objects; the only reader of the process environment."""

from harness.wiring.actors import actor_specs, secret_guard
from harness.wiring.classification import Classification, classifier
from harness.wiring.places import Settings, load_scenario, reporters, scenarios, settings
from harness.wiring.planes import plane_identity
from harness.wiring.session import Session, run_episode, trace_episode

__all__ = [
    "Classification",
    "Session",
    "Settings",
    "actor_specs",
    "classifier",
    "load_scenario",
    "plane_identity",
    "reporters",
    "run_episode",
    "scenarios",
    "secret_guard",
    "settings",
    "trace_episode",
]
