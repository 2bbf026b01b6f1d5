"""Chat completions from the side that answers: reading requests, writing errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.rehearsal.conversation import Conversation
from harness.rehearsal.reading import SERVER_ERRORS, event, object_in, objects, text_of, words_in
from harness.schema.base import JsonValue
from harness.schema.rehearsal import MODELS_PATH, PLAYS

__all__ = ["ChatDialect"]

_TYPES = {401: "authentication_error", 404: "invalid_request_error", 429: "rate_limit_error", 503: "overloaded_error"}


class ChatDialect:
    """``POST /v1/chat/completions`` as its server sees it."""

    name: Final = "openai"
    base: Final = "/v1"
    place: Final = "/v1/chat/completions"
    models_path: Final = base + MODELS_PATH
    mark: Final = None

    def takes(self, path: str) -> bool:
        """Whether a request to that path is one of this dialect."""
        return path == self.place

    def read(self, target: str, body: bytes) -> Conversation | None:  # noqa: ARG002  (the body says it all)
        """The request in a body; None where it is no JSON object with a model and a list of messages."""
        root = object_in(body) or {}
        model, messages = root.get("model"), root.get("messages")
        if not isinstance(model, str) or not isinstance(messages, list):
            return None
        asked = objects(messages)
        prompts = (text_of(message.get("content")) for message in asked if message.get("role") == "user")
        options = root.get("stream_options")
        streamed = root.get("stream") is True
        return Conversation(
            model=model,
            prompt=next(prompts, ""),
            answers=tuple(text_of(message.get("content")) for message in asked if message.get("role") == "tool"),
            streamed=streamed,
            words=words_in(messages, root.get("tools")),
            counted=not streamed or (isinstance(options, dict) and options.get("include_usage") is True),
        )

    def failure(self, status: int, code: str, message: str) -> dict[str, JsonValue]:
        """``{"error": {"message", "type", "param", "code"}}``."""
        kind = _TYPES.get(status) or ("server_error" if status >= SERVER_ERRORS else "invalid_request_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def failure_event(self, status: int, code: str, message: str) -> bytes:
        """The same in an event without a name."""
        return event(self.failure(status, code, message))

    def listed(self, plays: Mapping[str, tuple[str, ...]]) -> dict[str, JsonValue]:
        """``{"object": "list", "data": [{"id", "object"}]}``."""
        return {
            "object": "list",
            "data": [{"id": name, "object": "model", PLAYS: list(played)} for name, played in plays.items()],
        }
