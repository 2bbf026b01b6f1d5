"""What can be done with an episode is told by its journal."""

from __future__ import annotations

import pytest

from harness.journal import EpisodeState, apply, recovery_class
from harness.schema.outcome import Outcome
from harness.schema.record import Closed, OpPlanned, OpReceipt, OpStarted, OpUnknown, Payload, Resumed, Suspended
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
