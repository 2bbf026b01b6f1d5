"""Which exchanges of a cassette are calls of a model, in which dialect, and of which model."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from harness.recording.bodies import is_stream, json_of
from harness.recording.cassette import Captured
from harness.schema.base import JsonValue

__all__ = ["dialect_of", "model_of"]

#: Ends of paths of calls of a model. Others have words such as ``messages`` too: there the request must hold a key.
_PATHS: Final = (
    (re.compile(r"/chat/completions/?$"), None, "openai-chat"),
    (re.compile(r"/v1/responses/?$|/responses/resp_\w+/?$"), None, "openai-responses"),
    (re.compile(r"/responses/?$"), "input", "openai-responses"),
    (re.compile(r"/v1/messages/?$"), None, "anthropic"),
    (re.compile(r"/messages/?$"), "messages", "anthropic"),
    (re.compile(r":(?:streamG|g)enerateContent$"), None, "gemini"),
)
#: What a body says of its own dialect: a key, and how its value begins; "" where any will do.
_BODIES: Final = (
    ("object", "chat.completion", "openai-chat"),
    ("object", "response", "openai-responses"),
    ("type", "response.", "openai-responses"),
    ("type", "message", "anthropic"),
    ("candidates", "", "gemini"),
)
_IN_PATH: Final = re.compile(r"/(?:models|deployments)/([^/:]+)")
#: Events of a stream that are looked at for what it is.
_LOOKED_AT: Final = 3


def dialect_of(one: Captured, given: str | None = None) -> str | None:
    """The dialect (``openai-chat``, ``openai-responses``, ``anthropic``, ``gemini``); None for no call of a model.

    The end of the path decides, else what the answer says of itself. ``given`` goes over both, for every POST of a
    JSON object.
    """
    if one.method not in {"POST", "GET"}:
        return None
    asked = json_of(one.asked)
    if given is not None and one.method == "POST" and isinstance(asked, dict):
        return given
    held = asked if isinstance(asked, dict) else {}
    ends = (api for pattern, key, api in _PATHS if pattern.search(one.path) and (key is None or key in held))
    found = next(ends, None)
    if found is not None:
        return found if one.method == "POST" or "/resp_" in one.path else None
    return _by_body(one) if one.method == "POST" else None


def model_of(one: Captured) -> str | None:
    """The model that was asked for: in the request's body, else in the path; None where neither names one."""
    asked = json_of(one.asked)
    named = asked.get("model") if isinstance(asked, dict) else None
    if isinstance(named, str) and named.strip():
        return named.strip()
    placed = _IN_PATH.search(one.path)
    return None if placed is None else unquote(placed[1])


def _by_body(one: Captured) -> str | None:
    for body in _values(one):
        for key, start, api in _BODIES:
            value = body.get(key)
            if value is not None and (not start or (isinstance(value, str) and value.startswith(start))):
                return api
    return None


def _values(one: Captured) -> list[dict[str, JsonValue]]:
    """The JSON objects of an answer: the whole, or the first events of a stream."""
    if is_stream(one.headers, one.body):
        lines = [line[5:] for line in one.body.splitlines() if line.startswith(b"data:")]
        bodies = [json_of(line) for line in lines[:_LOOKED_AT]]
    else:
        bodies = [json_of(one.body)]
    return [body for body in bodies if isinstance(body, dict)]
