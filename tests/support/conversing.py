"""Turns of a conversation that a codec is given, around one tool."""

from __future__ import annotations

from pydantic import JsonValue

from harness.schema.message import AssistantMessage, ToolMessage
from harness.schema.tool import ToolCall

__all__ = ["asks", "call", "told"]


def call(id_: str, raw: str = "{}", arguments: dict[str, JsonValue] | None = None) -> ToolCall:
    """A call; with a ``raw`` text and without ``arguments`` it was cut off."""
    given = arguments if arguments is not None or raw != "{}" else {}
    return ToolCall(
        id=id_, name="ring", arguments_raw=raw, arguments=given, fault=None if given is not None else "truncated"
    )


def asks(*calls: ToolCall, text: str | None = None, opaque: JsonValue = None) -> AssistantMessage:
    """An earlier answer."""
    return AssistantMessage(text=text, calls=calls, opaque=opaque)


def told(id_: str, text: str, *, failed: bool = False) -> ToolMessage:
    """What a call came to."""
    return ToolMessage(call_id=id_, name="ring", text=text, failed=failed)
