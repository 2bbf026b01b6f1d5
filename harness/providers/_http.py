"""The room with the network: one request with bounds on time, size and redirects."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, cast

import httpx

from harness.clock import SystemClock
from harness.errors import ProviderError
from harness.ports import Clock, Cut, WireResponse
from harness.providers._bounds import Bounds
from harness.providers._inflate import BodyTooLargeError, UnreadableBodyError, reader_for
from harness.providers._watch import Watch
from harness.providers._way import network, way_of

__all__ = ["BODY_MAX", "CONNECT_S", "HttpTransport", "network"]

#: Largest body that is read, in bytes, before and after decompression.
BODY_MAX: Final = 16 * 1024 * 1024
#: How much of a stream is told at once, in bytes.
_SLICE: Final = 64 * 1024
#: Longest time for a connection to be made, TLS included, in seconds.
CONNECT_S: Final = 10.0

#: Compression is not asked for: bodies are small, and the bound is then simply that of the network.
_HEADERS: Final = {
    "accept": "*/*",
    "accept-encoding": "identity",
    "connection": "keep-alive",
    "user-agent": "behavior-harness",
}

_SUCCESS: Final = range(200, 300)

#: What a stream that broke off is told as.
_CUTS: Final[Mapping[str, Cut]] = {"connection_lost": "connection_lost", "timeout": "timeout"}

#: What httpcore and h11 say where an answer ended before its end, and we do.
_HUNG_UP: Final = ("peer closed", "peer unexpectedly closed", "disconnected")

#: What a call can fail with that is no bug of ours.
_FAILURES: Final = (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError, BodyTooLargeError, UnreadableBodyError)


class _NetworkStream(Protocol):
    """What httpcore tells of an open connection."""

    def get_extra_info(self, info: str) -> object:
        """``"socket"`` gives the socket."""


@dataclass(frozen=True, slots=True)
class _Stream:
    """A successful answer that is read piece by piece."""

    status: int
    headers: Mapping[str, str]
    pieces: list[bytes]

    def broken(self, cut: Cut, bound: str | None = None) -> WireResponse:
        """What had come of it."""
        return WireResponse(self.status, self.headers, b"".join(self.pieces), cut, bound)


class HttpTransport:
    """One client; one call at a time. A worker has its own.

    Proxies and certificate authorities come from the environment, as httpx reads it; a ``bundle`` of certificates (a
    file, or a folder of them) replaces the latter. Cookies are never kept.
    """

    def __init__(
        self,
        *,
        connect_s: float = CONNECT_S,
        read_s: float | None = None,
        body_max: int = BODY_MAX,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
        bundle: str | None = None,
    ) -> None:
        """``read_s`` bounds the silence between two pieces of an answer; None leaves that to the deadline.

        ``transport`` answers instead of the network, and is closed with this; the bounds hold as ever.
        """
        self._connect_s, self._read_s, self._body_max = connect_s, read_s, body_max
        self._clock = clock or SystemClock()
        self._way = way_of(network(bundle, self._clock) if transport is None else transport)
        self._turn = threading.Lock()
        self._streams: dict[str, _NetworkStream] = {}
        self._url = ""
        self._has_begun = False
        self._stream: _Stream | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a call is on it."""
        return self._turn.locked()

    def send(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        """POST ``body`` and read the whole answer, whatever its status is, within ``deadline_s`` seconds.

        With ``is_over`` the answer is a stream: it is told each piece of a successful answer, and once it says yes
        nothing more is waited for. Such an answer is returned also where it breaks off, with its ``cut``.

        The deadline bounds everything after the look-up of the host's name, which the system bounds. Cancellation is
        noticed within 50 ms once there is a connection.

        Raises:
            ProviderError: ``timeout``, ``connection_lost`` (a cancelled call too, then not retryable),
                ``bad_response``, ``invalid_request``; ``delivered``, and so not retryable, where a successful answer
                had begun to arrive. Nothing of the address, the headers or the answer is in its
                text, and no exception that holds them hangs on it. ``cancelled`` itself must not raise.
        """
        return self._bounded("POST", url, headers, body, deadline_s=deadline_s, cancelled=cancelled, is_over=is_over)

    def fetch(self, url: str, *, deadline_s: float) -> WireResponse:
        """GET what is there, whatever its status is, without a key, under the same bounds. Raises ProviderError."""
        return self._bounded("GET", url, {}, b"", deadline_s=deadline_s, cancelled=lambda: False)

    def _bounded(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        bounds = Bounds(self._connect_s, self._read_s, deadline_s)
        with self._turn:
            watch = Watch(clock=self._clock, deadline_s=deadline_s, cancelled=cancelled, interrupt=self._shut_down)
            with watch:
                try:
                    told = None if is_over is None else _in_slices(is_over, watch)
                    return self._exchange(method, url, headers, body, bounds=bounds, is_over=told)
                except _FAILURES as error:
                    known = _failure(error, bounds) if watch.reason is None else _stopped(watch, bounds)
            if self._stream is not None and known.category in {"connection_lost", "timeout"}:
                cut = "cancelled" if watch.reason == "cancelled" else _CUTS[known.category]
                return self._stream.broken(cut, known.told if cut == "timeout" else None)
            if self._has_begun and known.category in {"connection_lost", "timeout"}:
                known.delivered, known.retryable = True, False
            # Outside the handler: what was caught holds headers and address, and must not hang on this.
            raise known

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        bounds: Bounds,
        is_over: Callable[[bytes], bool] | None,
    ) -> WireResponse:
        self._has_begun, self._stream = False, None
        self._url = url
        answer = self._way.ask(
            *(method, url, {**_HEADERS, **headers}, body),
            connect_s=bounds.connect,
            silence_s=bounds.silence,
            trace=self._seen,
        )
        is_success = answer.status in _SUCCESS
        try:
            read = reader_for(answer.headers.get("content-encoding", ""), self._body_max)
            pieces: list[bytes] = []
            raw_left = self._body_max
            if is_over is not None and is_success:
                self._stream = _Stream(answer.status, answer.headers, pieces)
            for piece in answer.body:
                self._has_begun = self._has_begun or (is_success and bool(piece))
                raw_left -= len(piece)
                if raw_left < 0:
                    raise BodyTooLargeError
                pieces.append(read(piece))
                if self._stream is not None and is_over is not None and is_over(pieces[-1]):
                    break
            return WireResponse(answer.status, answer.headers, b"".join(pieces))
        finally:
            answer.body.close()

    def _seen(self, event: str, info: Mapping[str, object]) -> None:
        """Remember the newest connection for each URL: one that is used again does not announce itself again."""
        name, _, stage = event.rpartition(".")
        if stage == "complete" and name.endswith(("connect_tcp", "start_tls")):
            self._streams[self._url] = cast("_NetworkStream", info["return_value"])

    def _shut_down(self) -> None:
        """Wake whoever reads or writes; closing alone would not."""
        for stream in tuple(self._streams.values()):
            found = stream.get_extra_info("socket")
            if isinstance(found, socket.socket):
                # The method of the plain socket: that of a TLS socket would take the session away from its reader.
                with suppress(OSError):
                    socket.socket.shutdown(found, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all connections; idempotent."""
        self._way.close()
        self._streams.clear()


def _in_slices(is_over: Callable[[bytes], bool], watch: Watch) -> Callable[[bytes], bool]:
    """The same, but a piece that decompressed to very much is told bit by bit, so that the deadline bounds it too."""

    def told(piece: bytes) -> bool:
        for start in range(0, len(piece), _SLICE):
            if watch.reason is not None:
                raise TimeoutError
            if is_over(piece[start : start + _SLICE]):
                return True
        return False

    return told


def _stopped(watch: Watch, bounds: Bounds) -> ProviderError:
    if watch.reason == "cancelled":
        return ProviderError("connection_lost", "the call was cancelled")
    return ProviderError("timeout", bounds.over, retryable=True)


def _failure(error: Exception, bounds: Bounds) -> ProviderError:  # noqa: PLR0911  (one line a cause)
    """What an exception of the client means."""
    match error:
        case BodyTooLargeError():
            return ProviderError("bad_response", "response too large")
        case UnreadableBodyError():
            way = f"with {error}, which was not asked for" if str(error) else "in a way that cannot be read"
            return ProviderError("bad_response", f"the body is compressed {way}")
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ProviderError("timeout", bounds.no_connection, retryable=True, sent=False)
        case httpx.TimeoutException():
            return ProviderError("timeout", bounds.silent, retryable=True)
        case httpx.ConnectError():
            return _no_connection(error)
        case httpx.ProxyError():
            return ProviderError("connection_lost", "the proxy refused to connect", sent=False)
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError() | httpx.InvalidURL() | UnicodeError():
            return ProviderError("invalid_request", "the address or a header cannot be sent", sent=False)
        case httpx.RemoteProtocolError() if not any(said in str(error) for said in _HUNG_UP):
            return ProviderError("bad_response", "the answer is not HTTP; is the base URL right?")
        case _:
            return ProviderError("connection_lost", "the connection was lost before the whole answer", retryable=True)


def _no_connection(error: Exception) -> ProviderError:
    cause: BaseException | None = error
    # Bounded: nothing keeps a chain of causes from being a ring.
    for _ in range(8):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ProviderError("connection_lost", "the certificate of the server could not be verified", sent=False)
        cause = None if cause is None else cause.__cause__ or cause.__context__
    text = "no connection: refused, unreachable, or the host has no address"
    return ProviderError("connection_lost", text, retryable=True, sent=False)
