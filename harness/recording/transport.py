"""httpx transports: one that keeps what passes through it, one that answers from what was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, cast

import httpx

from harness.recording.bodies import is_stream
from harness.recording.exchanging import ENCODING, Dress, decoded
from harness.recording.replaying import Replayer
from harness.schema.recording import Exchange, Recording

__all__ = ["RecordingTransport", "ReplayTransport", "Streams"]

#: What this client can decode, whatever it was told to offer.
_OFFERED: Final = "identity"


@dataclass(frozen=True, slots=True)
class Streams:
    """How a dialect streams: ``coalesce`` puts each text into one piece, ``is_answer`` says whether what came is one.

    A path or a secret that is spread over several events could be neither found nor put back.
    """

    coalesce: Callable[[bytes], bytes]
    is_answer: Callable[[bytes], bool]


class RecordingTransport(httpx.BaseTransport):
    """Passes everything on to ``inner`` and gives each whole exchange to ``on_exchange``.

    An exchange is given at the moment its answer was read to the end, before the reader sees that end; what
    ``on_exchange`` raises reaches the caller. An answer that broke off, or was given up, is none, but for a stream of
    events that ``streams`` takes for an answer as far as it came. ``first`` is the
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
        streams: Streams | None = None,
    ) -> None:
        self._inner, self._on_exchange, self._dress, self._next = inner, on_exchange, dress, first
        self._on_headers, self._streams = on_headers, streams
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
        streams = self._streams

        def whole(answer: bytes) -> None:
            plain, told = decoded(answer, headers), dict(headers)
            if streams is not None and plain is not None and is_stream(told, plain):
                answer = streams.coalesce(plain)
                told.pop(ENCODING, None)
            kept = self._dress.response(status, told, answer)
            with self._lock:
                self._on_exchange(self._dress.exchange(self._next, asked, kept))
                self._next += 1

        def has_ended(answer: bytes) -> bool:
            return streams is not None and streams.is_answer(decoded(answer, headers) or b"")

        tee = _Tee(stream, whole, has_ended)
        return httpx.Response(status, headers=headers, stream=tee, extensions=dict(response.extensions))

    def close(self) -> None:
        """Close ``inner``."""
        self._inner.close()


class _Tee(httpx.SyncByteStream):
    """A body that is kept while it is read; one that is given up is whole where ``has_ended`` says so of what came."""

    def __init__(
        self, stream: httpx.SyncByteStream, whole: Callable[[bytes], None], has_ended: Callable[[bytes], bool]
    ) -> None:
        self._stream, self._whole, self._has_ended = stream, whole, has_ended
        self._is_kept = False
        self._pieces: list[bytes] = []

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._pieces.append(piece)
            yield piece
        self._keep(b"".join(self._pieces))

    def _keep(self, body: bytes) -> None:
        self._is_kept = True
        self._whole(body)

    def close(self) -> None:
        self._stream.close()
        body = b"".join(self._pieces)
        if not self._is_kept and self._has_ended(body):
            self._keep(body)


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
