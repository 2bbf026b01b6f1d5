"""``generateContent``: Gemini's dialect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from urllib.parse import quote

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._answer import read_root
from harness.providers._events import EventReader
from harness.providers._failures import failure_of
from harness.providers._gemini_body import reply_body, reply_events
from harness.providers._gemini_reply import read_answer
from harness.providers._gemini_request import request_body
from harness.providers._gemini_stream import Fold, coalesced, ends, read_stream
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import ModelRequest, Reply

__all__ = ["GenerateContent", "build"]

_SUCCESS = range(200, 300)


def build(preset: Preset | None = None) -> GenerateContent:
    """The codec as a preset wants it; without one as Google does."""
    return GenerateContent(preset or resolve("gemini"))


class GenerateContent:
    """A pure codec: no network, no clock, no state."""

    def __init__(self, preset: Preset) -> None:
        self._preset = preset

    @property
    def name(self) -> str:
        """As in ``PROVIDER/MODEL``."""
        return self._preset.name

    def path(self, request: ModelRequest) -> str:
        """Path below the base URL, which has none of its own; a model's name may stand below a collection's."""
        model = request.model if "/" in request.model else f"models/{request.model}"
        verb = "streamGenerateContent?alt=sse" if request.settings.stream else "generateContent"
        return f"/v1beta/{quote(model, safe='/')}:{verb}"

    def headers(self, key: str | None) -> dict[str, str]:
        """Request headers; no ``x-goog-api-key`` without a key."""
        headers = {"accept": "application/json", "content-type": "application/json"}
        if key is not None:
            headers["x-goog-api-key"] = key
        return headers

    def encode_request(self, request: ModelRequest) -> bytes:
        """Compact JSON with sorted keys in UTF-8: the same bytes for the same request."""
        return _bytes(request_body(request))

    def decode_reply(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in a whole answer; ``now`` is what a ``retry-after`` date counts from.

        Raises:
            ProviderError: the answer tells of a failure, or is none.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now)
        return read_answer(read_root(response.body, response.status), response.body, response.status)

    def decode_stream(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in an answer that was asked for as a stream.

        Raises:
            ProviderError: the answer tells of a failure, is no such stream, or broke off.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now)
        return read_stream(response)

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher of one stream, which says when the reason of the end and the counts, or an error, have come."""
        reader, fold = EventReader(), Fold()

        def is_over(piece: bytes) -> bool:
            return ends(fold, reader.feed(piece))

        return is_over

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with the pieces of one text in one event."""
        return coalesced(body)

    def encode_reply(self, reply: Reply) -> bytes:
        """A body that decodes to ``reply``."""
        return _bytes(reply_body(reply))

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """Events that decode to ``reply``."""
        return reply_events(reply)


def _bytes(body: dict[str, JsonValue]) -> bytes:
    # A lone surrogate has no UTF-8 form; as an escape, which is what this handler writes, JSON can carry it.
    return canonical_json(body).encode("utf-8", "backslashreplace")
