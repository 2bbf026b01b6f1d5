"""From a reply to the body that a provider would send for it."""

from __future__ import annotations

from typing import Final

from harness.providers._chat.message import texts_of
from harness.providers._wire.answer import as_object
from harness.providers._wire.calls import made_id, seed_in
from harness.providers._wire.finish import word_for
from harness.providers._wire.strict_json import NotJsonError, read_json
from harness.providers._wire.usage_sent import usage_sent
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import Reply
from harness.schema.tool import ToolCall

__all__ = ["reply_body"]

_OTHER: Final[JsonValue] = {"id": "other", "type": "function", "function": {"name": "other", "arguments": "{}"}}


def reply_body(reply: Reply) -> dict[str, JsonValue]:
    """The body whose decoding gives this reply back, with all quirks that a whole body can have.

    ``opaque`` is the base of the message; a field of the reply that is set replaces what stands there, so an opaque
    message alone goes out exactly as it is.
    """
    seed = _seed_of(reply)
    body: dict[str, JsonValue] = {"id": seed, "object": "chat.completion", "choices": _choices(reply, seed)}
    if reply.model is not None:
        body["model"] = reply.model
    if reply.fingerprint is not None:
        body["system_fingerprint"] = reply.fingerprint
    if reply.usage is not None:
        body["usage"] = usage_sent(reply.usage, "prompt_tokens", "completion_tokens")
    return body


def _seed_of(reply: Reply) -> str:
    """The response id from which a decoder makes the ids of this reply that were made."""
    has_made = {"missing_call_id", "legacy_function_call"} & set(reply.quirks)
    return (seed_in(reply.calls) if has_made else None) or "chatcmpl"


def _choices(reply: Reply, seed: str) -> list[JsonValue]:
    message = _message(reply, seed)
    word = reply.finish_word
    if word is None and "finish_missing" not in reply.quirks:
        word = "stop" if reply.finish == "refusal" and reply.refusal is not None else word_for(reply.finish)
    if "split_choices" in reply.quirks:
        text: JsonValue = {"role": "assistant", "content": message.pop("content", None)}
        return [
            {"index": 0, "message": text, "finish_reason": word},
            {"index": 1, "message": message, "finish_reason": word},
        ]
    first: JsonValue = {"index": 0, "message": message, "finish_reason": word}
    if "alternative_choices" not in reply.quirks:
        return [first]
    # one that could be taken for the rest of the first would be put together with it
    other: JsonValue = {"content": None, "tool_calls": [_OTHER]} if reply.calls else {"content": "or"}
    return [first, {"index": 1, "message": other, "finish_reason": word}]


def _message(reply: Reply, seed: str) -> dict[str, JsonValue]:
    message: dict[str, JsonValue] = dict(as_object(reply.opaque))
    if not message:
        message = {"role": "assistant", "content": None}
    if reply.text is not None and not isinstance(message.get("content"), list):
        message["content"] = reply.text
    said = texts_of(message)
    if reply.reasoning is not None and said is not None and said[1] != reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.refusal is not None and said is not None and said[2] != reply.refusal:
        message["refusal"] = reply.refusal
    if not reply.calls:
        return message
    sent = message.get("tool_calls")
    known = sent if isinstance(sent, list) else []
    entries: list[JsonValue] = [
        _call(reply, call, made_id(seed, position), as_object(known[position - 1]) if position <= len(known) else {})
        for position, call in enumerate(reply.calls, 1)
    ]
    if "legacy_function_call" in reply.quirks:
        message.pop("tool_calls", None)
        message["function_call"] = as_object(entries[0])["function"]
    else:
        message["tool_calls"] = entries
    return message


def _call(reply: Reply, call: ToolCall, made: str, known: dict[str, JsonValue]) -> JsonValue:
    function = {**as_object(known.get("function")), "name": call.name, "arguments": _arguments(reply, call)}
    entry: dict[str, JsonValue] = {**known, "id": call.id, "type": "function", "function": function}
    if "missing_call_id" in reply.quirks and call.id == made:
        del entry["id"]
    return entry


def _arguments(reply: Reply, call: ToolCall) -> JsonValue:
    """The text that arrived; the value itself where the reply says that values came unencoded."""
    if "arguments_not_string" not in reply.quirks:
        return call.arguments_raw
    try:
        value = read_json(call.arguments_raw)
    except NotJsonError:
        return call.arguments_raw
    unencoded = not isinstance(value, str) and value is not None and canonical_json(value) == call.arguments_raw
    return value if unencoded else call.arguments_raw
