"""What of a request and of a control plane's answer is compared, and its digest.

A request is compared whole, but for one thing: where a string in it is a JSON object's text (an answer of the
control plane, passed on to the model), the values at the declared volatile pointers of that object are taken out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from harness.schema.base import Digest, JsonValue, digest_json
from harness.schema.name import KindName
from harness.schema.pointer import without
from harness.schema.recording import Exchange

__all__ = ["answer_key", "embedded", "exchange_key", "request_key", "stable_body", "succeeded"]

#: Conversations grow by one turn at a time: texts seen before are not parsed again.
_CACHED = 512


def request_key(method: str, path: str, body: JsonValue, volatile: Sequence[str] = ()) -> Digest:
    """The digest by which a request is found. ``body`` after paths became placeholders and secrets were taken out."""
    return digest_json([method, path, stable_body(body, volatile)])


def exchange_key(exchange: Exchange, volatile: Sequence[str] = ()) -> Digest:
    """The key that an exchange must have by its request."""
    return request_key(exchange.request.method, exchange.request.path, exchange.request.body, volatile)


def answer_key(kind: KindName | None, exit_code: int | None, answer: JsonValue) -> Digest:
    """The digest of a plane's answer; ``answer`` without volatile values, paths as placeholders."""
    return digest_json([kind, exit_code, answer])


def succeeded(status: int) -> bool:
    """Whether a reply with that HTTP status can hold what the model said; all successful ones are alike."""
    return 200 <= status < 300  # noqa: PLR2004  (the successful statuses of HTTP)


def stable_body(body: JsonValue, volatile: Sequence[str]) -> JsonValue:
    """The body as it is compared; the given one is not changed.

    A string that is a JSON object's text and has something at a volatile pointer becomes that object's text without
    it (keys in their order, white space between tokens lost); every other string stays as it is.
    """
    places = tuple(volatile)
    return _stable(body, places) if places else body


def embedded(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """The object or array whose JSON text this is, or None."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _stable(value: JsonValue, places: tuple[str, ...]) -> JsonValue:
    if isinstance(value, str):
        return _stable_text(value, places) if "{" in value[:16] else value
    if isinstance(value, list):
        return [_stable(item, places) for item in value]
    if isinstance(value, dict):
        return {key: _stable(item, places) for key, item in value.items()}
    return value


@lru_cache(maxsize=_CACHED)
def _stable_text(text: str, places: tuple[str, ...]) -> str:
    found = embedded(text)
    if not isinstance(found, dict):
        return text
    kept = without(found, places)
    return text if kept == found else json.dumps(kept, separators=(",", ":"))
