"""The responses API: OpenAI's newer dialect, used so that nothing is kept at the provider's."""

from __future__ import annotations

from collections.abc import Callable

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._responses.body import reply_body
from harness.providers._responses.reply import read_whole
from harness.providers._responses.request import request_body
from harness.providers._responses.stream import is_last
from harness.providers._responses.streamed import coalesced, read_stream, reply_events
from harness.providers._wire.codec import Codec, watching
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply

__all__ = ["Responses", "build"]


def build(preset: Preset | None = None) -> Responses:
    """The codec as a preset wants it; without one as OpenAI does."""
    return Responses(preset or resolve("openai-responses"))


class Responses(Codec):
    """A pure codec: no network, no clock, no state."""

    def path(self, request: ModelRequest) -> str:  # noqa: ARG002  (the same for every model)
        """Path below the base URL."""
        return "/responses"

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher of one stream, which says when the finished response, or an error, has come."""
        return watching(is_last)

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with all pieces of one text in one event."""
        return coalesced(body)

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """Events that decode to ``reply``."""
        return reply_events(reply)

    def _credentials(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"}

    def _request(self, request: ModelRequest) -> dict[str, JsonValue]:
        return request_body(request)

    def _whole(self, body: bytes, status: int) -> Reply:
        return read_whole(body, status)

    def _streamed(self, response: WireResponse) -> Reply:
        return read_stream(response)

    def _body(self, reply: Reply) -> dict[str, JsonValue]:
        return reply_body(reply)
