"""Tools as the actor sees them, calls as it makes them, results as it gets them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.schema.base import Frozen, JsonValue, Plain, plain
from harness.schema.name import Code

__all__ = ["READ_MORE", "CallFault", "CallResult", "ErrorClass", "ResultCode", "ToolCall", "ToolSpec", "TypedError"]

#: The tool that reads on in kept results, and the kind of its calls.
READ_MORE = "read_more"

CallFault = Literal["malformed_arguments", "truncated"]

#: How one call ended; closed (runner specification 2.5).
ResultCode = Literal[
    "succeeded",
    "error_recoverable",
    "error_terminal",
    "effect_uncertain",
    "timeout",
    "parse_error",
    "invalid_arguments",
    "unknown_tool",
    "denied_policy",
    "approval_denied",
    "approval_timeout",
    "approval_unresolved",
    "approval_pending",
    "over_turn_cap",
    "skipped_due_to_finish",
    "skipped_due_to_wait_user",
    "skipped_due_to_steering",
    "skipped_due_to_stop",
    "cancelled_before_execution",
    "interrupted",
]

#: What an error leaves open: the actor may go on, nobody can, or nobody knows what was done.
ErrorClass = Literal["recoverable", "terminal", "uncertain"]


class TypedError(Frozen):
    """An error that is known by a code: its text may change, what it means does not."""

    class_: ErrorClass = Field(alias="class")
    code: Code


class ToolSpec(Frozen):
    """One declared tool. ``parameters`` is a JSON Schema (2020-12) object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


@plain
class ToolCall(Plain):
    """One call as the actor made it.

    ``arguments`` is the decoded JSON object, or None where ``fault`` says why it could not be decoded;
    ``arguments_raw`` is always exactly what arrived. ``id`` is never empty: a codec makes one where the provider
    gave none (and reports the quirk ``missing_call_id``).
    """

    id: str
    name: str
    arguments_raw: str
    arguments: dict[str, JsonValue] | None
    fault: CallFault | None = None


class CallResult(Frozen):
    """The one answer to one call. ``text`` is what the actor is shown."""

    call_id: str
    code: ResultCode
    text: str
