"""From a request to the body of the messages API."""

from __future__ import annotations

from typing import Final

from harness.config.messages_settings import effort_of, thinking_of, tokens_of
from harness.providers._anthropic.history import history_of
from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings, ModelRequest
from harness.schema.tool import ToolSpec

__all__ = ["request_body"]

#: Keywords that a tool's schema may not have at its top; below it they are taken.
_NOT_AT_TOP = frozenset({"anyOf", "oneOf", "allOf"})
_CHOICES: Final = {"auto": "auto", "required": "any", "none": "none"}


def request_body(request: ModelRequest) -> dict[str, JsonValue]:
    """The body to send: settings that are None are left out but for ``max_tokens``, which the API demands."""
    rules, messages = history_of(request.messages)
    settings = request.settings
    sent: dict[str, JsonValue] = {
        "model": request.model,
        "messages": messages,
        "stream": bool(settings.stream),
        "system": rules,
        "max_tokens": tokens_of(settings),
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "thinking": thinking_of(settings),
        "output_config": None if (effort := effort_of(settings)) is None else {"effort": effort},
    }
    if request.tools:
        sent["tools"] = [_tool(tool) for tool in request.tools]
        sent["tool_choice"] = _choice(settings)
    return {name: value for name, value in sent.items() if value is not None}


def _tool(tool: ToolSpec) -> JsonValue:
    schema = {key: value for key, value in tool.parameters.items() if key not in _NOT_AT_TOP}
    sent: dict[str, JsonValue] = {"name": tool.name, "input_schema": {**schema, "type": "object"}}
    if tool.description.strip():
        sent["description"] = tool.description
    return sent


def _choice(settings: GenerationSettings) -> JsonValue:
    """How tools are chosen; whether several at once may be, is told beside it."""
    if settings.tool_choice is None and settings.parallel_tool_calls is None:
        return None
    choice: dict[str, JsonValue] = {"type": _CHOICES[settings.tool_choice or "auto"]}
    if settings.parallel_tool_calls is not None and settings.tool_choice != "none":
        choice["disable_parallel_tool_use"] = not settings.parallel_tool_calls
    return choice
