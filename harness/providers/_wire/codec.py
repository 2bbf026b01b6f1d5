"""What every dialect does alike: who is asked, JSON both ways, and a status that is no success is a failure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Final

from harness.config.presets import Preset
from harness.ports import WireResponse
from harness.providers._wire.events import Event, EventReader
from harness.providers._wire.failures import failure_of
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import ModelRequest, Reply

__all__ = ["Codec", "watching"]

_SUCCESS: Final = range(200, 300)
_JSON: Final = {"accept": "application/json", "content-type": "application/json"}


class Codec(ABC):
    """A pure codec: no network, no clock, no state. A dialect adds its paths, its credentials and its bodies."""

    def __init__(self, preset: Preset) -> None:
        self._preset = preset

    @property
    def name(self) -> str:
        """As in ``PROVIDER/MODEL``."""
        return self._preset.name

    def headers(self, key: str | None) -> dict[str, str]:
        """Request headers; no credentials without a key."""
        return {**_JSON, **({} if key is None else self._credentials(key))}

    def encode_request(self, request: ModelRequest) -> bytes:
        """Compact JSON with sorted keys in UTF-8: the same bytes for the same request."""
        return _bytes(self._request(request))

    def decode_reply(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in a whole answer; ``now`` is what a ``retry-after`` date counts from.

        Raises:
            ProviderError: the answer tells of a failure, or is none of this dialect.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now, codec=self._preset.codec)
        return self._whole(response.body, response.status)

    def decode_stream(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in a stream; the same as for the whole answer that its events add up to.

        Raises:
            ProviderError: the stream tells of a failure, did not come to its end, or is none.
        """
        if response.status not in _SUCCESS:
            raise failure_of(response, now, codec=self._preset.codec)
        return self._streamed(response)

    def encode_reply(self, reply: Reply) -> bytes:
        """A body that decodes to ``reply``; of a reply that only has ``opaque``, that as it is."""
        return _bytes(self._body(reply))

    @abstractmethod
    def _credentials(self, key: str) -> dict[str, str]:
        """The headers that a key is sent in."""

    @abstractmethod
    def _request(self, request: ModelRequest) -> dict[str, JsonValue]:
        """The body of a request."""

    @abstractmethod
    def _whole(self, body: bytes, status: int) -> Reply:
        """The reply in a body that came with a successful status. Raises ProviderError."""

    @abstractmethod
    def _streamed(self, response: WireResponse) -> Reply:
        """The reply in a stream that came with a successful status. Raises ProviderError."""

    @abstractmethod
    def _body(self, reply: Reply) -> dict[str, JsonValue]:
        """The body that decodes to ``reply``."""


def watching(ends: Callable[[Event], bool]) -> Callable[[bytes], bool]:
    """A watcher of one stream, which says when an event has come that ``ends`` it."""
    reader = EventReader()

    def is_over(piece: bytes) -> bool:
        return any(ends(event) for event in reader.feed(piece))

    return is_over


def _bytes(body: dict[str, JsonValue]) -> bytes:
    # A lone surrogate has no UTF-8 form; as an escape, which is what this handler writes, JSON can carry it.
    return canonical_json(body).encode("utf-8", "backslashreplace")
