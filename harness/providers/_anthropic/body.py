"""From a reply to the body, and to the events, that a provider would send for it."""

from __future__ import annotations

from typing import Final

from harness.providers._anthropic.content import (
    Block,
    call_positions,
    own_blocks,
    plain_blocks,
    reasoning_of,
    sent_calls,
    text_of,
)
from harness.providers._wire.arguments import read_arguments, value_of
from harness.providers._wire.calls import MADE, CallSent, seed_in
from harness.providers._wire.events import event_bytes
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Reply, Usage
from harness.schema.tool import ToolCall

__all__ = ["reply_body", "reply_events"]

_WORDS: Final[dict[FinishReason, str]] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "pause": "pause_turn",
}
#: Block -> the field that is streamed, and the delta that does it.
_STREAMED: Final = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}


def reply_body(reply: Reply) -> dict[str, JsonValue]:
    """The body whose decoding gives this reply back; only the spelling of streamed arguments cannot be told by it.

    ``opaque`` is the base of the message; a field of the reply that is set replaces what stands there.
    """
    body: dict[str, JsonValue] = {
        "id": _seed_of(reply),
        "type": "message",
        "role": "assistant",
        "content": [*_blocks(reply)],
        "stop_reason": _word(reply),
        "stop_sequence": None,
    }
    if reply.model is not None:
        body["model"] = reply.model
    if reply.refusal is not None:
        body["stop_details"] = {"type": "refusal", "explanation": reply.refusal}
    if reply.usage is not None:
        body["usage"] = _usage(reply.usage)
    return body


def reply_events(reply: Reply) -> tuple[bytes, ...]:
    """The events whose folding and decoding gives this reply back."""
    body = reply_body(reply)
    blocks = _blocks(reply)
    end: dict[str, JsonValue] = {
        key: body[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in body
    }
    begun: dict[str, JsonValue] = {key: value for key, value in body.items() if key not in {"usage", *end}}
    begun |= {"content": [], "stop_reason": None, "stop_sequence": None}
    last: dict[str, JsonValue] = {"type": "message_delta", "delta": end}
    if "usage" in body:
        last["usage"] = body["usage"]
    made = dict(zip(call_positions(blocks), reply.calls, strict=False))
    events: list[dict[str, JsonValue]] = [{"type": "message_start", "message": begun}]
    reused = "index_reused" in reply.quirks
    for position, block in enumerate(blocks):
        index = 0 if reused and position == len(blocks) - 1 else position
        events += _block_events(index, block, made.get(position))
    if "missing_index" in reply.quirks:
        events.append({"type": "content_block_delta", "delta": {}} if blocks else {"type": "content_block_stop"})
    events += [last, {"type": "message_stop"}]
    return tuple(event_bytes(event, str(event["type"])) for event in events)


def _block_events(index: int, block: Block, call: ToolCall | None) -> list[dict[str, JsonValue]]:
    """A block that is begun, goes on, and is closed; that of a call that was cut off stays open."""
    is_cut = call is not None and call.fault == "truncated"
    raw = None if call is None or (is_cut and call.arguments_raw == "{}") else call.arguments_raw
    begun: Block = dict(block)
    delta: dict[str, JsonValue] | None = None
    field, kind = _STREAMED.get(str(block.get("type")), ("", ""))
    value = block.get(field) if field else None
    if isinstance(value, str):
        begun[field], delta = "", {"type": kind, field: value}
    elif raw is not None and raw.strip() and _says_as_text(block, raw):
        begun["input"], delta = {}, {"type": "input_json_delta", "partial_json": raw}
    events: list[dict[str, JsonValue]] = [{"type": "content_block_start", "index": index, "content_block": begun}]
    if delta is not None:
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
    return events if is_cut else [*events, {"type": "content_block_stop", "index": index}]


def _says_as_text(block: Block, raw: str) -> bool:
    """Whether the arguments mean the same when they come as text; an input that is odd as a whole cannot."""
    if not isinstance(block.get("input"), str):
        return True
    found = sent_calls([block], {})[0].arguments
    return found == read_arguments(raw) or not found.quirks


def _seed_of(reply: Reply) -> str:
    """The response id from which a decoder makes the ids of this reply that were made."""
    seed = seed_in(reply.calls) if "missing_call_id" in reply.quirks else None
    return seed or "msg_made"


def _word(reply: Reply) -> str | None:
    if reply.finish_word is not None or reply.finish is None:
        return reply.finish_word
    unsaid = {"unknown", "tool_calls", "refusal"} if "finish_missing" in reply.quirks else {"unknown"}
    return None if reply.finish in unsaid else _WORDS.get(reply.finish, reply.finish)


def _blocks(reply: Reply) -> list[Block]:
    blocks = own_blocks(reply.opaque)
    if blocks is None:
        thought: list[Block] = []
        if reply.reasoning is not None:
            thought = [{"type": "thinking", "thinking": reply.reasoning, "signature": ""}]
        return [*thought, *plain_blocks(reply.text, reply.calls)]
    if reply.text is not None and text_of(blocks) != reply.text:
        blocks = _with_text(blocks, reply.text)
    if reply.reasoning is not None and reasoning_of(blocks) != reply.reasoning:
        rest = [block for block in blocks if block.get("type") != "thinking"]
        blocks = [{"type": "thinking", "thinking": reply.reasoning, "signature": ""}, *rest]
    return _with_calls(blocks, reply.calls) if reply.calls else blocks


def _with_text(blocks: list[Block], text: str) -> list[Block]:
    """The blocks with all text in the first block of text."""
    first = next((position for position, block in enumerate(blocks) if block.get("type") == "text"), len(blocks))
    kept = [block for block in blocks[first + 1 :] if block.get("type") != "text"]
    return [*blocks[:first], {"type": "text", "text": text}, *kept]


def _with_calls(blocks: list[Block], calls: tuple[ToolCall, ...]) -> list[Block]:
    """The blocks with these calls: each in its place, further ones at the end."""
    placed = list(blocks)
    positions = call_positions(blocks)
    for position, call in zip(positions, calls, strict=False):
        placed[position] = _with_call(blocks[position], call)
    return [*placed, *plain_blocks(None, calls[len(positions) :])]


def _with_call(block: Block, call: ToolCall) -> Block:
    sent: CallSent = sent_calls([block], {})[0]
    patched = dict(block)
    if sent.name != call.name:
        patched["name"] = call.name
    if sent.id not in {None, call.id} or (sent.id is None and not MADE.fullmatch(call.id)):
        patched["id"] = call.id
    if sent.arguments.raw != call.arguments_raw:
        patched["input"] = value_of(call.arguments_raw)
    return patched


def _usage(usage: Usage) -> dict[str, JsonValue]:
    counts: dict[str, JsonValue] = {}
    if usage.input_tokens is not None:
        cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
        counts["input_tokens"] = max(usage.input_tokens - cached, 0)
    if usage.output_tokens is not None:
        counts["output_tokens"] = usage.output_tokens
    if usage.cache_read_tokens is not None:
        counts["cache_read_input_tokens"] = usage.cache_read_tokens
    if usage.cache_write_tokens is not None:
        counts["cache_creation_input_tokens"] = usage.cache_write_tokens
    return counts
