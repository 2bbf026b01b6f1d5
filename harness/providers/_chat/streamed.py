"""From a reply to the events that a provider would stream for it."""

from __future__ import annotations

from harness.providers._chat.body import reply_body
from harness.providers._wire.answer import as_object
from harness.providers._wire.events import event_bytes
from harness.schema.base import JsonValue
from harness.schema.message import Quirk, Reply

__all__ = ["stream_events"]


def stream_events(reply: Reply) -> tuple[bytes, ...]:
    """Events whose decoding gives this reply back, with all quirks that a stream can have."""
    body = reply_body(reply)
    choices = body["choices"]
    head: dict[str, JsonValue] = {key: body[key] for key in ("id", "model", "system_fingerprint") if key in body}
    head["object"] = "chat.completion.chunk"
    events = []
    for choice in [as_object(one) for one in choices] if isinstance(choices, list) else []:
        delta = _delta(as_object(choice["message"]), reply.quirks)
        for part, word in ((delta, None), ({}, choice["finish_reason"])):
            told: JsonValue = {"index": choice["index"], "delta": part, "finish_reason": word}
            events.append(event_bytes({**head, "choices": [told]}))
    if "usage" in body:
        events.append(event_bytes({**head, "choices": [], "usage": body["usage"]}))
    return (*events, event_bytes("[DONE]"))


def _delta(message: dict[str, JsonValue], quirks: tuple[Quirk, ...]) -> dict[str, JsonValue]:
    sent = message.get("tool_calls")
    if not isinstance(sent, list):
        return message
    if "missing_index" in quirks:
        return message
    reused = "index_reused" in quirks
    calls: list[JsonValue] = [{**as_object(one), "index": 0 if reused else at} for at, one in enumerate(sent)]
    return {**message, "tool_calls": calls}
