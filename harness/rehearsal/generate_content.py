"""``generateContent`` from the side that answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, unquote

from harness.rehearsal.conversation import Conversation
from harness.rehearsal.reading import SERVER_ERRORS, event, object_in, objects, path_of, text_of, words_in
from harness.schema.base import JsonValue, canonical_json
from harness.schema.rehearsal import MODELS_PATHS, PLAYS

__all__ = ["GenerateContentDialect"]

_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_PATH = re.compile(r"/v1beta/(?P<name>.+):(?P<verb>generateContent|streamGenerateContent)")


class GenerateContentDialect:
    """``POST /v1beta/models/MODEL:generateContent`` as its server sees it: the path names model and mode."""

    name: Final = "gemini"
    base: Final = ""
    place: Final = "/v1beta/...:generateContent"
    models_path: Final = MODELS_PATHS["gemini"]
    mark: Final = None

    def takes(self, path: str) -> bool:
        """Whether a request to that path is one of this dialect."""
        return _PATH.fullmatch(path) is not None

    def read(self, target: str, body: bytes) -> Conversation | None:
        """The request in a body; None where it is no JSON object with a list of contents, or no stream of events.

        Without ``alt=sse`` the API streams in pieces of one JSON list, which is not done here.
        """
        found, root = _PATH.fullmatch(path_of(target)), object_in(body) or {}
        contents = root.get("contents")
        if found is None or not isinstance(contents, list):
            return None
        streamed = found["verb"] == "streamGenerateContent"
        if streamed and parse_qs(target.partition("?")[2]).get("alt") != ["sse"]:
            return None
        asked = [content for content in objects(contents) if content.get("role") in {"user", "function", None}]
        inside = [part for content in asked for part in objects(content.get("parts"))]
        return Conversation(
            model=unquote(found["name"]).removeprefix("models/"),
            prompt=next((text_of(content.get("parts")) for content in asked), ""),
            answers=tuple(_answer(part["functionResponse"]) for part in inside if "functionResponse" in part),
            streamed=streamed,
            words=words_in(contents, root.get("systemInstruction"), root.get("tools")),
        )

    def failure(self, status: int, code: str, message: str) -> dict[str, JsonValue]:
        """``{"error": {"code", "message", "status"}}``; there is no field for a word of ours but the message."""
        told = _STATUSES.get(status) or ("INTERNAL" if status >= SERVER_ERRORS else "INVALID_ARGUMENT")
        return {"error": {"code": status, "message": f"{code}: {message}", "status": told}}

    def failure_event(self, status: int, code: str, message: str) -> bytes:
        """The same in an event without a name."""
        return event(self.failure(status, code, message))

    def listed(self, plays: Mapping[str, tuple[str, ...]]) -> dict[str, JsonValue]:
        """``{"models": [{"name": "models/...", "displayName", "supportedGenerationMethods"}]}``."""
        ways: list[JsonValue] = ["generateContent", "streamGenerateContent"]
        return {
            "models": [
                {
                    "name": f"models/{name}",
                    "displayName": name,
                    "supportedGenerationMethods": ways,
                    PLAYS: list(played),
                }
                for name, played in plays.items()
            ]
        }


def _answer(response: JsonValue) -> str:
    """The text of a function's response: what it gave or why it failed, else the response itself."""
    given = response.get("response") if isinstance(response, dict) else None
    told = [given[key] for key in ("output", "error", "result") if key in given] if isinstance(given, dict) else []
    if told and isinstance(told[0], str):
        return told[0]
    return canonical_json(told[0] if told else given)
