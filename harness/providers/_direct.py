"""Calls to a host that no proxy stands before: one kept connection a host, answers read by the standard library.

httpx's own way down costs a call three times as much processor time, which all episodes of a process share.
"""

from __future__ import annotations

import http.client
import io
import re
import select
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, TypeVar, cast

import httpx

__all__ = ["Answer", "Direct", "Trace"]

#: How long a connection without a call is used again, in seconds: a server or a firewall forgets it some day.
_IDLE_S: Final = 5.0
_PIECE: Final = 64 * 1024
_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
#: What the value of a header may be: a server could take a control character for its end.
_VALUE: Final = re.compile(r"(?:[!-~](?:[ \t!-~]*[!-~])?)?")
#: A value that goes on in a next line, as old servers write it.
_FOLD: Final = re.compile(r"\r?\n[ \t]+")
_PORTS: Final = {"http": 80, "https": 443}
_GONE: Final = "peer closed the connection before the whole answer"

_Value = TypeVar("_Value")
#: Told of a new connection, as httpcore tells it: ``get_extra_info("socket")`` of its ``return_value`` is the socket.
Trace = Callable[[str, Mapping[str, object]], None]


class Answer(NamedTuple):
    """Status and headers (names in lower case) of an answer; its body is read once, and ``body`` closed in any case."""

    status: int
    headers: dict[str, str]
    body: httpx.SyncByteStream


class _Head:
    """Lines of a head; one that breaks off has no end that could be taken for its own."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.file = file
        self.close = file.close

    def readline(self, limit: int) -> bytes:
        """The next line, with its end. Raises IncompleteRead."""
        line = self.file.readline(limit)
        if not line.endswith(b"\n") and len(line) < limit:
            raise http.client.IncompleteRead(line)
        return line


class _Response(http.client.HTTPResponse):
    """An answer; what a server says before it, of one that is on its way, is passed over."""

    def begin(self) -> None:
        """Read status and headers. Raises HTTPException where they cannot be read."""
        head = _Head(self.fp)
        self.fp = whole = cast("io.BufferedReader", head)
        try:
            super().begin()
            while self.status < 200 and self.status != http.HTTPStatus.SWITCHING_PROTOCOLS:  # noqa: PLR2004  (no end)
                self.headers = cast("http.client.HTTPMessage", None)  # as before the first
                super().begin()
        finally:
            if self.fp is whole:  # else it is closed
                self.fp = head.file
        if self.headers.defects:
            raise http.client.HTTPException("a line is no header")


class _Line:
    """A connection to one host, made when it is needed."""

    def __init__(self, url: httpx.URL, tls: ssl.SSLContext, monotonic: Callable[[], float]) -> None:
        self._host, self._port = url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]
        self._netloc = url.netloc.decode("ascii")
        self._tls, self._monotonic = tls if url.scheme == "https" else None, monotonic
        self._socket: socket.socket | None = None
        self._since = 0.0

    def get_extra_info(self, info: str) -> object:
        """``"socket"`` gives the socket."""
        return self._socket if info == "socket" else None

    def ready(self, connect_s: float | None, trace: Trace | None) -> socket.socket:
        """An open connection. Raises ConnectTimeout and ConnectError."""
        if self._socket is not None and not self._is_usable(self._socket):
            self.drop()
        if self._socket is None:
            self._socket = self._connected(connect_s)
            if trace is not None:
                trace("connection.connect_tcp.complete", {"return_value": self})
        return self._socket

    def _connected(self, connect_s: float | None) -> socket.socket:
        made = None
        try:
            made = socket.create_connection((self._host, self._port), connect_s)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made if self._tls is None else self._tls.wrap_socket(made, server_hostname=self._host)
        except OSError as error:
            if made is not None:
                made.close()
            kind = httpx.ConnectTimeout if isinstance(error, TimeoutError) else httpx.ConnectError
            raise kind(str(error)) from error

    def _is_usable(self, kept: socket.socket) -> bool:
        """Whether nobody forgot it: between two calls a server says something only to end it."""
        if self._monotonic() - self._since > _IDLE_S:
            return False
        looking = select.poll()
        looking.register(kept, select.POLLIN)
        return not looking.poll(0)

    def head(self, method: str, target: str, headers: Mapping[str, str], length: int) -> bytes:
        """The head of a request. Raises LocalProtocolError, which shows nothing of it."""
        if not all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in headers.items()):
            raise httpx.LocalProtocolError("a header cannot be sent")
        told = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{method} {target} HTTP/1.1\r\nhost: {self._netloc}\r\n{told}content-length: {length}\r\n\r\n".encode()

    def rest(self) -> None:
        """It can be used again."""
        self._since = self._monotonic()

    def drop(self) -> None:
        """Close the connection; idempotent."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class _Body(httpx.SyncByteStream):
    """The body of an answer, as it comes; its connection is used again only where all of it was read."""

    def __init__(self, response: http.client.HTTPResponse, line: _Line) -> None:
        self._response, self._line = response, line
        self._is_whole = False

    def __iter__(self) -> Iterator[bytes]:
        while piece := _heard(self._next):
            yield piece
        if self._response.length:
            raise httpx.RemoteProtocolError(_GONE)
        self._is_whole = True

    def _next(self) -> bytes:
        return self._response.read1(_PIECE)

    def close(self) -> None:
        self._response.close()
        if self._is_whole and not self._response.will_close:
            self._line.rest()
        else:
            self._line.drop()


class Direct(httpx.BaseTransport):
    """One call at a time; what goes wrong is raised as httpx's own transport raises it. ``monotonic`` gives seconds."""

    def __init__(self, tls: ssl.SSLContext, monotonic: Callable[[], float]) -> None:
        tls.set_alpn_protocols(["http/1.1"])
        self._tls, self._monotonic = tls, monotonic
        self._lines: dict[tuple[str, bytes], _Line] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """As ``ask``, for one that looks on."""
        timeout, body = request.extensions.get("timeout", {}), request.read()
        headers = {name: value for name, value in request.headers.items() if name not in {"host", "content-length"}}
        answer = self.ask(
            request.method,
            request.url,
            headers,
            body,
            connect_s=timeout.get("connect"),
            read_s=timeout.get("read"),
            trace=request.extensions.get("trace"),
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=answer.body)

    def ask(
        self,
        method: str,
        url: httpx.URL,
        headers: Mapping[str, str],
        body: bytes,
        *,
        connect_s: float | None,
        read_s: float | None,
        trace: Trace | None,
    ) -> Answer:
        """Send a request and read the head of its answer; ``read_s`` bounds the silence between two pieces."""
        line = self._lines.get((url.scheme, url.netloc))
        if line is None:
            if url.scheme not in _PORTS or not url.raw_host:
                raise httpx.UnsupportedProtocol("neither http nor https, or no host")
            line = self._lines[url.scheme, url.netloc] = _Line(url, self._tls, self._monotonic)
        sent = line.head(method, url.raw_path.decode("ascii"), headers, len(body)) + body
        connection = line.ready(connect_s, trace)
        try:
            connection.settimeout(read_s)
            response = _exchanged(connection, method, sent)
        except BaseException:
            line.drop()
            raise
        return Answer(response.status, _told(response.headers), _Body(response, line))

    def close(self) -> None:
        """Close all connections; idempotent."""
        for line in self._lines.values():
            line.drop()


def _exchanged(connection: socket.socket, method: str, sent: bytes) -> http.client.HTTPResponse:
    try:
        connection.sendall(sent)
    except TimeoutError as error:
        raise httpx.WriteTimeout(str(error)) from error
    except OSError:
        pass  # whoever hangs up early may have said why
    response = _Response(connection, method=method)
    try:
        _heard(response.begin)
    except BaseException:
        response.close()
        raise
    return response


def _told(headers: http.client.HTTPMessage) -> dict[str, str]:
    """Each header once; what is said in several lines is joined by commas."""
    told: dict[str, str] = {}
    for name, said in headers.items():
        value = (said if said.isascii() and "\n" not in said else _text(said)).strip(" \t")
        key = name.lower()
        told[key] = f"{told[key]}, {value}" if key in told else value
    return told


def _text(said: str) -> str:
    raw = _FOLD.sub(" ", said).encode("latin-1")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _heard(read: Callable[[], _Value]) -> _Value:
    """What is read of an answer, or what httpx would raise."""
    try:
        return read()
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error)) from error
    except OSError as error:
        raise httpx.ReadError(str(error)) from error
    except http.client.IncompleteRead:
        raise httpx.RemoteProtocolError(_GONE) from None
    except (http.client.HTTPException, ValueError):
        raise httpx.RemoteProtocolError("the answer is no HTTP") from None
