"""Usage in the words of a model's own vendor, which some gateways pass through in a chat completion."""

from __future__ import annotations

from harness.providers._wire.answer import count
from harness.schema.base import JsonValue
from harness.schema.message import Usage

__all__ = ["own_usage"]


def own_usage(root: dict[str, JsonValue]) -> Usage | None:
    """Usage that counts ``input_tokens``; None where there is none of that.

    Where cache reads and writes stand beside the input they are no part of it there, and are added.
    """
    into = count(root.get("input_tokens"))
    if into is None:
        return None
    read, written = count(root.get("cache_read_input_tokens")), count(root.get("cache_creation_input_tokens"))
    details = root.get("input_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Usage(
        input_tokens=into + (read or 0) + (written or 0),
        output_tokens=count(root.get("output_tokens")),
        cache_read_tokens=cached if read is None else read,
        cache_write_tokens=written,
    )
