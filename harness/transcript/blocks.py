"""What is said in messages that are made of blocks, parts or items: messages, ``generateContent``, responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from harness.schema.base import JsonValue
from harness.schema.transcript import Speaker

__all__ = ["Said", "as_text", "content", "of_blocks", "of_item", "system", "tool_names"]

#: Where a request keeps what it says to the model beside the conversation.
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")


class Said(NamedTuple):
    """One text, whole."""

    speaker: Speaker
    about: str
    text: str


def as_text(value: JsonValue) -> str:
    """A text as it is, anything else as JSON; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def content(value: JsonValue) -> str:
    """A text, or the texts of its parts."""
    if isinstance(value, list):
        return "\n".join(content(part) for part in value)
    text = value.get("text") if isinstance(value, dict) else value
    return as_text(text if isinstance(text, str) else value)


def system(body: JsonValue) -> str:
    """What a request says beside its messages; nothing where that is among them."""
    for name in _SYSTEM if isinstance(body, dict) else ():
        found = body.get(name) if isinstance(body, dict) else None
        if found:
            parts = found.get("parts") if isinstance(found, dict) else None
            return content(found if parts is None else parts)
    return ""


def tool_names(tools: JsonValue) -> list[str]:
    """The names of the tools in a request, in any dialect."""
    found: list[str] = []
    for tool in tools if isinstance(tools, list) else ():
        given = tool if isinstance(tool, dict) else {}
        declared = given.get("functionDeclarations", given.get("function_declarations"))
        function = given.get("function")
        found += tool_names(declared) if isinstance(declared, list) else []
        name = function.get("name") if isinstance(function, dict) else given.get("name")
        found += [name] if isinstance(name, str) else []
    return found


def of_item(item: dict[str, JsonValue]) -> Iterable[Said] | None:
    """The texts of an item of responses that is no message; None for a message."""
    sort = item.get("type")
    if sort == "function_call":
        return [_call(item.get("name"), item.get("call_id"), item.get("arguments"))]
    if sort == "function_call_output":
        return [_result(item.get("call_id"), item.get("output"))]
    if sort == "reasoning":
        thought = content(item.get("summary") or [])
        return [Said("model", "thinks", thought)] if thought else []
    return None


def of_blocks(message: dict[str, JsonValue], speaker: Speaker) -> list[Said] | None:
    """The texts of a message that holds more than texts; None where it does not."""
    blocks = message.get("parts", message.get("content"))
    if not isinstance(blocks, list):
        return None
    found = [of for block in blocks for of in _of_block(block, speaker)]
    plain = "parts" not in message and all(not one.about and one.speaker == speaker for one in found)
    return None if plain else found


def _of_block(block: JsonValue, speaker: Speaker) -> Iterator[Said]:
    fields = block if isinstance(block, dict) else {}
    called, answered = fields.get("functionCall"), fields.get("functionResponse")
    text = fields.get("text")
    if isinstance(called, dict):
        yield _call(called.get("name"), called.get("id"), called.get("args"))
    elif isinstance(answered, dict):
        yield _result(answered.get("id") or answered.get("name"), answered.get("response"))
    elif fields.get("type") == "tool_use":
        yield _call(fields.get("name"), fields.get("id"), fields.get("input"))
    elif fields.get("type") == "tool_result":
        yield _result(fields.get("tool_use_id"), fields.get("content"))
    elif fields.get("type") == "thinking" or fields.get("thought"):
        yield Said("model", "thinks", as_text(fields.get("thinking", text)))
    elif not isinstance(text, str) or text:
        yield Said(speaker, "says" if speaker == "model" else "", content(block))


def _call(name: JsonValue, number: JsonValue, given: JsonValue) -> Said:
    about = f"calls {as_text(name)}"
    return Said("model", f"{about} ({number})" if isinstance(number, str) and number else about, as_text(given))


def _result(number: JsonValue, text: JsonValue) -> Said:
    return Said("tool", f"result of {as_text(number)}", content(text))
