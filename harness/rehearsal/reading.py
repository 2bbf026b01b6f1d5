"""What the dialects read and write alike: objects, texts, words, events."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from harness.schema.base import JsonValue, canonical_json

__all__ = ["SERVER_ERRORS", "event", "json_bytes", "object_in", "objects", "path_of", "text_of", "texts_in", "words_in"]

#: Statuses from here on are the server's own doing.
SERVER_ERRORS = 500


def path_of(target: str) -> str:
    """The path of what a request line asks for, as it stands there, without host and query."""
    try:
        return urlsplit(target).path
    except ValueError:  # a host that is none
        return target


def object_in(body: bytes) -> dict[str, JsonValue] | None:
    """The JSON object in a body; None where there is none."""
    try:
        root: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return root if isinstance(root, dict) else None


def objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    """The objects in a list; none in anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(content: JsonValue) -> str:
    """Plain content, or the text parts of a list."""
    if isinstance(content, str):
        return content
    found = (part.get("text") for part in objects(content))
    return "".join(text for text in found if isinstance(text, str))


def words_in(*values: JsonValue) -> int:
    """Words of all texts in some values, keys left out."""
    return len(" ".join(texts_in(*values)).split())


def texts_in(*values: JsonValue) -> list[str]:
    """All texts in some values, keys left out, those inside others last."""
    texts, inside = [], [*values]
    for one in inside:  # which grows meanwhile
        if isinstance(one, str):
            texts.append(one)
        elif isinstance(one, list):
            inside.extend(one)
        elif isinstance(one, dict):
            inside.extend(one.values())
    return texts


def json_bytes(value: JsonValue) -> bytes:
    """A value as servers send it; a lone surrogate, which has no UTF-8 form, as an escape."""
    return canonical_json(value).encode("utf-8", "backslashreplace")


def event(value: JsonValue, name: str = "") -> bytes:
    """One event of a stream."""
    head = f"event: {name}\n" if name else ""
    return head.encode("ascii") + b"data: " + json_bytes(value) + b"\n\n"
