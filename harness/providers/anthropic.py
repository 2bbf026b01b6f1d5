"""The messages API: Anthropic's dialect."""

from __future__ import annotations

from collections.abc import Callable

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._anthropic.body import reply_body, reply_events
from harness.providers._anthropic.reply import read_message
from harness.providers._anthropic.request import request_body
from harness.providers._anthropic.stream import is_last
from harness.providers._anthropic.streamed import coalesced, read_stream
from harness.providers._wire.answer import read_root
from harness.providers._wire.codec import Codec, watching
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply

__all__ = ["Messages", "build"]

_VERSION = "2023-06-01"


def build(preset: Preset | None = None) -> Messages:
    """The codec as a preset wants it; without one as Anthropic does."""
    return Messages(preset or resolve("anthropic"))


class Messages(Codec):
    """A pure codec: no network, no clock, no state."""

    def path(self, request: ModelRequest) -> str:  # noqa: ARG002  (the same for every model)
        """Path below the base URL, which has none of its own."""
        return "/v1/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        """Request headers, with the version of the API; no credentials without a key."""
        return {**super().headers(key), "anthropic-version": _VERSION}

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher of one stream, which says when ``message_stop``, or an error, has come."""
        return watching(is_last)

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with neighbouring pieces of one text in one event."""
        return coalesced(body)

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """Events that decode to ``reply``."""
        return reply_events(reply)

    def _credentials(self, key: str) -> dict[str, str]:
        return {"x-api-key": key}

    def _request(self, request: ModelRequest) -> dict[str, JsonValue]:
        return request_body(request)

    def _whole(self, body: bytes, status: int) -> Reply:
        return read_message(read_root(body, status), status)

    def _streamed(self, response: WireResponse) -> Reply:
        return read_stream(response)

    def _body(self, reply: Reply) -> dict[str, JsonValue]:
        return reply_body(reply)
