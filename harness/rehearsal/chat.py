"""Chat completions from the side that answers: reading requests, writing errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

from harness.rehearsal.conversation import Conversation
from harness.schema.base import JsonValue

__all__ = ["ChatDialect"]

_TYPES = {401: "authentication_error", 404: "invalid_request_error", 429: "rate_limit_error", 503: "overloaded_error"}
_SERVER_ERRORS = 500


class ChatDialect:
    """``POST /chat/completions`` as its server sees it."""

    def read(self, body: bytes) -> Conversation | None:
        """The request in a body; None where it is no JSON object with a model and a list of messages."""
        try:
            root: JsonValue = json.loads(body)
        except (ValueError, RecursionError):
            return None
        if not isinstance(root, dict):
            return None
        model, messages = root.get("model"), root.get("messages")
        if not isinstance(model, str) or not isinstance(messages, list):
            return None
        asked = [message for message in messages if isinstance(message, dict)]
        prompts = (_text(message.get("content")) for message in asked if message.get("role") == "user")
        return Conversation(
            model=model,
            prompt=next(prompts, ""),
            answers=tuple(_text(message.get("content")) for message in asked if message.get("role") == "tool"),
            streamed=root.get("stream") is True,
            words=sum(len(text.split()) for text in _texts([messages, root.get("tools")])),
        )

    def failure(self, status: int, code: str, message: str) -> dict[str, JsonValue]:
        """``{"error": {"message", "type", "param", "code"}}``."""
        kind = _TYPES.get(status) or ("server_error" if status >= _SERVER_ERRORS else "invalid_request_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _text(content: JsonValue) -> str:
    """Plain content, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in found if isinstance(text, str))


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text in a value, keys left out. The nesting is one that ``json`` has already read."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
