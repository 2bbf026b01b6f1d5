"""Arguments: one JSON object, checked against the tool's schema, never repaired."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from harness.gate.stop import GateStop
from harness.schema.base import JsonValue
from harness.schema.remembering import remembered
from harness.schema.tool import ToolCall, ToolSpec

__all__ = ["check_decoded", "check_schema", "check_size"]


def check_decoded(call: ToolCall) -> GateStop | None:
    """C4: the arguments are one JSON object, as the provider's codec found them."""
    if call.fault is None and call.arguments is not None:
        return None
    wrong = (
        "it was cut off before its end"
        if call.fault == "truncated"
        else "its arguments are not one JSON object in which each key stands once"
    )
    return GateStop("parse_error", call.fault or "not_an_object", f"error: the call did not run: {wrong}")


def check_size(call: ToolCall, *, argument_bytes: int) -> GateStop | None:
    """The size bound (UTF-8 bytes of the raw text): nothing of a larger text is read, its kind included."""
    size = len(call.arguments_raw.encode("utf-8", "surrogatepass"))
    if size <= argument_bytes:
        return None
    text = f"error: the arguments are {size} bytes, at most {argument_bytes} are taken; the call did not run"
    return GateStop("invalid_arguments", "size", text)


@remembered(128)
def _validator(spec: ToolSpec) -> Draft202012Validator:
    """The tool's schema, ready to check."""
    return Draft202012Validator(spec.parameters)


@remembered(128)
def _plain_texts(spec: ToolSpec) -> frozenset[str] | None:
    """The names of the arguments where the schema asks for texts by these names, all of them, and for nothing else.

    That is how every command tool is declared; what fits needs no validator to say so.
    """
    asked = spec.parameters.get("properties")
    names = frozenset(asked) if isinstance(asked, dict) else frozenset()
    required = spec.parameters.get("required")
    said: dict[str, JsonValue] = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": required,
        "additionalProperties": False,
    }
    is_all = isinstance(required, list) and sorted(map(str, required)) == sorted(names)
    return names if is_all and spec.parameters == said else None


def _are(arguments: dict[str, JsonValue], names: frozenset[str]) -> bool:
    """Whether the arguments are texts by exactly these names."""
    return arguments.keys() == names and all(isinstance(value, str) for value in arguments.values())


def check_schema(call: ToolCall, spec: ToolSpec, *, argument_bytes: int) -> GateStop | None:
    """C7: the arguments fit the declared schema and the size bound (UTF-8 bytes of the raw text)."""
    large = check_size(call, argument_bytes=argument_bytes)
    if large is not None:
        return large
    plain = _plain_texts(spec)
    if plain is not None and call.arguments is not None and _are(call.arguments, plain):
        return None
    errors = sorted(_validator(spec).iter_errors(call.arguments), key=lambda e: list(e.path))
    if not errors:
        return None
    first = errors[0]
    place = "/" + "/".join(str(part) for part in first.path)
    rule = str(first.validator)
    return GateStop("invalid_arguments", rule, f"error: arguments at {place} break {rule!r}; the call did not run")
