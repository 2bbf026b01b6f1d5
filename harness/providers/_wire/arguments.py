"""What a model passed to a tool: decoded without loss, or a fault; never a guess."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from harness.providers._wire.strict_json import NotJsonError, Repeating, read_json, spelled
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import Quirk
from harness.schema.tool import CallFault, ToolCall

__all__ = ["Arguments", "read_arguments", "sendable_arguments", "value_of", "whole_arguments"]

#: Under this key the text of arguments that are no JSON object goes back to the model: many servers parse the
#: arguments of earlier calls and refuse the whole conversation where they cannot.
MALFORMED_KEY = "malformed_arguments"

MALFORMED: Final = "malformed_arguments"

#: The longest arguments of which is remembered whether they are an object, in characters.
_REMEMBERED: Final = 4096


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments as they arrived (``raw``) and as they are read (``value``, None with a ``fault``)."""

    raw: str
    value: dict[str, JsonValue] | None
    fault: CallFault | None = None
    quirks: tuple[Quirk, ...] = ()


def read_arguments(sent: JsonValue) -> Arguments:
    """Arguments from the wire: normally a text holding a JSON object.

    Read without loss and reported: an object in place of the text, nothing at all (a call without arguments), raw
    control characters inside strings, an object encoded twice. Anything else is ``malformed_arguments``, an object too
    that has a key twice: nobody knows which of its values was meant.
    """
    if sent is None or (isinstance(sent, str) and not sent.strip()):
        return Arguments(sent or "", {}, quirks=("empty_arguments",))
    if not isinstance(sent, str):
        quirk: tuple[Quirk, ...] = ("arguments_not_string",)
        found = _whole(sent)
        return found if "repeated_keys" in found.quirks else replace(found, quirks=quirk)
    value, quirks = _lenient(sent)
    if isinstance(value, str):
        value, more = _lenient(value)
        quirks = ("double_encoded_arguments", *quirks, *more)
    if isinstance(value, Repeating):
        return Arguments(sent, None, MALFORMED, ("repeated_keys",))
    if isinstance(value, dict):
        return Arguments(sent, value, quirks=quirks)
    return Arguments(sent, None, MALFORMED)


def whole_arguments(sent: JsonValue) -> Arguments:
    """Arguments from the wire of a dialect that has an object where others have a text holding one."""
    if sent is not None and not isinstance(sent, str):
        return _whole(sent)
    found = read_arguments(sent)
    if found.value is None or not found.raw.strip():
        return found
    return replace(found, quirks=("double_encoded_arguments", *found.quirks))


def _whole(sent: dict[str, JsonValue] | list[JsonValue] | float | bool) -> Arguments:
    """Arguments that are no text."""
    if isinstance(sent, Repeating):
        return Arguments(spelled(sent), None, MALFORMED, ("repeated_keys",))
    raw = canonical_json(sent)
    return Arguments(raw, sent) if isinstance(sent, dict) else Arguments(raw, None, MALFORMED)


def value_of(raw: str) -> JsonValue:
    """What ``whole_arguments`` reads as this text: its JSON value, the text itself where it has none that says all."""
    try:
        value = read_json(raw)
    except NotJsonError:
        return raw
    return raw if value is None or isinstance(value, str | Repeating) else value


def _lenient(text: str) -> tuple[JsonValue, tuple[Quirk, ...]]:
    """The JSON value of a text, and its oddities; None where there is none (or null, which is no object either)."""
    try:
        return read_json(text), ()
    except NotJsonError:
        pass
    try:
        return read_json(text, control_chars=True), ("raw_control_chars",)
    except NotJsonError:
        return None, ()


def _is_object(text: str) -> bool:
    try:
        value = read_json(text)
    except NotJsonError:
        return False
    return isinstance(value, dict) and not isinstance(value, Repeating)


#: Each request sends the calls of all turns before it.
_is_known_object = lru_cache(256)(_is_object)


def sendable_arguments(call: ToolCall) -> str:
    """The arguments of an earlier call as a text holding a JSON object: verbatim where it is one already."""
    raw = call.arguments_raw
    if _is_known_object(raw) if len(raw) <= _REMEMBERED else _is_object(raw):
        return raw
    return canonical_json({MALFORMED_KEY: call.arguments_raw} if call.arguments is None else call.arguments)
