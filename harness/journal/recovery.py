"""What can be done with an episode after its driver, told by its journal alone (runner specification 2.5)."""

from __future__ import annotations

from harness.journal.state import EpisodeState
from harness.schema.run import RecoveryClass

__all__ = ["recovery_class"]


def recovery_class(state: EpisodeState) -> RecoveryClass:
    """An operation that nobody knows the effect of comes first: it has to be looked at though the episode is over."""
    if any(operation.status == "unknown" for operation in state.operations.values()):
        return "reconciliation_required"
    if state.outcome is not None:
        return "complete"
    return "resume_eligible" if state.waiting is None else "suspended"
