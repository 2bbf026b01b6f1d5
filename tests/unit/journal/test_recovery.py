"""What can be done with an episode is told by its journal."""

from __future__ import annotations

from typing import Literal

import pytest

from harness.journal import EpisodeState, apply, recovery_class, recovery_flags
from harness.schema.message import Usage
from harness.schema.outcome import Outcome
from harness.schema.record import (
    Closed,
    Decided,
    LateUsage,
    OpNotSent,
    OpPlanned,
    OpReceipt,
    OpStarted,
    OpUnknown,
    Payload,
    Purpose,
    Resumed,
    Suspended,
)
from harness.schema.run import RecoveryClass

CALL = "turn-1/call-1"
STARTED = (
    OpPlanned(operation=CALL, purpose="tool", digest="sha256:0", tool="t", call_id="c"),
    OpStarted(operation=CALL, attempt=1),
)
UNKNOWN = OpUnknown(operation=CALL, attempt=1, detail="uncertain")
WAITING = Suspended(outcome=Outcome(status="suspended", reason="blocked"))
CLOSED = Closed(outcome=Outcome(status="completed", reason="final_response"))


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        (STARTED, "resume_eligible"),
        ((*STARTED, CLOSED), "complete"),
        ((*STARTED, UNKNOWN), "reconciliation_required"),
        ((*STARTED, UNKNOWN, CLOSED), "reconciliation_required"),
        ((*STARTED, UNKNOWN, OpReceipt(operation=CALL, attempt=1, status="succeeded"), CLOSED), "complete"),
        ((WAITING,), "suspended"),
        ((WAITING, Resumed(credited_s=1.0)), "resume_eligible"),
        ((WAITING, CLOSED), "complete"),
    ],
)
def test_a_journal_says_what_can_be_done(payloads: tuple[Payload, ...], expected: RecoveryClass) -> None:
    state = EpisodeState()
    for payload in payloads:
        state = apply(state, payload)
    assert recovery_class(state) == expected


RESUMED = Resumed(credited_s=0.0)
LATE = LateUsage(row="turn-1/main:attempt:1", usage=Usage(input_tokens=1, output_tokens=1))


def begun(purpose: Purpose) -> tuple[Payload, ...]:
    return (OpPlanned(operation="o", purpose=purpose, digest="sha256:0"), OpStarted(operation="o", attempt=1))


def ended(spool: str | None = "sha256:1") -> OpReceipt:
    return OpReceipt(operation="o", attempt=1, status="failed" if spool is None else "succeeded", spool=spool)


def decided(decision: Literal["replay_success", "retry"]) -> Decided:
    return Decided(operation="o", digest="sha256:0", decision=decision)


CUT_OFF = OpUnknown(operation="o", attempt=1, detail="interrupted")
AGAIN = OpStarted(operation="o", attempt=2)


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        ((*begun("main"), ended(), CLOSED), ()),
        ((*begun("main"), ended(), RESUMED, CLOSED), ("replayed_operations",)),
        ((*begun("main"), ended(None), RESUMED, CLOSED), ()),
        ((*begun("main"), RESUMED, ended(), CLOSED), ("replayed_operations",)),
        ((*begun("main"), RESUMED, ended(None), CLOSED), ()),
        ((*begun("value"), RESUMED, ended(), CLOSED), ()),
        ((*begun("tool"), RESUMED, ended(), CLOSED), ("repeated_idempotent",)),
        ((*begun("tool"), RESUMED, CUT_OFF, AGAIN, ended(), CLOSED), ("duplicate_risk",)),
        ((*begun("main"), RESUMED, CUT_OFF, AGAIN, ended(), CLOSED), ("duplicate_risk",)),
        ((*begun("main"), RESUMED, CUT_OFF, ended(), AGAIN, CLOSED), ()),
        ((*begun("main"), RESUMED, OpNotSent(operation="o", attempt=1), AGAIN, ended(), CLOSED), ()),
        ((*begun("main"), CUT_OFF, RESUMED, decided("retry"), AGAIN, ended()), ("duplicate_risk",)),
        ((*begun("main"), CUT_OFF, LATE, CLOSED), ("late_usage",)),
        ((*begun("main"), CUT_OFF, RESUMED, decided("replay_success"), ended()), ("late_usage",)),
        ((*begun("tool"), CUT_OFF, RESUMED, decided("replay_success"), ended()), ("replayed_operations",)),
    ],
)
def test_a_journal_says_what_those_did_who_went_on_with_it(
    payloads: tuple[Payload, ...], expected: tuple[str, ...]
) -> None:
    assert recovery_flags(payloads) == expected
