"""What a dialect adds to a base URL, and so what is wrong with one at which nothing answers."""

from __future__ import annotations

from typing import Final

__all__ = ["nothing_answers"]

#: Codec -> the path that it adds, and what that means for the address.
_ADDED: Final = {
    "openai": ("/chat/completions", "mostly ends in /v1, and never in /chat/completions"),
    "openai_responses": ("/responses", "mostly ends in /v1, and never in /responses"),
    "anthropic": ("/v1/messages", "must not end in /v1 or /v1/messages"),
    "gemini": ("/v1beta/models", "must not end in /v1beta or /v1beta/models"),
}


def nothing_answers(codec: str) -> str:
    """The rest of a sentence about a path at which nothing is: what is to be looked at in the address."""
    path, address = _ADDED[codec]
    return f"harness adds {path} to the address, which {address}"
