"""Records of one operation: an external action on its way from planned to what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.schema.base import Digest, Plain

__all__ = ["OpNotSent", "OpParked", "OpPlanned", "OpReceipt", "OpStarted", "OpUnknown", "Purpose"]

#: What an operation is for.
Purpose = Literal["main", "prompt_too_long", "compaction", "memory", "preparation", "child", "tool", "control", "value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpPlanned(Plain):
    """An external action is decided. ``operation`` is ``turn-N/main`` or ``turn-N/call-I`` and the like."""

    kind: Literal["op_planned"] = "op_planned"
    operation: str
    purpose: Purpose
    digest: Digest
    tool: str | None = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpParked(Plain):
    """It waits for an approval."""

    kind: Literal["op_parked"] = "op_parked"
    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpStarted(Plain):
    """It may have touched the world from here on."""

    kind: Literal["op_started"] = "op_started"
    operation: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpReceipt(Plain):
    """It ended definitively; ``spool`` names its full result."""

    kind: Literal["op_receipt"] = "op_receipt"
    operation: str
    attempt: int
    status: Literal["succeeded", "failed"]
    spool: Digest | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpUnknown(Plain):
    """It was started and nobody can tell what happened; ``spool`` names what was seen of it until then."""

    kind: Literal["op_unknown"] = "op_unknown"
    operation: str
    attempt: int
    detail: str
    spool: Digest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpNotSent(Plain):
    """A model call that provably never left the process; ``detail`` is the category of what stopped it."""

    kind: Literal["op_not_sent"] = "op_not_sent"
    operation: str
    attempt: int
    detail: str | None = None
