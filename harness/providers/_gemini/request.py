"""From a request to the body of ``generateContent``."""

from __future__ import annotations

from typing import Final

from harness.config.gemini_settings import thinking_of
from harness.providers._gemini.history import history_of
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest
from harness.schema.tool import ToolSpec

__all__ = ["request_body"]

_MODES: Final = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


def request_body(request: ModelRequest) -> dict[str, JsonValue]:
    """The body to send; settings that are None are left out. The model, and whether to stream, stand in the path."""
    rules, contents = history_of(request.messages)
    settings = request.settings
    config: dict[str, JsonValue] = {
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "maxOutputTokens": settings.max_output_tokens,
        "seed": settings.seed,
        "thinkingConfig": thinking_of(request.model, settings),
    }
    given: dict[str, JsonValue] = {name: value for name, value in config.items() if value is not None}
    sent: dict[str, JsonValue] = {"contents": contents}
    if rules is not None:
        sent["systemInstruction"] = {"parts": [{"text": rules}]}
    if given:
        sent["generationConfig"] = given
    if request.tools:
        sent["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
        if settings.tool_choice is not None:
            sent["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[settings.tool_choice]}}
    return sent


def _tool(tool: ToolSpec) -> JsonValue:
    """A declaration whose schema is plain JSON Schema: the field ``parameters`` knows a part of it only."""
    schema = {key: value for key, value in tool.parameters.items() if key != "$schema"}
    sent: dict[str, JsonValue] = {"name": tool.name, "parametersJsonSchema": {**schema, "type": "object"}}
    if tool.description.strip():
        sent["description"] = tool.description
    return sent
