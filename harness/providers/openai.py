"""Chat completions: OpenAI's dialect, and that of the many servers that speak it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from harness.config.presets import Preset, resolve
from harness.ports import WireResponse
from harness.providers._chat_body import reply_body
from harness.providers._chat_reply import read_reply
from harness.providers._chat_request import request_body
from harness.providers._chat_stream import ChatEnd, coalesced, read_stream
from harness.providers._chat_streamed import stream_events
from harness.providers._failures import failure_of
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import ModelRequest, Reply

__all__ = ["ChatCompletions", "build"]

_SUCCESS = range(200, 300)


def build(preset: Preset | None = None) -> ChatCompletions:
    """The codec as a preset wants it; without one as OpenAI does."""
    return ChatCompletions(preset or resolve("openai"))


class ChatCompletions:
    """A pure codec: no network, no clock, no state."""

    def __init__(self, preset: Preset) -> None:
        self._preset = preset

    @property
    def name(self) -> str:
        """As in ``PROVIDER/MODEL``."""
        return self._preset.name

    def path(self, request: ModelRequest) -> str:  # noqa: ARG002  (the same for every model)
        """Path below the base URL."""
        return "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        """Request headers; no ``authorization`` without a key."""
        headers = {"accept": "application/json", "content-type": "application/json"}
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        return headers

    def encode_request(self, request: ModelRequest) -> bytes:
        """Compact JSON with sorted keys in UTF-8: the same bytes for the same request."""
        return _bytes(request_body(request, self._preset))

    def decode_reply(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in an answer; ``now`` is what a ``retry-after`` date counts from.

        Raises:
            ProviderError: the answer tells of a failure, or is no chat completion.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now)
        return read_reply(response.body, response.status)

    def decode_stream(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in a stream; the same as for the whole answer that its events add up to.

        Raises:
            ProviderError: the stream tells of a failure, did not come to its end, or is none.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now)
        return read_stream(response)

    def stream_end(self) -> Callable[[bytes], bool]:
        """A watcher that says yes at ``[DONE]``, and at an event that tells of a failure."""
        return ChatEnd()

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with each text in one piece."""
        return coalesced(body)

    def encode_reply(self, reply: Reply) -> bytes:
        """A body that decodes to ``reply``; of a reply that only has ``opaque``, that message as it is."""
        return _bytes(reply_body(reply))

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """The events of a stream that decodes to ``reply``."""
        return stream_events(reply)


def _bytes(body: dict[str, JsonValue]) -> bytes:
    # A lone surrogate has no UTF-8 form; as an escape, which is what this handler writes, JSON can carry it.
    return canonical_json(body).encode("utf-8", "backslashreplace")
