"""Chat completions: OpenAI's dialect, and that of the many servers that speak it."""

from __future__ import annotations

from collections.abc import Callable

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._chat.body import reply_body
from harness.providers._chat.reply import read_reply
from harness.providers._chat.request import request_body
from harness.providers._chat.stream import coalesced, is_last, read_stream
from harness.providers._chat.streamed import stream_events
from harness.providers._wire.codec import Codec, watching
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply

__all__ = ["ChatCompletions", "build"]


def build(preset: Preset | None = None) -> ChatCompletions:
    """The codec as a preset wants it; without one as OpenAI does."""
    return ChatCompletions(preset or resolve("openai"))


class ChatCompletions(Codec):
    """A pure codec: no network, no clock, no state."""

    def path(self, request: ModelRequest) -> str:  # noqa: ARG002  (the same for every model)
        """Path below the base URL."""
        return "/chat/completions"

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher that says yes at ``[DONE]``, and at an event that tells of a failure."""
        return watching(is_last)

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with each text in one piece."""
        return coalesced(body)

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """Events that decode to ``reply``."""
        return stream_events(reply)

    def _credentials(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"}

    def _request(self, request: ModelRequest) -> dict[str, JsonValue]:
        return request_body(request, self._preset)

    def _whole(self, body: bytes, status: int) -> Reply:
        return read_reply(body, status)

    def _streamed(self, response: WireResponse) -> Reply:
        return read_stream(response)

    def _body(self, reply: Reply) -> dict[str, JsonValue]:
        return reply_body(reply)
