"""``generateContent``: Gemini's dialect."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._gemini.body import reply_body, reply_events
from harness.providers._gemini.reply import read_answer
from harness.providers._gemini.request import request_body
from harness.providers._gemini.stream import Fold, coalesced, ends, read_stream
from harness.providers._wire.answer import read_root
from harness.providers._wire.codec import Codec
from harness.providers._wire.events import EventReader
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply

__all__ = ["GenerateContent", "build"]


def build(preset: Preset | None = None) -> GenerateContent:
    """The codec as a preset wants it; without one as Google does."""
    return GenerateContent(preset or resolve("gemini"))


class GenerateContent(Codec):
    """A pure codec: no network, no clock, no state."""

    def path(self, request: ModelRequest) -> str:
        """Path below the base URL, which has none of its own; a model's name may stand below a collection's."""
        model = request.model if "/" in request.model else f"models/{request.model}"
        verb = "streamGenerateContent?alt=sse" if request.settings.stream else "generateContent"
        return f"/v1beta/{quote(model, safe='/')}:{verb}"

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher of one stream, which says when an error has come: else it is over with its last byte."""
        reader, fold = EventReader(), Fold()

        def is_over(piece: bytes) -> bool:
            return ends(fold, reader.feed(piece))

        return is_over

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with the pieces of one text in one event."""
        return coalesced(body)

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """Events that decode to ``reply``."""
        return reply_events(reply)

    def _credentials(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key}

    def _request(self, request: ModelRequest) -> dict[str, JsonValue]:
        return request_body(request)

    def _whole(self, body: bytes, status: int) -> Reply:
        return read_answer(read_root(body, status), status)

    def _streamed(self, response: WireResponse) -> Reply:
        return read_stream(response)

    def _body(self, reply: Reply) -> dict[str, JsonValue]:
        return reply_body(reply)
