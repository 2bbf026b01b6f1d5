"""What can be done with an episode after its driver, and what drivers did with it, told by its journal alone."""

from __future__ import annotations

from collections.abc import Iterable

from harness.journal.state import EpisodeState
from harness.schema.record import Decided, LateUsage, OpPlanned, OpReceipt, OpStarted, OpUnknown, Payload, Resumed
from harness.schema.run import RecoveryClass

__all__ = ["asked", "recovery_class", "recovery_flags"]

#: What it means that an operation has a result though its driver was killed in it: a reply had been kept, a call of a
#: tool was made again.
_OF_CUT_OFF: dict[str, dict[str, None]] = {
    "main": {"replayed_operations": None},
    "tool": {"repeated_idempotent": None},
}
#: Without any of these nothing was cut off, and nobody went on with anything.
_OF_AN_INTERRUPTION = (Resumed, OpUnknown, LateUsage, Decided)


def asked(payloads: Iterable[Payload]) -> frozenset[tuple[str, int]]:
    """Every attempt that was started, by its operation and its number."""
    return frozenset((one.operation, one.attempt) for one in payloads if isinstance(one, OpStarted))


def recovery_class(state: EpisodeState) -> RecoveryClass:
    """An operation that nobody knows the effect of comes first: it has to be looked at though the episode is over."""
    if any(operation.status == "unknown" for operation in state.operations.values()):
        return "reconciliation_required"
    if state.outcome is not None:
        return "complete"
    return "resume_eligible" if state.waiting is None else "suspended"


def recovery_flags(payloads: Iterable[Payload]) -> tuple[str, ...]:  # noqa: C901  (one case a kind reads best)
    """What drivers did that went on with the episode, in the words of ``RunLogEntry.recovery`` and in their order.

    ``repeated_idempotent`` is told of every call of a tool that was cut off and has a result all the same: where the
    control plane reaches no further than the workspace, such a call is simply made in the workspace as it was before.
    """
    payloads = tuple(payloads)
    if set(map(type, payloads)).isdisjoint(_OF_AN_INTERRUPTION):
        return ()
    found: dict[str, None] = {}
    purposes: dict[str, str] = {}
    unknown, running, cut_off = set[str](), set[str](), set[str]()
    has_result = False
    for payload in payloads:
        match payload:
            case OpPlanned(operation=name, purpose=purpose):
                purposes[name] = purpose
            case OpStarted(operation=name):
                running.add(name)
                cut_off.discard(name)
                if name in unknown:
                    found["duplicate_risk"] = None
            case OpReceipt(operation=name, spool=spool) | OpUnknown(operation=name, spool=spool):
                if name in cut_off and isinstance(payload, OpReceipt) and spool is not None:
                    found.update(_OF_CUT_OFF.get(purposes[name], {}))
                has_result |= spool is not None
                running.discard(name)
                cut_off.discard(name)
                (unknown.add if isinstance(payload, OpUnknown) else unknown.discard)(name)
            case Resumed():
                cut_off |= running
                if has_result:
                    found["replayed_operations"] = None
            case LateUsage():
                found["late_usage"] = None
            case Decided(operation=name, decision="replay_success"):
                found["replayed_operations" if purposes[name] == "tool" else "late_usage"] = None
            case _:
                pass
    return tuple(found)
