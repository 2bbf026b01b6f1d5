"""The words with which providers say why an answer ended."""

from __future__ import annotations

from typing import Final

from harness.errors import RETRYABLE, ProviderCategory, ProviderError
from harness.schema.message import FinishReason, Quirk, Reply

__all__ = ["FINISH_WORDS", "failed_answer", "finish_of", "word_for"]

#: Lower-case word -> our reason. OpenAI's five first, then those of servers that speak its dialect.
FINISH_WORDS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "language": "content_filter",
    "image_safety": "content_filter",
    "image_prohibited_content": "content_filter",
    "image_recitation": "content_filter",
    "pause_turn": "pause",
    "pause": "pause",
}

#: Lower-case words that say that the provider's own side failed: such an answer is no reply of the model.
_FAILED_WORDS: Final[dict[str, ProviderCategory]] = {
    "error": "server_error",
    "network_error": "server_error",
    "abort": "server_error",
    "insufficient_system_resource": "overloaded",
    "malformed_function_call": "malformed_tool_call",
    "unexpected_tool_call": "malformed_tool_call",
    "too_many_tool_calls": "malformed_tool_call",
    "malformed_response": "malformed_tool_call",
    "missing_thought_signature": "invalid_request",
}


def word_for(reason: FinishReason | None) -> str | None:
    """OpenAI's word for a reason, our own where it has none; None where no end was reached or said."""
    return None if reason in {None, "unknown"} else reason


def finish_of(word: str | None, *, calls: bool, refused: bool) -> tuple[FinishReason, tuple[Quirk, ...]]:
    """The reason that a word means, and what is odd about it; None where the provider said none.

    Calls that are there decide against ``stop`` and against no or an unknown word; a refusal field as well.
    """
    quirks: tuple[Quirk, ...] = () if word is not None else ("finish_missing",)
    finish: FinishReason = "unknown" if word is None else FINISH_WORDS.get(word.lower(), "unknown")
    if calls:
        if finish == "stop":
            quirks = ("finish_stop_with_tool_calls",)
        return ("tool_calls" if finish in {"stop", "unknown", "pause"} else finish), quirks
    if finish == "tool_calls":
        return finish, ("announced_call_missing",)
    return ("refusal" if refused and finish in {"stop", "unknown"} else finish), quirks


def failed_answer(reply: Reply, status: int, *, delivered: bool = False) -> ProviderError | None:
    """The failure that a reply's own finish word tells, with the reply as what was said; None where it tells none."""
    category = None if reply.finish_word is None else _FAILED_WORDS.get(reply.finish_word.lower())
    if category is None:
        return None
    said = (
        "the provider says that the model's call was malformed"
        if category == "malformed_tool_call"
        else "the provider says inside its answer that it failed"
    )
    return ProviderError(
        category,
        said,
        retryable=category in RETRYABLE,
        http_status=status,
        delivered=delivered,
        partial=reply.model_copy(update={"finish": "error"}),
    )
