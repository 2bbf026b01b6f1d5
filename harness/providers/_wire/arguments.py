"""What a model passed to a tool: decoded without loss, or a fault; never a guess."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from harness.providers._wire.strict_json import NotJsonError, read_json
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import Quirk
from harness.schema.tool import CallFault, ToolCall

__all__ = ["Arguments", "read_arguments", "sendable_arguments", "value_of", "whole_arguments"]

#: Under this key the text of arguments that are no JSON object goes back to the model: many servers parse the
#: arguments of earlier calls and refuse the whole conversation where they cannot.
MALFORMED_KEY = "malformed_arguments"

MALFORMED: Final = "malformed_arguments"


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
    control characters inside strings, an object encoded twice. Anything else is ``malformed_arguments``.
    """
    if sent is None or (isinstance(sent, str) and not sent.strip()):
        return Arguments(sent or "", {}, quirks=("empty_arguments",))
    if not isinstance(sent, str):
        raw = canonical_json(sent)
        quirk: tuple[Quirk, ...] = ("arguments_not_string",)
        return Arguments(raw, sent, None, quirk) if isinstance(sent, dict) else Arguments(raw, None, MALFORMED, quirk)
    found, quirks = _lenient(sent)
    if isinstance(found, str):
        found, more = _lenient(found)
        quirks = ("double_encoded_arguments", *quirks, *more)
    if isinstance(found, dict):
        return Arguments(sent, found, quirks=quirks)
    return Arguments(sent, None, MALFORMED)


def whole_arguments(sent: JsonValue) -> Arguments:
    """Arguments from the wire of a dialect that has an object where others have a text holding one."""
    if isinstance(sent, dict):
        return Arguments(canonical_json(sent), sent)
    if sent is not None and not isinstance(sent, str):
        return Arguments(canonical_json(sent), None, MALFORMED)
    found = read_arguments(sent)
    if found.value is None or not found.raw.strip():
        return found
    return replace(found, quirks=("double_encoded_arguments", *found.quirks))


def value_of(raw: str) -> JsonValue:
    """What ``whole_arguments`` reads as this text: its JSON value, the text itself where it has none."""
    try:
        value = read_json(raw)
    except NotJsonError:
        return raw
    return raw if value is None or isinstance(value, str) else value


def _lenient(text: str) -> tuple[JsonValue, tuple[Quirk, ...]]:
    """The JSON value of a text; None where there is none (or null, which is no object either)."""
    try:
        return read_json(text), ()
    except NotJsonError:
        pass
    try:
        return read_json(text, control_chars=True), ("raw_control_chars",)
    except NotJsonError:
        return None, ()


def sendable_arguments(call: ToolCall) -> str:
    """The arguments of an earlier call as a text holding a JSON object: verbatim where it is one already."""
    try:
        if isinstance(read_json(call.arguments_raw), dict):
            return call.arguments_raw
    except NotJsonError:
        pass
    value: JsonValue = {MALFORMED_KEY: call.arguments_raw} if call.arguments is None else call.arguments
    return canonical_json(value)
