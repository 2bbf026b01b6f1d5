"""Records of one operation: an external action on its way from planned to what came of it."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Digest, Plain, plain

__all__ = ["OpNotSent", "OpParked", "OpPlanned", "OpReceipt", "OpStarted", "OpUnknown", "Purpose"]

#: What an operation is for.
Purpose = Literal["main", "prompt_too_long", "compaction", "memory", "preparation", "child", "tool", "control", "value"]


@plain
class OpPlanned(Plain):
    """An external action is decided. ``operation`` is ``turn-N/main`` or ``turn-N/call-I`` and the like."""

    kind: Literal["op_planned"] = "op_planned"
    operation: str
    purpose: Purpose
    digest: Digest
    tool: str | None = None
    call_id: str | None = None


@plain
class OpParked(Plain):
    """It waits for an approval."""

    kind: Literal["op_parked"] = "op_parked"
    operation: str


@plain
class OpStarted(Plain):
    """It may have touched the world from here on."""

    kind: Literal["op_started"] = "op_started"
    operation: str
    attempt: int


@plain
class OpReceipt(Plain):
    """It ended definitively; ``spool`` names its full result."""

    kind: Literal["op_receipt"] = "op_receipt"
    operation: str
    attempt: int
    status: Literal["succeeded", "failed"]
    spool: Digest | None = None
    detail: str | None = None


@plain
class OpUnknown(Plain):
    """It was started and nobody can tell what happened; ``spool`` names what was seen of it until then."""

    kind: Literal["op_unknown"] = "op_unknown"
    operation: str
    attempt: int
    detail: str
    spool: Digest | None = None


@plain
class OpNotSent(Plain):
    """A model call that provably never left the process; ``detail`` is the category of what stopped it."""

    kind: Literal["op_not_sent"] = "op_not_sent"
    operation: str
    attempt: int
    detail: str | None = None
