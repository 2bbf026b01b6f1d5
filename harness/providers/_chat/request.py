"""From a request to the body of a chat completion."""

from __future__ import annotations

from typing import assert_never

from harness.config.presets import Preset
from harness.providers._chat.ids import short_ids
from harness.providers._chat.message import plain_message
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


def request_body(request: ModelRequest, preset: Preset) -> dict[str, JsonValue]:
    """The body to send: settings that are None are left out, and with no tools all that speaks of tools."""
    messages = [_message(message) for message in request.messages]
    body: dict[str, JsonValue] = {
        "model": request.model,
        "messages": short_ids(messages) if preset.short_ids else messages,
        "stream": request.settings.stream is True,
        **_settings(request.settings, preset),
    }
    if request.settings.stream is True and preset.counts_streams:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.settings.tool_choice is not None:
            choice = request.settings.tool_choice
            body["tool_choice"] = preset.required_word if choice == "required" else choice
        if request.settings.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.settings.parallel_tool_calls
    return body


def _settings(settings: GenerationSettings, preset: Preset) -> dict[str, JsonValue]:
    sent: dict[str, JsonValue] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        preset.token_field: settings.max_output_tokens,
        "reasoning_effort": settings.reasoning_effort,
        "thinking": None if settings.thinking is None else {"type": settings.thinking},
        preset.seed_field: settings.seed,
    }
    return {name: value for name, value in sent.items() if value is not None}


def _tool(tool: ToolSpec) -> JsonValue:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


def _message(message: Message) -> JsonValue:
    match message:
        case SystemMessage() | UserMessage():
            return {"role": message.role, "content": message.text}
        case AssistantMessage():
            if isinstance(message.opaque, dict) and message.opaque.get("role") == "assistant":
                return message.opaque
            return plain_message(message.text, message.calls)
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    assert_never(message)
