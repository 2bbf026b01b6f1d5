"""The parts of a model's content in Gemini's dialect: as they came, and as they are made from our fields."""

from __future__ import annotations

from collections.abc import Sequence

from harness.providers._wire.answer import as_object, word
from harness.providers._wire.arguments import Arguments, value_of, whole_arguments
from harness.providers._wire.calls import MADE, CallSent
from harness.schema.base import JsonValue, canonical_json
from harness.schema.tool import ToolCall

__all__ = [
    "Part",
    "as_parts",
    "call_positions",
    "is_bare_text",
    "opaque_of",
    "own_parts",
    "plain_parts",
    "reasoning_of",
    "sent_calls",
    "text_of",
]

Part = dict[str, JsonValue]


def as_parts(content: JsonValue) -> list[Part] | None:
    """The parts of a content, which may have none; None where what stands there is no content."""
    if content is None:
        return []
    sent = content.get("parts") if isinstance(content, dict) else 0
    if sent is None:
        return []
    if not isinstance(sent, list):
        return None
    parts = [part for part in sent if isinstance(part, dict)]
    return parts if len(parts) == len(sent) and all(_is_part(part) for part in parts) else None


def _is_part(part: Part) -> bool:
    call = part.get("functionCall")
    return isinstance(part.get("text") or "", str) and (call is None or isinstance(call, dict))


def own_parts(opaque: JsonValue) -> list[Part] | None:
    """The parts of a content that ``opaque_of`` made; None for a message of another dialect."""
    if not isinstance(opaque, dict) or set(opaque) != {"role", "parts"} or opaque["role"] != "model":
        return None
    return as_parts(opaque) or None


def opaque_of(parts: list[Part], text: str | None, calls: tuple[ToolCall, ...]) -> JsonValue:
    """The content that must go back; None where ``plain_parts`` says as much."""
    if not parts or canonical_json([*parts]) == canonical_json([*plain_parts(text, calls)]):
        return None
    return {"role": "model", "parts": [*parts]}


def plain_parts(text: str | None, calls: tuple[ToolCall, ...]) -> list[Part]:
    """Parts made from our fields alone: the text first, then the calls."""
    said: list[Part] = [] if text is None else [{"text": text}]
    return [*said, *(_plain_call(call) for call in calls)]


def _plain_call(call: ToolCall) -> Part:
    made: dict[str, JsonValue] = {"name": call.name}
    # the API gave none, and gets none back
    if not MADE.fullmatch(call.id):
        made["id"] = call.id
    if call.arguments_raw:
        made["args"] = value_of(call.arguments_raw)
    return {"functionCall": made}


def call_positions(parts: Sequence[Part]) -> list[int]:
    """Where the calls stand. What the provider runs on its own side is none of ours."""
    return [position for position, part in enumerate(parts) if isinstance(part.get("functionCall"), dict)]


def sent_calls(parts: list[Part]) -> list[CallSent]:
    """The calls of a content; ``id`` is None where the model gives none."""
    calls = []
    for position in call_positions(parts):
        call = as_object(parts[position]["functionCall"])
        given = word(call.get("id"))
        id_ = given if given is not None and given.strip() else None
        calls.append(CallSent(id_, word(call.get("name")) or "", _arguments(call)))
    return calls


def _arguments(call: dict[str, JsonValue]) -> Arguments:
    pieces = call.get("partialArgs")
    if pieces or call.get("willContinue"):
        # arguments in pieces of their own, which are never asked for: what is here is not all of them
        return Arguments(canonical_json(pieces), None, "malformed_arguments")
    return whole_arguments(call.get("args"))


def is_bare_text(part: Part) -> bool:
    """Whether a part is a text, or a thought, and nothing besides."""
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def text_of(parts: list[Part]) -> str | None:
    """All text that is no thought, joined; None where there is no such part."""
    texts = [word(part["text"]) or "" for part in parts if "text" in part and not part.get("thought")]
    return "".join(texts) if texts else None


def reasoning_of(parts: list[Part]) -> str | None:
    """All thoughts that can be read, joined; None where there are none."""
    return "".join(word(part.get("text")) or "" for part in parts if part.get("thought")) or None
