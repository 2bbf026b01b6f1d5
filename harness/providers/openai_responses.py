"""The responses API: OpenAI's newer dialect, used so that nothing is kept at the provider's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._events import EventReader
from harness.providers._failures import failure_of
from harness.providers._responses_body import reply_body
from harness.providers._responses_reply import read_whole
from harness.providers._responses_request import request_body
from harness.providers._responses_stream import is_last
from harness.providers._responses_streamed import coalesced, read_stream, reply_events
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import ModelRequest, Reply

__all__ = ["Responses", "build"]

_SUCCESS = range(200, 300)


def build(preset: Preset | None = None) -> Responses:
    """The codec as a preset wants it; without one as OpenAI does."""
    return Responses(preset or resolve("openai-responses"))


class Responses:
    """A pure codec: no network, no clock, no state."""

    def __init__(self, preset: Preset) -> None:
        self._preset = preset

    @property
    def name(self) -> str:
        """As in ``PROVIDER/MODEL``."""
        return self._preset.name

    def path(self, request: ModelRequest) -> str:  # noqa: ARG002  (the same for every model)
        """Path below the base URL."""
        return "/responses"

    def headers(self, key: str | None) -> dict[str, str]:
        """Request headers; no ``authorization`` without a key."""
        headers = {"accept": "application/json", "content-type": "application/json"}
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        return headers

    def encode_request(self, request: ModelRequest) -> bytes:
        """Compact JSON with sorted keys in UTF-8: the same bytes for the same request."""
        return _bytes(request_body(request))

    def decode_reply(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in a whole answer; ``now`` is what a ``retry-after`` date counts from.

        Raises:
            ProviderError: the answer tells of a failure, or is no response.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now)
        return read_whole(response.body, response.status)

    def decode_stream(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in an answer that was asked for as a stream.

        Raises:
            ProviderError: the answer tells of a failure, is no such stream, or broke off.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now)
        return read_stream(response)

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher of one stream, which says when the finished response, or an error, has come."""
        reader = EventReader()

        def is_over(piece: bytes) -> bool:
            return any(is_last(event) for event in reader.feed(piece))

        return is_over

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with all pieces of one text in one event."""
        return coalesced(body)

    def encode_reply(self, reply: Reply) -> bytes:
        """A body that decodes to ``reply``; of a reply that only has ``opaque``, those items as they are."""
        return _bytes(reply_body(reply))

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """Events that decode to ``reply``."""
        return reply_events(reply)


def _bytes(body: dict[str, JsonValue]) -> bytes:
    # A lone surrogate has no UTF-8 form; as an escape, which is what this handler writes, JSON can carry it.
    return canonical_json(body).encode("utf-8", "backslashreplace")
