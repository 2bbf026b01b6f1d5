"""The responses API from the side that answers."""

from __future__ import annotations

from typing import Final

from harness.rehearsal.chat import ChatDialect
from harness.rehearsal.conversation import Conversation
from harness.rehearsal.reading import event, object_in, objects, text_of, words_in
from harness.schema.base import JsonValue

__all__ = ["ResponsesDialect"]


class ResponsesDialect:
    """``POST /v1/responses`` as its server sees it; errors and the list of models are those of chat completions."""

    name: Final = "openai-responses"
    base: Final = "/v1"
    place: Final = "/v1/responses"
    models_path: Final = ChatDialect.models_path
    mark: Final = None
    _sister: Final = ChatDialect()
    failure = _sister.failure
    listed = _sister.listed

    def takes(self, path: str) -> bool:
        """Whether a request to that path is one of this dialect."""
        return path == self.place

    def read(self, target: str, body: bytes) -> Conversation | None:  # noqa: ARG002  (the body says it all)
        """The request in a body; None where it is no JSON object with a model and an input, a text or a list."""
        root = object_in(body) or {}
        model, given = root.get("model"), root.get("input")
        if not isinstance(model, str) or not isinstance(given, str | list):
            return None
        items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
        prompts = (text_of(item.get("content")) for item in items if item.get("role") == "user")
        return Conversation(
            model=model,
            prompt=next(prompts, ""),
            answers=tuple(text_of(item.get("output")) for item in items if item.get("type") == "function_call_output"),
            streamed=root.get("stream") is True,
            words=words_in(given, root.get("instructions"), root.get("tools")),
        )

    def failure_event(self, status: int, code: str, message: str) -> bytes:
        """An ``error`` event, which holds code and message itself."""
        del status
        told: dict[str, JsonValue] = {"type": "error", "code": code, "message": message, "param": None}
        return event(told, "error")
