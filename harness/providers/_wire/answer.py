"""The JSON body of an answer, and its small parts, whatever the dialect."""

from __future__ import annotations

from harness.errors import ProviderError
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.strict_json import NotJsonError, read_json
from harness.schema.base import JsonValue

__all__ = ["as_object", "bad", "count", "read_root", "what_is", "word"]


def read_root(body: bytes, status: int) -> dict[str, JsonValue]:
    """The object that a body with a successful status is.

    Raises:
        ProviderError: what the body says went wrong, else ``bad_response``.
    """
    try:
        root = read_json(body)
    except NotJsonError:
        raise bad(what_is(body), status) from None
    failure = failure_inside(root, status)
    if failure is not None:
        raise failure
    if not isinstance(root, dict):
        raise bad("no JSON object", status)
    return root


def as_object(value: JsonValue) -> dict[str, JsonValue]:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def word(value: JsonValue) -> str | None:
    """The text, None where there is none."""
    return value if isinstance(value, str) and value else None


def count(value: JsonValue) -> int | None:
    """The whole number from 0, None for anything else: what is not counted is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def bad(what: str, status: int) -> ProviderError:
    """The error for an answer that is none of this dialect."""
    return ProviderError("bad_response", f"the provider answered with {what}", http_status=status)


def what_is(body: bytes) -> str:
    """What a body that is no JSON seems to be."""
    start = body.lstrip()[:16].lower()
    if not start:
        return "an empty body"
    if start.startswith(b"<"):
        return "a web page; is the base URL right?"
    if start.startswith((b"data:", b"event:", b":")):
        return "an event stream that was not asked for"
    return "a body that is not JSON"
