"""Usage as OpenAI's dialects send it: the same counts, under two sets of names."""

from __future__ import annotations

from harness.schema.base import JsonValue
from harness.schema.message import Usage

__all__ = ["usage_sent"]


def usage_sent(usage: Usage, into: str, out: str) -> dict[str, JsonValue]:
    """The counts that are known, with ``into`` and ``out`` for the names of input and output."""
    counts: dict[str, JsonValue] = {}
    asked: dict[str, JsonValue] = {}
    if usage.input_tokens is not None:
        counts[into] = usage.input_tokens
    if usage.output_tokens is not None:
        counts[out] = usage.output_tokens
    if usage.input_tokens is not None and usage.output_tokens is not None:
        counts["total_tokens"] = usage.input_tokens + usage.output_tokens
    if usage.cache_read_tokens is not None:
        asked["cached_tokens"] = usage.cache_read_tokens
    if usage.cache_write_tokens is not None:
        asked["cache_write_tokens"] = usage.cache_write_tokens
    if asked:
        counts[f"{into}_details"] = asked
    if usage.reasoning_tokens is not None:
        counts[f"{out}_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return counts
