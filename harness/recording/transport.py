"""httpx transports: one that keeps what passes through it, one that answers from what was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Final, cast

import httpx

from harness.recording.exchanging import Dress
from harness.recording.replaying import Replayer
from harness.schema.recording import Exchange, Recording

__all__ = ["RecordingTransport", "ReplayTransport"]

#: What this client can decode, whatever it was told to offer.
_OFFERED: Final = "identity"


class RecordingTransport(httpx.BaseTransport):
    """Passes everything on to ``inner`` and gives each whole exchange to ``on_exchange``.

    An exchange is given at the moment its answer was read to the end, before the reader sees that end; what
    ``on_exchange`` raises reaches the caller. An answer that broke off, or was given up, is none. ``first`` is the
    number of the first exchange. ``on_headers`` is shown the headers of every answer, before its body is read; what
    it raises reaches the caller too.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        on_exchange: Callable[[Exchange], None],
        dress: Dress,
        *,
        first: int = 1,
        on_headers: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        self._inner, self._on_exchange, self._dress, self._next = inner, on_exchange, dress, first
        self._on_headers = on_headers
        self._lock = Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send and record. No encoding is offered that could not be decoded, and so not be redacted."""
        request.headers["accept-encoding"] = _OFFERED
        body = request.read()
        response = self._inner.handle_request(request)
        if self._on_headers is not None:
            try:
                self._on_headers(response.headers)
            except BaseException:
                response.close()
                raise
        asked = self._dress.request(request.method, request.url.path, request.headers, body)
        status, headers = response.status_code, response.headers
        # a transport that is not asynchronous never gives the other sort
        stream = cast("httpx.SyncByteStream", response.stream)

        def whole(answer: bytes) -> None:
            kept = self._dress.response(status, headers, answer)
            with self._lock:
                self._on_exchange(self._dress.exchange(self._next, asked, kept))
                self._next += 1

        return httpx.Response(status, headers=headers, stream=_Tee(stream, whole), extensions=dict(response.extensions))

    def close(self) -> None:
        """Close ``inner``."""
        self._inner.close()


class _Tee(httpx.SyncByteStream):
    """A body that is kept while it is read."""

    def __init__(self, stream: httpx.SyncByteStream, whole: Callable[[bytes], None]) -> None:
        self._stream, self._whole = stream, whole

    def __iter__(self) -> Iterator[bytes]:
        pieces = []
        for piece in self._stream:
            pieces.append(piece)
            yield piece
        self._whole(b"".join(pieces))

    def close(self) -> None:
        self._stream.close()


class ReplayTransport(httpx.BaseTransport):
    """Answers each request with the answer that was recorded for it, in the recorded order, each once; no network.

    One object serves one episode. Which answer is due, and what does not fit, is the ``replayer``'s to say; a request
    that does not fit raises ReplayMismatchError. Which texts of a request may be shown is ``sayable``.
    """

    def __init__(self, recording: Recording, dress: Dress, *, sayable: frozenset[str] = frozenset()) -> None:
        self.replayer, self._dress = Replayer(recording, dress.volatile, sayable=sayable), dress

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded answer. Raises ReplayMismatchError."""
        asked = self._dress.request(request.method, request.url.path, request.headers, request.read())
        response = self.replayer.take(asked, self._dress.key(asked)).response
        return httpx.Response(
            response.status, headers=response.headers, stream=httpx.ByteStream(self._dress.answer(response))
        )
