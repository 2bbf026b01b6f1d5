"""One open connection to one host: a request goes down, its answer comes up."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import httpx

from harness.providers._answer import AnswerReader

__all__ = ["Connection", "Trace"]

#: How long a connection without a call is used again, in seconds: a server or a firewall forgets it some day.
_IDLE_S: Final = 5.0
#: Shortest time for an address to be tried, in seconds, where others took all of it.
_LEAST_S: Final = 0.001
_PIECE: Final = 64 * 1024
_PORTS: Final = {"http": 80, "https": 443}

#: Told of a new connection, as httpcore tells it: ``get_extra_info("socket")`` of its ``return_value`` is the socket.
Trace = Callable[[str, Mapping[str, object]], None]


class Connection(httpx.SyncByteStream):
    """A connection to the host of a URL (http, or https where there is ``tls``), and the body of its newest answer.

    It is made within ``connect_s`` seconds after the look-up of the name, TLS included. All that fails is raised as
    httpx's own transport raises it. ``monotonic`` gives seconds.

    Raises:
        httpx.ConnectTimeout, httpx.ConnectError: there is none.
    """

    def __init__(
        self,
        url: httpx.URL,
        tls: ssl.SSLContext | None,
        *,
        connect_s: float,
        monotonic: Callable[[], float],
        trace: Trace | None,
    ) -> None:
        self._monotonic = monotonic
        self._rests_since: float | None = None
        host = url.raw_host.decode("ascii")
        try:
            found = socket.getaddrinfo(host, url.port or _PORTS[url.scheme], type=socket.SOCK_STREAM)
            end = monotonic() + connect_s
            self._socket = _reached(found, end, monotonic)
            if trace is not None:
                trace("connection.connect_tcp.complete", {"return_value": self})
            if tls is not None:
                self._secure(tls, host, end)
        except OSError as error:
            kind = httpx.ConnectTimeout if isinstance(error, TimeoutError) else httpx.ConnectError
            raise kind(str(error)) from error
        self._looking = select.poll()
        self._looking.register(self._socket, select.POLLIN)
        self._reader = AnswerReader()

    def _secure(self, tls: ssl.SSLContext, host: str, end: float) -> None:
        try:
            self._socket.settimeout(max(end - self._monotonic(), _LEAST_S))
            # apart from the handshake: whoever waits for it can be woken through the socket that is known by then
            self._socket = wrapped = tls.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
            wrapped.do_handshake()
        except BaseException:
            self._socket.close()
            raise

    def get_extra_info(self, info: str) -> object:
        """``"socket"`` gives the socket."""
        return self._socket if info == "socket" else None

    @property
    def is_usable(self) -> bool:
        """Whether a call may go down it: between two calls a server says something only to end it."""
        if self._rests_since is None or self._monotonic() - self._rests_since > _IDLE_S:
            return False
        return not self._looking.poll(0)

    def ask(self, request: bytes, silence_s: float) -> AnswerReader:
        """Send it and read the head of its answer; ``silence_s`` bounds the wait for each piece, of the body too.

        Raises:
            httpx.WriteTimeout, httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError: the connection is closed.
        """
        reader, self._rests_since = self._reader, None
        reader.expect()
        try:
            if self._socket.gettimeout() != silence_s:
                self._socket.settimeout(silence_s)
            self._send(request)
            while not reader.status:
                self._hear()
        except BaseException:
            self.drop()
            raise
        return reader

    def _send(self, request: bytes) -> None:
        left = memoryview(request)
        try:
            while left:
                left = left[self._socket.send(left) :]
        except TimeoutError as error:
            raise httpx.WriteTimeout(str(error)) from error
        except OSError:
            pass  # whoever hangs up early may have said why

    def _hear(self) -> None:
        if self._reader.problem is not None:
            raise httpx.RemoteProtocolError(self._reader.problem)
        try:
            data = self._socket.recv(_PIECE)
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
        self._reader.feed(data)

    def __iter__(self) -> Iterator[bytes]:
        reader = self._reader
        while True:
            pieces, reader.pieces = reader.pieces, []
            yield from pieces
            if reader.is_whole:
                return
            self._hear()

    def close(self) -> None:
        """The answer is done with: the connection rests where all of it came and another may follow, else it ends."""
        if self._reader.is_whole and self._reader.is_kept:
            self._rests_since = self._monotonic()
        else:
            self.drop()

    def drop(self) -> None:
        """Close the connection; idempotent."""
        self._rests_since = None
        self._reader.end()
        self._socket.close()


#: What ``getaddrinfo`` gives of an address.
_Found = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str | bytes | int, ...]]


def _reached(found: Sequence[_Found], end: float, monotonic: Callable[[], float]) -> socket.socket:
    """A connection to the first address that answers; one that does not has half of what is left, as curl does it."""
    for more, (family, kind, protocol, _, address) in zip(reversed(range(len(found))), found, strict=True):
        left = end - monotonic()
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(max(left / 2 if more else left, _LEAST_S))
            made.connect(address)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            made.close()
            if not more:
                raise
        else:
            return made
    raise OSError("the host has no address")
