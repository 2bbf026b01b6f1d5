"""Arguments: one JSON object, checked against the tool's schema, never repaired."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from harness.gate.stop import GateStop
from harness.schema.remembering import remembered
from harness.schema.tool import ToolCall, ToolSpec

__all__ = ["check_decoded", "check_schema", "check_size"]


def check_decoded(call: ToolCall) -> GateStop | None:
    """C4: the arguments are one JSON object, as the provider's codec found them."""
    if call.fault is None and call.arguments is not None:
        return None
    source = call.fault or "not_an_object"
    return GateStop("parse_error", source, "error: the arguments are not one JSON object; the call did not run")


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


def check_schema(call: ToolCall, spec: ToolSpec, *, argument_bytes: int) -> GateStop | None:
    """C7: the arguments fit the declared schema and the size bound (UTF-8 bytes of the raw text)."""
    large = check_size(call, argument_bytes=argument_bytes)
    if large is not None:
        return large
    errors = sorted(_validator(spec).iter_errors(call.arguments), key=lambda e: list(e.path))
    if not errors:
        return None
    first = errors[0]
    place = "/" + "/".join(str(part) for part in first.path)
    rule = str(first.validator)
    return GateStop("invalid_arguments", rule, f"error: arguments at {place} break {rule!r}; the call did not run")
