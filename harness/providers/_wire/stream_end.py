"""How a stream that did not come to its end is told, whatever the dialect."""

from __future__ import annotations

import re
from typing import Final

from harness.errors import ProviderCategory, ProviderError
from harness.ports import Cut, WireResponse
from harness.providers._wire.answer import bad, what_is
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.strict_json import NotJsonError, read_json
from harness.schema.message import Reply

__all__ = ["bare_failure", "broken_off", "last_block", "no_stream", "with_partial"]

#: What a stream begins with, even one without any event.
_STREAM: Final = (b":", b"data:", b"event:", b"id:", b"retry:")
_GAP: Final = re.compile(rb"(?:\r\n|\r|\n){2,}")

_BROKEN: Final[dict[Cut | None, tuple[ProviderCategory, str]]] = {
    None: ("stream_incomplete", "the stream was closed before its end"),
    "connection_lost": ("connection_lost", "the connection was lost before the end of the stream"),
    "timeout": ("timeout", "the stream had not ended in time"),
    "cancelled": ("connection_lost", "the call was cancelled"),
}


def broken_off(response: WireResponse, partial: Reply | None, *, delivered: bool) -> ProviderError:
    """The error for a stream without its end; ``delivered`` where a part of an answer had come.

    ``retryable`` says that the same request may be sent again; whether it is, where a part was delivered and so paid
    for, is for whoever pays.
    """
    category, text = _BROKEN[response.cut]
    return ProviderError(
        category,
        response.bound or text,
        retryable=response.cut != "cancelled",
        http_status=response.status,
        delivered=delivered,
        partial=partial,
    )


def no_stream(response: WireResponse) -> ProviderError:
    """The error for a successful answer without any event: what it tells, a whole body, or nothing of an API."""
    try:
        failure = failure_inside(read_json(response.body), response.status)
    except NotJsonError:
        is_stream = response.body.lstrip().startswith(_STREAM)
        return bad("a stream without any event" if is_stream else what_is(response.body), response.status)
    return failure or bad("a whole body where a stream was asked for", response.status)


def bare_failure(body: bytes, status: int) -> ProviderError | None:
    """The error that stands at the end of a stream without being an event of it; None where there is none.

    Servers that fail in the middle of an answer write the error as they would have sent it whole.
    """
    try:
        return failure_inside(read_json(last_block(body)), status)
    except NotJsonError:
        return None


def last_block(body: bytes) -> bytes:
    """What stands behind the last empty line."""
    return _GAP.split(body.strip())[-1]


def with_partial(error: ProviderError, partial: Reply | None, *, delivered: bool) -> ProviderError:
    """The same error with what had been said before it."""
    error.partial = error.partial or partial
    error.delivered = error.delivered or delivered
    return error
