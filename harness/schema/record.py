"""The journal's records: a closed union of kinds (runner specification 2.6).

Records carry ids, counts, codes and digests; raw texts live in a private spool and are named here by digest. What a
record says is a plain value where the loop makes it; where a stored one is read it is checked as strictly as any other.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from harness.schema.base import OF_ITS_TYPE, Digest, Frozen, Plain, plain
from harness.schema.command import CommandShape
from harness.schema.detectors import CallMarks
from harness.schema.message import FinishReason, Quirk, Usage
from harness.schema.metric import Metric
from harness.schema.name import Code, Fact, KindName
from harness.schema.operation import OpNotSent, OpParked, OpPlanned, OpReceipt, OpStarted, OpUnknown, Purpose
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
    "Decision",
    "FixtureBound",
    "Hooked",
    "InputDelivered",
    "LateUsage",
    "Metered",
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
    "Spilled",
    "Suspended",
    "TurnCommitted",
    "TurnOpened",
    "UsageRow",
    "payload_json",
]

#: What may be decided about an operation whose outcome is unknown. ``defer`` leaves it open; ``retry`` does it again;
#: ``replay_success`` takes a result that is known by now; ``record_failure`` says that it failed; ``abort`` gives the
#: episode up.
Decision = Literal["defer", "retry", "replay_success", "record_failure", "abort"]


@plain
class Opened(Plain):
    """The definition is frozen. ``parts`` are the digests of what it consists of, by name."""

    kind: Literal["opened"] = "opened"
    version: Annotated[Literal[1], OF_ITS_TYPE] = 1
    scenario: str
    definition: Digest
    actor: Digest
    trial: int
    attempt: int
    parts: dict[str, Digest] = field(default_factory=dict)


@plain
class FixtureBound(Plain):
    """The world stands; ``fingerprint`` is its digest with every path as it is relative to the workspace."""

    kind: Literal["fixture_bound"] = "fixture_bound"
    fingerprint: Digest


@plain
class TurnOpened(Plain):
    """A turn begins; turns count from 1."""

    kind: Literal["turn_opened"] = "turn_opened"
    turn: int


#: How the name of an input begins that a person gave to an actor that waited for it.
ANSWER = "answer."


@plain
class InputDelivered(Plain):
    """A text from outside is shown to the actor, once by its name ``input``.

    ``prompt.system`` and ``prompt.user``, ``answer.turn-N`` to what the actor waited for in turn N, ``nudge.turn-N``
    after a reply without a call; ``external.turn-N`` is a state of the workspace in which the task is done.
    """

    kind: Literal["input_delivered"] = "input_delivered"
    input: str
    digest: Digest


@plain
class Projection(Plain):
    """What the actor is shown: digest of the complete effective request, and how many older messages are left out."""

    kind: Literal["projection"] = "projection"
    turn: int
    request: Digest
    messages: int
    omitted: int = 0


@plain
class Compacted(Plain):
    """Older messages were replaced by a summary."""

    kind: Literal["compacted"] = "compacted"
    turn: int
    before: int
    after: int
    summary: Digest


@plain
class Spilled(Plain):
    """The whole text of a result that is shown in part was kept in the workspace, or could not be (``refused``).

    ``content`` is the digest of the text with its paths as names, ``chars`` its length.
    """

    kind: Literal["spilled"] = "spilled"
    operation: str
    content: Digest
    chars: int
    refused: Literal["path_invalid", "exists", "unwritable"] | None = None


@plain
class Decided(Plain):
    """A host or a person decided about an operation; ``spool`` names the result that they know it had."""

    kind: Literal["decision"] = "decision"
    operation: str
    digest: Digest
    decision: Decision | Literal["approve", "deny"]
    spool: Digest | None = None


@plain
class UsageRow(Plain):
    """One ledger row of a dispatched attempt; missing usage is unknown, never zero."""

    kind: Literal["usage"] = "usage"
    row: str
    purpose: Purpose
    status: Literal["completed", "failed", "unknown", "not_sent"]
    usage: Usage | None


@plain
class LateUsage(Plain):
    """Usage of a call that was abandoned before."""

    kind: Literal["late_usage"] = "late_usage"
    row: str
    usage: Usage


@plain
class Metered(Plain):
    """What was measured outside of the loop: a driver that goes on takes it as it was.

    ``active_ms`` is the time at work so far, in milliseconds; ``cost`` what the episode's meter said, None where no
    cost is limited.
    """

    kind: Literal["metered"] = "metered"
    active_ms: int
    cost: Metric | None = None


@plain
class Hooked(Plain):
    """A hook ran."""

    kind: Literal["hook"] = "hook"
    hook: str
    point: str
    outcome: str


@plain
class Classified(Plain):
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


@plain
class CallResulted(Plain):
    """The one answer to one declared call: ``spilled``: shown in part; ``source``: the rule that refused it."""

    kind: Literal["call_result"] = "call_result"
    turn: int
    call: int
    call_id: str
    tool: str
    code: ResultCode
    executed: bool
    refused: str | None = None
    answer: Digest | None = None
    source: str | None = None
    marks: CallMarks | None = None
    spilled: bool = False


@plain
class BudgetStop(Plain):
    """A limit ended the episode."""

    kind: Literal["budget_stop"] = "budget_stop"
    outcome: Outcome


@plain
class TurnCommitted(Plain):
    """A turn is over: what it said (``prose``: is a long reply like the long one before), and the world after it."""

    kind: Literal["turn_committed"] = "turn_committed"
    turn: int
    finish: FinishReason | None
    said_text: bool
    calls: int
    quirks: tuple[Quirk, ...] = ()
    prose: Literal["new", "alike"] | None = None
    fingerprint: Digest | None = None


@plain
class Suspended(Plain):
    """Not over: waiting for a person or a host."""

    kind: Literal["suspended"] = "suspended"
    outcome: Outcome


@plain
class Resumed(Plain):
    """Goes on; ``credited_s`` seconds of waiting do not count."""

    kind: Literal["resumed"] = "resumed"
    credited_s: float


@plain
class Closed(Plain):
    """The end, once."""

    kind: Literal["closed"] = "closed"
    outcome: Outcome


@plain
class Acknowledged(Plain):
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
    | Spilled
    | OpUnknown
    | OpNotSent
    | Decided
    | UsageRow
    | LateUsage
    | Metered
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


_WRITTEN: TypeAdapter[Payload] = TypeAdapter(Payload, config=ConfigDict(defer_build=True))


def payload_json(payload: Payload) -> str:
    """What a record says as it stands in a journal: compact JSON, the fields in their order, all of them."""
    return _WRITTEN.dump_json(payload).decode("utf-8")
