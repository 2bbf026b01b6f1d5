"""From a reply to the response object that a provider would send for it."""

from __future__ import annotations

from typing import Final, TypeAlias

from harness.providers._responses.items import (
    OUTPUT,
    call_sent,
    is_call,
    is_cut_off,
    output_of,
    parts_of,
    plain_output,
    texts_of,
)
from harness.providers._responses.reply import FINISHES, NOT_WORDS
from harness.providers._wire.answer import word
from harness.providers._wire.calls import MADE, made_id
from harness.providers._wire.usage_sent import usage_sent
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Reply

__all__ = ["reply_body"]

Item: TypeAlias = dict[str, JsonValue]

_WORDS: Final[dict[FinishReason | None, str]] = {
    "stop": "completed",
    "tool_calls": "completed",
    "refusal": "completed",
    "length": "max_output_tokens",
    "content_filter": "content_filter",
}
_TEXT: Final = frozenset({"output_text", "text"})


def reply_body(reply: Reply) -> Item:
    """The body whose decoding gives this reply back.

    The provider's own items are the base; a field of the reply that says something else replaces what stands there,
    so a reply that only has ``opaque`` goes out exactly as that is.
    """
    own = output_of(reply.opaque)
    items = [dict(item) for item in own or []]
    if own is None:
        items = [item for item in plain_output(reply.text, reply.calls) if isinstance(item, dict)]
    text, reasoning, refusal = texts_of(items)
    if reply.text is not None and reply.text != text:
        _put_part(items, _TEXT, {"type": "output_text", "text": reply.text, "annotations": []})
    if reply.refusal and reply.refusal != refusal:
        _put_part(items, frozenset({"refusal"}), {"type": "refusal", "refusal": reply.refusal})
    if reply.reasoning and reply.reasoning != reasoning:
        items = _with_reasoning(items, reply.reasoning)
    seed = _seed_of(items, reply)
    items = _with_calls(items, reply, seed)
    body: Item = {"id": seed, "object": "response", OUTPUT: list(items), **_status(items, reply)}
    if reply.model is not None:
        body["model"] = reply.model
    if reply.usage is not None:
        body["usage"] = usage_sent(reply.usage, "input_tokens", "output_tokens")
    return body


def _put_part(items: list[Item], kinds: frozenset[str], part: Item) -> None:
    """The part in the first message, in place of all parts of these kinds; in a new message before the calls."""
    messages = [item for item in items if item.get("type") == "message"]
    for message in messages:
        message["content"] = [one for one in parts_of(message) if word(one.get("type")) not in kinds]
    if messages:
        messages[0]["content"] = [part, *parts_of(messages[0])]
        return
    place = next((place for place, item in enumerate(items) if is_call(item)), len(items))
    items.insert(place, {"type": "message", "role": "assistant", "content": [part]})


def _with_reasoning(items: list[Item], said: str) -> list[Item]:
    summary: JsonValue = [{"type": "summary_text", "text": said}]
    found = False
    changed: list[Item] = []
    for item in items:
        if item.get("type") == "reasoning":
            rest = {key: value for key, value in item.items() if key != "content"}
            changed.append({**rest, "summary": [] if found else summary})
            found = True
        else:
            changed.append(item)
    return changed if found else [{"type": "reasoning", "summary": summary}, *changed]


def _seed_of(items: list[Item], reply: Reply) -> str:
    """The response id from which a decoder makes the ids of this reply that were made."""
    for item, call in zip([item for item in items if is_call(item)], reply.calls, strict=False):
        made = MADE.fullmatch(call.id) if call_sent(item).id is None else None
        if made is not None:
            return made[1]
    return "resp"


def _with_calls(items: list[Item], reply: Reply, seed: str) -> list[Item]:
    if not reply.calls:
        return items
    left = list(enumerate(reply.calls, 1))
    changed: list[Item] = []
    for item in items:
        if not is_call(item):
            changed.append(item)
            continue
        if not left:
            continue
        position, call = left.pop(0)
        sent = call_sent(item)
        update: Item = {}
        if call.id not in {sent.id, made_id(seed, position) if sent.id is None else None}:
            update["call_id"] = call.id
        if call.name != sent.name:
            update["name"] = call.name
        if call.arguments_raw != sent.arguments.raw:
            update["arguments"] = call.arguments_raw
        changed.append({**item, **update})
    more = plain_output(None, [call for _, call in left])
    return [*changed, *(item for item in more if isinstance(item, dict))]


def _status(items: list[Item], reply: Reply) -> Item:
    said = reply.finish_word
    if said is None and "finish_missing" not in reply.quirks:
        said = _WORDS.get(reply.finish)
    if said is None:
        return {}
    if said == "incomplete":
        return {"status": "incomplete", "incomplete_details": None}
    last = next((item for item in reversed(items) if is_call(item)), None)
    cut = bool(reply.calls) and reply.calls[-1].fault == "truncated" and last is not None and not is_cut_off(last)
    if cut or said in NOT_WORDS or FINISHES.get(said, "stop") != "stop":
        return {"status": "incomplete", "incomplete_details": {"reason": said}}
    return {"status": said}
