"""The messages API from the side that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.rehearsal.conversation import Conversation
from harness.rehearsal.reading import SERVER_ERRORS, event, object_in, objects, text_of, words_in
from harness.schema.base import JsonValue
from harness.schema.rehearsal import MODELS_PATHS, PLAYS

__all__ = ["MessagesDialect"]

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}
#: When every model here was made, which its list must tell.
_MADE = "2025-01-01T00:00:00Z"


class MessagesDialect:
    """``POST /v1/messages`` as its server sees it."""

    name: Final = "anthropic"
    base: Final = ""
    place: Final = "/v1/messages"
    models_path: Final = MODELS_PATHS["anthropic"]
    mark: Final = "anthropic-version"

    def takes(self, path: str) -> bool:
        """Whether a request to that path is one of this dialect."""
        return path == self.place

    def read(self, target: str, body: bytes) -> Conversation | None:  # noqa: ARG002  (the body says it all)
        """The request in a body; None where it is no JSON object with a model and a list of messages."""
        root = object_in(body) or {}
        model, messages = root.get("model"), root.get("messages")
        if not isinstance(model, str) or not isinstance(messages, list):
            return None
        asked = [message for message in objects(messages) if message.get("role") == "user"]
        results = (block for message in asked for block in objects(message.get("content")))
        return Conversation(
            model=model,
            prompt=next((text_of(message.get("content")) for message in asked), ""),
            answers=tuple(text_of(block.get("content")) for block in results if block.get("type") == "tool_result"),
            streamed=root.get("stream") is True,
            words=words_in(messages, root.get("system"), root.get("tools")),
        )

    def failure(self, status: int, code: str, message: str) -> dict[str, JsonValue]:
        """``{"type": "error", "error": {"type", "message"}}``; there is no field for a code but the message."""
        kind = _TYPES.get(status) or ("api_error" if status >= SERVER_ERRORS else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": f"{code}: {message}"}}

    def failure_event(self, status: int, code: str, message: str) -> bytes:
        """The same in an ``error`` event."""
        return event(self.failure(status, code, message), "error")

    def listed(self, plays: Mapping[str, tuple[str, ...]]) -> dict[str, JsonValue]:
        """One page of ``{"data": [{"type", "id", "display_name", "created_at"}]}``."""
        names = [*plays]
        return {
            "data": [
                {"type": "model", "id": name, "display_name": name, "created_at": _MADE, PLAYS: list(played)}
                for name, played in plays.items()
            ],
            "has_more": False,
            "first_id": names[0] if names else None,
            "last_id": names[-1] if names else None,
        }
