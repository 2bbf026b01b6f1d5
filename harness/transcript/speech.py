"""What is said in the bodies of requests and answers.

The messages of chat completions are known, and what looks like them; whatever else stands there is given as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from harness.schema.base import JsonValue
from harness.schema.recording import RecordedRequest, RecordedResponse
from harness.schema.transcript import Speaker

__all__ = ["Said", "as_text", "asked", "messages", "offered", "replied"]

#: Where the known dialects keep their messages.
_LISTS = ("messages", "input", "contents")
_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "model",
    "model": "model",
    "tool": "tool",
    "function": "tool",
}
_OK = 200


@dataclass(frozen=True, slots=True)
class Said:
    """One text, whole."""

    speaker: Speaker
    about: str
    text: str


def messages(request: RecordedRequest) -> list[JsonValue]:
    """The conversation that a request carries; empty where none is found."""
    body = request.body
    for name in _LISTS if isinstance(body, dict) else ():
        found = body.get(name) if isinstance(body, dict) else None
        if isinstance(found, list):
            return found
    return []


def offered(request: RecordedRequest) -> str:
    """The names of the tools in a request, or nothing."""
    tools = request.body.get("tools") if isinstance(request.body, dict) else None
    names = [_tool_name(tool) for tool in tools] if isinstance(tools, list) else []
    return ", ".join(name for name in names if name)


def asked(message: JsonValue) -> Iterator[Said]:
    """The texts of one message of a request."""
    if not isinstance(message, dict):
        yield Said("user", "", as_text(message))
        return
    role = message.get("role")
    speaker = _SPEAKERS.get(role, "user") if isinstance(role, str) else "user"
    if speaker == "model":
        yield from _spoken(message)
        return
    call = message.get("tool_call_id")
    about = f"result of {call}" if isinstance(call, str) else ""
    yield Said(speaker, about, _content(message.get("content")))


def replied(response: RecordedResponse) -> Iterator[Said]:
    """The texts of an answer: the reply in it, or the answer itself."""
    message, finish = _reply(response.body)
    if response.status != _OK or message is None:
        yield Said("provider", f"HTTP {response.status}", as_text(response.body))
        return
    found = list(_spoken(message))
    yield from found or [Said("model", "says nothing", "")]
    if finish:
        yield Said("provider", f"finish {finish}", "")


def _reply(body: JsonValue) -> tuple[dict[str, JsonValue] | None, str]:
    """The message of the first choice, and why it ended."""
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    finish = first.get("finish_reason") if isinstance(first, dict) else None
    return (message if isinstance(message, dict) else None), (finish if isinstance(finish, str) else "")


def _spoken(message: dict[str, JsonValue]) -> Iterator[Said]:
    for key, about in (("reasoning_content", "thinks"), ("refusal", "refuses"), ("content", "says")):
        text = _content(message.get(key))
        if text:
            yield Said("model", about, text)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            yield Said("model", "calls", as_text(call))
            continue
        name = f"calls {as_text(function.get('name'))}"
        number = call.get("id")
        about = f"{name} ({number})" if isinstance(number, str) and number else name
        yield Said("model", about, as_text(function.get("arguments")))


def _content(value: JsonValue) -> str:
    """A text, or the texts of its parts."""
    if isinstance(value, list):
        return "\n".join(_content(part) for part in value)
    text = value.get("text") if isinstance(value, dict) else value
    return as_text(text if isinstance(text, str) else value)


def as_text(value: JsonValue) -> str:
    """A text as it is, anything else as JSON; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tool_name(tool: JsonValue) -> str:
    if not isinstance(tool, dict):
        return ""
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("name")
    return name if isinstance(name, str) else ""
