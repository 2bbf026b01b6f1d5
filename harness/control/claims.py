"""Control calls are read by closed schemas; nothing of them is repaired."""

from __future__ import annotations

import json
from typing import Final

from pydantic import ValidationError

from harness.schema.control import BlockedClaim, ControlName, FinalizeClaim, InputRequest
from harness.schema.tool import ToolCall

__all__ = ["SCHEMAS", "Claim", "read_claim"]

Claim = BlockedClaim | InputRequest | FinalizeClaim

SCHEMAS: Final[dict[ControlName, type[Claim]]] = {
    "blocked": BlockedClaim,
    "request_user_input": InputRequest,
    "finalize": FinalizeClaim,
}


def read_claim(name: ControlName, call: ToolCall, *, argument_bytes: int) -> Claim | None:
    """What the call says; None where it does not fit its schema, or is above ``argument_bytes`` (UTF-8, as sent)."""
    if call.fault is not None or call.arguments is None:
        return None
    if len(call.arguments_raw.encode("utf-8", "surrogatepass")) > argument_bytes:
        return None
    try:
        return SCHEMAS[name].model_validate_json(json.dumps(call.arguments))
    except ValidationError:
        return None
