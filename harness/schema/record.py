"""The journal's records: a closed union of kinds (runner specification 2.6).

Records carry ids, counts, codes and digests; raw texts live in a private spool and are named here by digest.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Digest, Frozen
from harness.schema.command import CommandShape
from harness.schema.message import FinishReason, Quirk, Usage
from harness.schema.name import Code, Fact, KindName
from harness.schema.outcome import Outcome
from harness.schema.tool import ResultCode

__all__ = [
    "ANSWER",
    "Acknowledged",
    "BudgetStop",
    "CallResulted",
    "Classified",
    "Closed",
    "Compacted",
    "Decided",
    "FixtureBound",
    "Hooked",
    "InputDelivered",
    "LateUsage",
    "OpNotSent",
    "OpParked",
    "OpPlanned",
    "OpReceipt",
    "OpStarted",
    "OpUnknown",
    "Opened",
    "Payload",
    "Projection",
    "Purpose",
    "Record",
    "Resumed",
    "Suspended",
    "TurnCommitted",
    "TurnOpened",
    "UsageRow",
]

#: What an operation is for.
Purpose = Literal["main", "prompt_too_long", "compaction", "memory", "preparation", "child", "tool", "control", "value"]


class Opened(Frozen):
    """The definition is frozen. ``parts`` are the digests of what it consists of, by name."""

    kind: Literal["opened"] = "opened"
    version: Literal[1] = 1
    scenario: str
    definition: Digest
    actor: Digest
    trial: int
    attempt: int
    parts: dict[str, Digest] = {}


class FixtureBound(Frozen):
    """The world stands; ``fingerprint`` is its digest with every path as it is relative to the workspace."""

    kind: Literal["fixture_bound"] = "fixture_bound"
    fingerprint: Digest


class TurnOpened(Frozen):
    """A turn begins; turns count from 1."""

    kind: Literal["turn_opened"] = "turn_opened"
    turn: int


#: How the name of an input begins that a person gave to an actor that waited for it.
ANSWER = "answer."


class InputDelivered(Frozen):
    """A text from outside is shown to the actor, once by its name ``input``.

    ``prompt.system`` and ``prompt.user``, ``answer.turn-N`` to what the actor waited for in turn N, ``nudge.turn-N``
    after a reply without a call; ``external.turn-N`` is a state of the workspace in which the task is done.
    """

    kind: Literal["input_delivered"] = "input_delivered"
    input: str
    digest: Digest


class Projection(Frozen):
    """What the actor is shown: digest of the complete effective request, and how many older messages are left out."""

    kind: Literal["projection"] = "projection"
    turn: int
    request: Digest
    messages: int
    omitted: int = 0


class Compacted(Frozen):
    """Older messages were replaced by a summary."""

    kind: Literal["compacted"] = "compacted"
    turn: int
    before: int
    after: int
    summary: Digest


class OpPlanned(Frozen):
    """An external action is decided. ``operation`` is ``turn-N/main`` or ``turn-N/call-I`` and the like."""

    kind: Literal["op_planned"] = "op_planned"
    operation: str
    purpose: Purpose
    digest: Digest
    tool: str | None = None
    call_id: str | None = None


class OpParked(Frozen):
    """It waits for an approval."""

    kind: Literal["op_parked"] = "op_parked"
    operation: str


class OpStarted(Frozen):
    """It may have touched the world from here on."""

    kind: Literal["op_started"] = "op_started"
    operation: str
    attempt: int


class OpReceipt(Frozen):
    """It ended definitively; ``spool`` names its full result."""

    kind: Literal["op_receipt"] = "op_receipt"
    operation: str
    attempt: int
    status: Literal["succeeded", "failed"]
    spool: Digest | None = None
    detail: str | None = None


class OpUnknown(Frozen):
    """It was started and nobody can tell what happened; ``spool`` names what was seen of it until then."""

    kind: Literal["op_unknown"] = "op_unknown"
    operation: str
    attempt: int
    detail: str
    spool: Digest | None = None


class OpNotSent(Frozen):
    """A model call that provably never left the process; ``detail`` is the category of what stopped it."""

    kind: Literal["op_not_sent"] = "op_not_sent"
    operation: str
    attempt: int
    detail: str | None = None


class Decided(Frozen):
    """A host or a person decided about an operation; ``spool`` names the result that they know it had."""

    kind: Literal["decision"] = "decision"
    operation: str
    digest: Digest
    decision: Literal["defer", "retry", "replay_success", "record_failure", "abort", "approve", "deny"]
    spool: Digest | None = None


class UsageRow(Frozen):
    """One ledger row of a dispatched attempt; missing usage is unknown, never zero."""

    kind: Literal["usage"] = "usage"
    row: str
    purpose: Purpose
    status: Literal["completed", "failed", "unknown", "not_sent"]
    usage: Usage | None


class LateUsage(Frozen):
    """Usage of a call that was abandoned before."""

    kind: Literal["late_usage"] = "late_usage"
    row: str
    usage: Usage


class Hooked(Frozen):
    """A hook ran."""

    kind: Literal["hook"] = "hook"
    hook: str
    point: str
    outcome: str


class Classified(Frozen):
    """A proposal or a result was classified; pure, so that it can be derived again and compared."""

    kind: Literal["classified"] = "classified"
    turn: int
    call: int
    point: Literal["proposal", "result"]
    kind_name: KindName | None
    code: Code | None
    sets: tuple[Fact, ...] = ()
    shape: CommandShape | None = None
    command: Digest | None = None
    arguments: Digest | None = None


class CallResulted(Frozen):
    """The one answer to one declared call. ``answer`` is the digest of a control plane's stable answer."""

    kind: Literal["call_result"] = "call_result"
    turn: int
    call: int
    call_id: str
    tool: str
    code: ResultCode
    executed: bool
    refused: str | None = None
    answer: Digest | None = None


class BudgetStop(Frozen):
    """A limit ended the episode."""

    kind: Literal["budget_stop"] = "budget_stop"
    outcome: Outcome


class TurnCommitted(Frozen):
    """A turn is over: what it said, and the state of the world after it."""

    kind: Literal["turn_committed"] = "turn_committed"
    turn: int
    finish: FinishReason | None
    said_text: bool
    calls: int
    quirks: tuple[Quirk, ...] = ()
    fingerprint: Digest | None = None


class Suspended(Frozen):
    """Not over: waiting for a person or a host."""

    kind: Literal["suspended"] = "suspended"
    outcome: Outcome


class Resumed(Frozen):
    """Goes on; ``credited_s`` seconds of waiting do not count."""

    kind: Literal["resumed"] = "resumed"
    credited_s: float


class Closed(Frozen):
    """The end, once."""

    kind: Literal["closed"] = "closed"
    outcome: Outcome


class Acknowledged(Frozen):
    """The receipt was published."""

    kind: Literal["acknowledged"] = "acknowledged"
    receipt: Digest


Payload = Annotated[
    Opened
    | FixtureBound
    | TurnOpened
    | InputDelivered
    | Projection
    | Compacted
    | OpPlanned
    | OpParked
    | OpStarted
    | OpReceipt
    | OpUnknown
    | OpNotSent
    | Decided
    | UsageRow
    | LateUsage
    | Hooked
    | Classified
    | CallResulted
    | BudgetStop
    | TurnCommitted
    | Suspended
    | Resumed
    | Closed
    | Acknowledged,
    Field(discriminator="kind"),
]


class Record(Frozen):
    """One entry. ``digest`` is SHA-256 over ``previous`` and the canonical payload; the first ``previous`` is ``-``."""

    seq: int
    payload: Payload
    previous: str
    digest: Digest
