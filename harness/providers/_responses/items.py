"""The output items of a response: what they say, and as what they are sent back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TypeAlias

from harness.providers._wire.answer import as_object
from harness.providers._wire.arguments import read_arguments, sendable_arguments
from harness.providers._wire.calls import CallSent
from harness.schema.base import JsonValue
from harness.schema.tool import ToolCall

__all__ = [
    "call_sent",
    "is_call",
    "is_cut_off",
    "output_of",
    "parts_of",
    "plain_output",
    "sendable_id",
    "sent_back",
    "texts_of",
]

Item: TypeAlias = dict[str, JsonValue]

#: Under this key the items lie in what must be sent back.
OUTPUT = "output"
#: What item ids begin with; one that begins otherwise is refused.
_PREFIXES = {"function_call": "fc", "message": "msg"}
#: The longest id of a call that is accepted.
_ID_MAX = 64


def output_of(opaque: JsonValue) -> list[Item] | None:
    """The items in what must be sent back; None for what is none of this dialect."""
    sent = opaque.get(OUTPUT) if isinstance(opaque, dict) and len(opaque) == 1 else None
    if not isinstance(sent, list):
        return None
    items = [item for item in sent if isinstance(item, dict)]
    return items if len(items) == len(sent) else None


def is_call(item: Item) -> bool:
    """Whether the item is a call of a tool that we declared; built-in tools run at the provider's."""
    return item.get("type") == "function_call"


def is_cut_off(item: Item) -> bool:
    """Whether an item says of itself that it is not whole."""
    return item.get("status") in ("incomplete", "in_progress")


def parts_of(item: Item) -> list[Item]:
    """The content parts of a message or a reasoning item; some servers send a message's text without parts."""
    content = item.get("content")
    if isinstance(content, str):
        return [{"type": "output_text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def texts_of(items: Sequence[Item]) -> tuple[str | None, str | None, str | None]:
    """Text, reasoning and refusal, each joined without a separator; reasoning itself goes before its summary."""
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    for item in items:
        if item.get("type") == "message":
            parts = parts_of(item)
            texts += [_text(part, "text") for part in parts if part.get("type") in ("output_text", "text")]
            refusals += [_text(part, "refusal") for part in parts if part.get("type") == "refusal"]
        elif item.get("type") == "reasoning":
            said = "".join(_text(part, "text") for part in parts_of(item))
            summary = item.get("summary")
            parts = [as_object(part) for part in summary] if isinstance(summary, list) else []
            thoughts.append(said or "".join(_text(part, "text") for part in parts))
    return "".join(texts) if texts else None, "".join(thoughts) or None, "".join(refusals) or None


def call_sent(item: Item) -> CallSent:
    """The call that a ``function_call`` item makes; its id is ``call_id``, never the id of the item."""
    given, name = item.get("call_id"), item.get("name")
    return CallSent(
        id=given if isinstance(given, str) and given.strip() else None,
        name=name if isinstance(name, str) else "",
        arguments=read_arguments(item.get("arguments")),
        cut=is_cut_off(item),
    )


def plain_output(text: str | None, calls: Sequence[ToolCall]) -> list[JsonValue]:
    """Items made from our fields alone."""
    items: list[JsonValue] = []
    if text is not None:
        part: JsonValue = {"type": "output_text", "text": text, "annotations": []}
        items.append({"type": "message", "role": "assistant", "content": [part]})
    items.extend(_plain_call(call, call.arguments_raw) for call in calls)
    return items


def _plain_call(call: ToolCall, arguments: str) -> JsonValue:
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def sent_back(text: str | None, calls: Sequence[ToolCall], opaque: JsonValue) -> list[JsonValue]:
    """Input items for an earlier reply: the provider's own, in order, else items made from text and calls.

    Nothing is kept at the provider's, so an item must hold all that it stands for: reasoning that cannot be read back
    is left out, and with it the ids that would point to it. So is reasoning that nothing follows, which is refused.
    """
    own = output_of(opaque)
    if own is None:
        said: list[JsonValue] = [] if text is None else [{"role": "assistant", "content": text}]
        return [*said, *(_sent_call({}, call) for call in calls)]
    kept = [item for item in own if item.get("type") != "reasoning" or _can_be_read_back(item)]
    has_ids = len(kept) == len(own)
    while kept and kept[-1].get("type") == "reasoning":
        kept.pop()
    left = list(calls)
    sent: list[JsonValue] = []
    for item in kept:
        clean = _clean(item, has_ids=has_ids)
        if not is_call(item):
            sent.append(clean)
        elif left:  # a call without an answer to it is refused
            sent.append(_sent_call(clean, left.pop(0)))
    return [*sent, *(_sent_call({}, call) for call in left)]


def _sent_call(item: Item, call: ToolCall) -> JsonValue:
    return {
        **item,
        "type": "function_call",
        "call_id": sendable_id(call.id),
        "name": call.name,
        "arguments": sendable_arguments(call),
    }


def sendable_id(id_: str) -> str:
    """An id of a call as it goes out: itself where it is accepted, else one made from it, the same each time."""
    if id_.strip() and len(id_) <= _ID_MAX:
        return id_
    return f"call_{sha256(id_.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def _can_be_read_back(item: Item) -> bool:
    return bool(item.get("encrypted_content") or parts_of(item))


def _clean(item: Item, *, has_ids: bool) -> Item:
    """An item without what is refused in an input: nulls, ids that are none, the status of reasoning."""
    kept: Item = {key: value for key, value in item.items() if value is not None}
    kind, id_ = item.get("type"), item.get("id")
    prefix = _PREFIXES.get(kind, "") if isinstance(kind, str) else ""
    if not (isinstance(id_, str) and re.match(rf"{prefix}.", id_)) or (prefix and not has_ids):
        kept.pop("id", None)
    if kind == "reasoning":
        kept.pop("status", None)
        kept.setdefault("summary", [])
    content = item.get("content")
    if isinstance(content, list):
        kept["content"] = [
            {key: value for key, value in part.items() if value is not None} if isinstance(part, dict) else part
            for part in content
        ]
    return kept


def _text(part: Item, key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""
