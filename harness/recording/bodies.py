"""What sort of body it is that came with an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from harness.schema.base import JsonValue

__all__ = ["is_stream", "json_of"]

_EVENTS: Final = "text/event-stream"
#: What the lines of a stream begin with.
_FIELDS: Final = (b":", b"data:", b"event:", b"id:", b"retry:")


def is_stream(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a body is a stream of events: it looks like one, or is said to be one and is no JSON.

    Names of headers are in lower case.
    """
    said = headers.get("content-type", "").strip().lower()
    return body.lstrip()[:6].startswith(_FIELDS) or (said.startswith(_EVENTS) and json_of(body) is None)


def json_of(body: bytes) -> JsonValue:
    """The JSON value of a body, None where it is none."""
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value
