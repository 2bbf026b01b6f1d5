"""From a request to the body that asks for a response, of which the provider keeps nothing."""

from __future__ import annotations

import re
from typing import assert_never

from harness.providers._responses.items import sendable_id, sent_back
from harness.schema.base import JsonValue
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    Message,
    ModelRequest,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from harness.schema.tool import ToolSpec

__all__ = ["request_body"]

#: Models that do not reason: asked for their reasoning they refuse the whole request.
_WITHOUT_REASONING = re.compile(r"(?:.*[/:])?(?:gpt-3|gpt-4|chatgpt-|gpt-5-chat)")


def request_body(request: ModelRequest) -> dict[str, JsonValue]:
    """The body to send: settings that are None are left out, and with no tools all that speaks of tools."""
    body: dict[str, JsonValue] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message)],
        "store": False,
        "stream": request.settings.stream is True,
        **_settings(request.settings),
    }
    if not _WITHOUT_REASONING.match(request.model):
        body["include"] = ["reasoning.encrypted_content"]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.settings.tool_choice is not None:
            body["tool_choice"] = request.settings.tool_choice
        if request.settings.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.settings.parallel_tool_calls
    return body


def _settings(settings: GenerationSettings) -> dict[str, JsonValue]:
    effort = settings.reasoning_effort
    sent: dict[str, JsonValue] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_output_tokens": settings.max_output_tokens,
        "reasoning": None if effort is None else {"effort": effort},
    }
    return {name: value for name, value in sent.items() if value is not None}


def _tool(tool: ToolSpec) -> JsonValue:
    # strict by default, and then most schemas are refused or changed
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _items(message: Message) -> list[JsonValue]:
    match message:
        case SystemMessage() | UserMessage():
            return [{"role": message.role, "content": message.text}]
        case AssistantMessage():
            return sent_back(message.text, message.calls, message.opaque)
        case ToolMessage():
            id_ = sendable_id(message.call_id)
            return [{"type": "function_call_output", "call_id": id_, "output": message.text}]
    assert_never(message)
