"""The blocks of an assistant's message of the messages API: as they came, and as they are made from our fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness.providers._wire.answer import as_object, word
from harness.providers._wire.arguments import read_arguments, value_of, whole_arguments
from harness.providers._wire.calls import CallSent
from harness.schema.base import JsonValue, canonical_json
from harness.schema.tool import ToolCall

__all__ = [
    "Block",
    "as_blocks",
    "call_positions",
    "opaque_of",
    "own_blocks",
    "plain_blocks",
    "reasoning_of",
    "sent_calls",
    "text_of",
]

Block = dict[str, JsonValue]


def as_blocks(content: JsonValue) -> list[Block] | None:
    """The blocks of a message; None where what stands there is no list of objects."""
    if not isinstance(content, list):
        return None
    blocks = [block for block in content if isinstance(block, dict)]
    return blocks if len(blocks) == len(content) else None


def own_blocks(opaque: JsonValue) -> list[Block] | None:
    """The blocks of a message that ``opaque_of`` made; None for a message of another dialect."""
    if not isinstance(opaque, dict) or set(opaque) != {"role", "content"} or opaque["role"] != "assistant":
        return None
    blocks = as_blocks(opaque["content"])
    return blocks if blocks and all(word(block.get("type")) for block in blocks) else None


def opaque_of(blocks: list[Block], text: str | None, calls: tuple[ToolCall, ...]) -> JsonValue:
    """The message that must go back; None where ``plain_blocks`` says as much."""
    if not blocks or canonical_json([*blocks]) == canonical_json([*plain_blocks(text, calls)]):
        return None
    return {"role": "assistant", "content": [*blocks]}


def plain_blocks(text: str | None, calls: tuple[ToolCall, ...]) -> list[Block]:
    """Blocks made from our fields alone: the text first, then the calls."""
    said: list[Block] = [] if text is None else [{"type": "text", "text": text}]
    return [*said, *(_plain_call(call) for call in calls)]


def _plain_call(call: ToolCall) -> Block:
    block: Block = {"type": "tool_use", "id": call.id, "name": call.name}
    if call.arguments_raw:
        block["input"] = value_of(call.arguments_raw)
    return block


def call_positions(blocks: list[Block]) -> list[int]:
    """Where the calls stand. What the provider runs on its own side is none of ours."""
    return [position for position, block in enumerate(blocks) if block.get("type") == "tool_use"]


def sent_calls(
    blocks: list[Block], texts: Mapping[int, str], still_open: Collection[int] = (), *, has_reason: bool = True
) -> list[CallSent]:
    """The calls of a message; ``texts`` holds, by position, the arguments that were streamed as text.

    One that is ``still_open`` at the end of its stream lacks its end, unless it has an object, which ends by itself,
    and the answer ``has_reason`` to end.
    """
    calls = []
    for position in call_positions(blocks):
        block = blocks[position]
        streamed = texts.get(position)
        arguments = whole_arguments(block.get("input")) if streamed is None else read_arguments(streamed)
        given = word(block.get("id"))
        id_ = given if given is not None and given.strip() else None
        is_object = bool(arguments.value) or (streamed is not None and not arguments.fault)
        has_end = position not in still_open or (has_reason and is_object)
        calls.append(CallSent(id_, word(block.get("name")) or "", arguments, cut=not has_end))
    return calls


def text_of(blocks: list[Block]) -> str | None:
    """All text, joined; None where there is no block of text."""
    texts = [word(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
    return "".join(texts) if texts else None


def reasoning_of(blocks: list[Block]) -> str | None:
    """All thoughts that can be read, joined; None where there are none. What is redacted is only sent back."""
    thoughts = [word(as_object(block).get("thinking")) or "" for block in blocks if block.get("type") == "thinking"]
    return "".join(thoughts) or None
