"""Provider errors, replies and call stops as endings of the closed taxonomy."""

from __future__ import annotations

from typing import assert_never

from harness.errors import ProviderError
from harness.schema.outcome import Outcome

__all__ = ["invalid_reply", "machine_ending", "provider_ending", "violation"]


def invalid_reply(detail: str) -> Outcome:
    """A reply that cannot be used: ``ids``, ``undeclared``, ``arguments``, ``control_shape`` and the like."""
    return Outcome(status="failed", reason="invalid_model_response", detail=detail)


def machine_ending() -> Outcome:
    """The machine lacked something: room on a disc, descriptors, memory, a program."""
    return Outcome(status="failed", reason="tool_error", detail="environment")


def violation(code: str) -> Outcome:
    """A rule of the scenario was broken."""
    return Outcome(status="failed", reason="scenario_violation", detail=code)


def provider_ending(error: ProviderError) -> Outcome:
    """What a failed model call means; outages and configuration say nothing about the model."""
    category = error.category
    match category:
        case "content_filter":
            return Outcome(status="failed", reason="content_filtered")
        case "malformed_tool_call":
            return Outcome(status="failed", reason="invalid_model_response", detail="arguments")
        case "auth":
            detail = "auth"
        case "rate_limited" | "quota_exhausted":
            detail = "rate_limited"
        case "overloaded" | "server_error":
            detail = "server"
        case "connection_lost" | "stream_incomplete" | "timeout":
            detail = "transport"
        case "invalid_request" | "model_not_found" | "bad_response":
            detail = "protocol"
        case _:
            assert_never(category)
    return Outcome(status="failed", reason="model_error", detail=detail)
