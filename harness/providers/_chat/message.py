"""The assistant's message of chat completions: as it came, and as it is sent back."""

from __future__ import annotations

from dataclasses import dataclass

from harness.providers._wire.answer import as_object, word
from harness.providers._wire.arguments import Arguments, read_arguments, sendable_arguments
from harness.schema.base import JsonValue
from harness.schema.message import Quirk
from harness.schema.tool import ToolCall

__all__ = ["WireCall", "echo_of", "id_of", "plain_message", "texts_of", "wire_calls"]

#: Parts of a call that belong to our fields; ``index`` is a position in a stream.
_CALL_FIELDS = frozenset({"id", "type", "function", "index"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})


@dataclass(frozen=True, slots=True)
class WireCall:
    """One call as it came. ``id`` is None where the provider gave none; ``entry`` and ``function`` hold the rest."""

    id: str | None
    name: str
    arguments: Arguments
    entry: dict[str, JsonValue]
    function: dict[str, JsonValue]


def wire_calls(message: dict[str, JsonValue]) -> tuple[list[WireCall], tuple[Quirk, ...]] | None:
    """The calls of a message, old form included; None where what stands there is no list of objects."""
    sent = message.get("tool_calls")
    if sent is None or sent == []:
        legacy = message.get("function_call")
        if isinstance(legacy, dict) and legacy:
            return [_wire_call({}, legacy)], ("legacy_function_call",)
        return [], ()
    if not isinstance(sent, list):
        return None
    calls = []
    for entry in sent:
        if not isinstance(entry, dict):
            return None
        function = entry.get("function")
        nested = isinstance(function, dict)
        calls.append(_wire_call(entry if nested else {"id": entry.get("id")}, as_object(function) if nested else entry))
    return calls, ()


def _wire_call(entry: dict[str, JsonValue], function: dict[str, JsonValue]) -> WireCall:
    return WireCall(
        id=id_of(entry.get("id")),
        name=word(function.get("name")) or "",
        arguments=read_arguments(function.get("arguments")),
        entry={key: value for key, value in entry.items() if key not in _CALL_FIELDS and value is not None},
        function={
            key: value
            for key, value in function.items()
            if key not in _FUNCTION_FIELDS | _CALL_FIELDS and value is not None
        },
    )


def id_of(sent: JsonValue) -> str | None:
    """An id as a text: some servers number their calls, and a number names one as well. None where none was given."""
    id_ = str(sent) if isinstance(sent, int) and not isinstance(sent, bool) else sent
    return id_ if isinstance(id_, str) and id_.strip() else None


def plain_message(text: str | None, calls: tuple[ToolCall, ...]) -> dict[str, JsonValue]:
    """An assistant's message made from our fields alone. Arguments always hold a JSON object."""
    message: dict[str, JsonValue] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [_sent_call(call, {}, {}) for call in calls]
    return message


def echo_of(
    message: dict[str, JsonValue], text: str | None, calls: tuple[ToolCall, ...], wire: list[WireCall]
) -> dict[str, JsonValue] | None:
    """The message as it must be sent back, unknown keys included; None where ``plain_message`` says as much.

    What is null or an empty list is left out: strict servers refuse both in a history.
    """
    ours = {"role", "content", "tool_calls"}
    if calls and not message.get("tool_calls"):
        ours.add("function_call")
    rest = {key: value for key, value in message.items() if key not in ours and value is not None and value != []}
    content = message.get("content")
    echo: dict[str, JsonValue] = {**rest, "role": "assistant", "content": text}
    if isinstance(content, list) and content:
        echo["content"] = content
    if calls:
        echo["tool_calls"] = [_sent_call(call, one.entry, one.function) for call, one in zip(calls, wire, strict=True)]
    return None if echo == plain_message(text, calls) else echo


def _sent_call(call: ToolCall, entry: dict[str, JsonValue], function: dict[str, JsonValue]) -> JsonValue:
    body = {**function, "name": call.name, "arguments": sendable_arguments(call)}
    return {**entry, "id": call.id, "type": "function", "function": body}


def texts_of(message: dict[str, JsonValue]) -> tuple[str | None, str | None, str | None] | None:
    """Text, reasoning and refusal of a message; None where its content is neither text nor a list of parts."""
    content, reasoning, refusal = message.get("content"), _reasoning_of(message), word(message.get("refusal"))
    if content is None or isinstance(content, str):
        return content, reasoning, refusal
    if not isinstance(content, list):
        return None
    texts, thoughts = [], []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        known = as_object(part)
        kind = known.get("type")
        if kind in ("text", "output_text"):
            texts.append(word(known.get("text")) or "")
        elif kind == "thinking":
            thoughts.append(_thought(known.get("thinking")))
        elif kind == "refusal":
            refusal = refusal or word(known.get("refusal"))
    return "".join(texts) if texts else None, reasoning or "".join(thoughts) or None, refusal


def _reasoning_of(message: dict[str, JsonValue]) -> str | None:
    """The first of the two names in use that holds a text."""
    return word(message.get("reasoning_content")) or word(message.get("reasoning"))


def _thought(value: JsonValue) -> str:
    """A thought as text, or as a list of text parts."""
    if isinstance(value, list):
        return "".join(word(as_object(part).get("text")) or "" for part in value)
    return word(value) or ""
