"""From a reply to the body, and to the events, that a provider would send for it."""

from __future__ import annotations

from typing import Final

from harness.providers._gemini.parts import (
    Part,
    call_positions,
    is_bare_text,
    own_parts,
    plain_parts,
    reasoning_of,
    sent_calls,
    text_of,
)
from harness.providers._wire.answer import as_object
from harness.providers._wire.arguments import value_of
from harness.providers._wire.calls import MADE, seed_in
from harness.providers._wire.events import event_bytes
from harness.providers._wire.finish import FINISH_WORDS
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Reply, Usage
from harness.schema.tool import ToolCall

__all__ = ["reply_body", "reply_events"]

_WORDS: Final[dict[FinishReason, str]] = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "unknown": "OTHER",
}


def reply_body(reply: Reply) -> dict[str, JsonValue]:
    """The body whose decoding gives this reply back.

    ``opaque`` is the base of the content; a field of the reply that is set replaces what stands there.
    """
    body = _head(reply)
    if _is_blocked(reply):
        return {**body, "promptFeedback": {"blockReason": reply.finish_word}}
    return {**body, "candidates": [_candidate(_parts(reply), _end(reply)), *_others(reply)]}


def reply_events(reply: Reply) -> tuple[bytes, ...]:
    """The events whose folding and decoding gives this reply back."""
    if _is_blocked(reply):
        return (event_bytes(reply_body(reply)),)
    head = _head(reply)
    *earlier, last = _groups(_parts(reply)) or [[]]
    begun: dict[str, JsonValue] = {key: head[key] for key in head if key != "usageMetadata"}
    events: list[dict[str, JsonValue]] = [{**begun, "candidates": [_candidate(group)]} for group in earlier]
    end = _end(reply)
    events.append({**head, "candidates": [_candidate(last, end), *_others(reply)]})
    # an answer that gives no reason for its end is whole only where the stream says that it is over
    done = () if "finishReason" in end else (event_bytes("[DONE]"),)
    return (*(event_bytes(event) for event in events), *done)


def _head(reply: Reply) -> dict[str, JsonValue]:
    head: dict[str, JsonValue] = {}
    if reply.model is not None:
        head["modelVersion"] = reply.model
    if reply.usage is not None:
        head["usageMetadata"] = _usage(reply.usage)
    seed = seed_in(reply.calls)
    if seed is not None:
        head["responseId"] = seed
    return head


def _is_blocked(reply: Reply) -> bool:
    """Whether the question was refused: then there is no candidate, and the word is one for questions only."""
    said = reply.finish_word
    return reply.finish == "content_filter" and said is not None and FINISH_WORDS.get(said.lower()) != "content_filter"


def _candidate(parts: list[Part], end: dict[str, JsonValue] | None = None) -> JsonValue:
    return {"content": {"role": "model", "parts": [*parts]}, "index": 0, **(end or {})}


def _others(reply: Reply) -> list[JsonValue]:
    return [{"index": 1}] if "alternative_choices" in reply.quirks else []


def _end(reply: Reply) -> dict[str, JsonValue]:
    said = reply.finish_word
    if said is None and reply.finish is not None:
        unsaid = {"unknown", "tool_calls"} if "finish_missing" in reply.quirks else set()
        said = None if reply.finish in unsaid else _WORDS.get(reply.finish, reply.finish)
        if reply.finish == "tool_calls" and not reply.calls:
            said = reply.finish
    end: dict[str, JsonValue] = {} if said is None else {"finishReason": said}
    if reply.refusal is not None:
        end["finishMessage"] = reply.refusal
    return end


def _groups(parts: list[Part]) -> list[list[Part]]:
    """The parts, event by event: texts side by side that are two parts stay in one, else they would be put together."""
    groups: list[list[Part]] = []
    for part in parts:
        before = groups[-1][-1] if groups else None
        if before is not None and is_bare_text(before) and is_bare_text(part):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _parts(reply: Reply) -> list[Part]:
    parts = own_parts(reply.opaque)
    if parts is None:
        thought: list[Part] = [] if reply.reasoning is None else [{"text": reply.reasoning, "thought": True}]
        return [*thought, *plain_parts(reply.text, reply.calls)]
    if reply.text is not None and text_of(parts) != reply.text:
        parts = _with_text(parts, reply.text)
    if reply.reasoning is not None and reasoning_of(parts) != reply.reasoning:
        rest = [part for part in parts if not (part.get("thought") and "text" in part)]
        parts = [{"text": reply.reasoning, "thought": True}, *rest]
    return _with_calls(parts, reply.calls) if reply.calls else parts


def _is_said(part: Part) -> bool:
    return "text" in part and not part.get("thought")


def _with_text(parts: list[Part], text: str) -> list[Part]:
    """The parts with all text in the first part of text."""
    first = next((position for position, part in enumerate(parts) if _is_said(part)), len(parts))
    return [*parts[:first], {"text": text}, *(part for part in parts[first + 1 :] if not _is_said(part))]


def _with_calls(parts: list[Part], calls: tuple[ToolCall, ...]) -> list[Part]:
    """The parts with these calls: each in its place, further ones at the end."""
    placed = list(parts)
    positions = call_positions(parts)
    for position, call in zip(positions, calls, strict=False):
        placed[position] = _with_call(parts[position], call)
    return [*placed, *plain_parts(None, calls[len(positions) :])]


def _with_call(part: Part, call: ToolCall) -> Part:
    sent = sent_calls([part])[0]
    patched = dict(as_object(part["functionCall"]))
    if sent.name != call.name:
        patched["name"] = call.name
    if sent.id not in {None, call.id} or (sent.id is None and not MADE.fullmatch(call.id)):
        patched["id"] = call.id
    if sent.arguments.raw != call.arguments_raw:
        patched = {key: patched[key] for key in patched if key not in {"args", "partialArgs", "willContinue"}}
        patched["args"] = value_of(call.arguments_raw)
    return {**part, "functionCall": patched}


def _usage(usage: Usage) -> dict[str, JsonValue]:
    counts: dict[str, int | None] = {
        "promptTokenCount": usage.input_tokens,
        "cachedContentTokenCount": usage.cache_read_tokens,
        "thoughtsTokenCount": usage.reasoning_tokens,
    }
    if usage.output_tokens is not None:
        counts["candidatesTokenCount"] = usage.output_tokens - (usage.reasoning_tokens or 0)
        if usage.input_tokens is not None:
            counts["totalTokenCount"] = usage.input_tokens + usage.output_tokens
    return {name: number for name, number in counts.items() if number is not None}
