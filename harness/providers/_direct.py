"""Calls to hosts that no proxy stands before: one kept connection a host.

httpx's own way down costs a call several times as much processor time, which all episodes of a process share.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import httpx

from harness.providers._connection import Connection, Trace

__all__ = ["Answer", "Direct"]

#: A header that can be sent (RFC 9110, 5.1 and 5.5): a server could take a control character for its end.
_HEADER: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+: (?:[!-~](?:[ \t!-~]*[!-~])?)?")
_SCHEMES: Final = frozenset({"http", "https"})


class Answer(NamedTuple):
    """Status and headers (names in lower case) of an answer; its body is read once, and ``body`` closed in any case."""

    status: int
    headers: Mapping[str, str]
    body: httpx.SyncByteStream


class _Target(NamedTuple):
    """What a URL says, read once: ``lines`` are the first of a request, between its method and its headers."""

    url: httpx.URL
    place: tuple[str, bytes]
    lines: str


class Direct(httpx.BaseTransport):
    """One call at a time; what goes wrong is raised as httpx's own transport raises it. ``monotonic`` gives seconds."""

    def __init__(self, tls: ssl.SSLContext, monotonic: Callable[[], float]) -> None:
        tls.set_alpn_protocols(["http/1.1"])
        self._tls, self._monotonic = tls, monotonic
        self._targets: dict[str, _Target] = {}
        self._kept: dict[tuple[str, bytes], Connection] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """As ``ask``, for one that looks on; the time-outs and ``trace`` are those of the request's extensions."""
        timeout, trace = request.extensions["timeout"], request.extensions.get("trace")
        headers = {name: value for name, value in request.headers.items() if name not in {"host", "content-length"}}
        answer = self.ask(
            *(request.method, str(request.url), headers, request.read()),
            connect_s=timeout["connect"],
            silence_s=timeout["read"],
            trace=trace,
        )
        told = httpx.Headers(dict(answer.headers), encoding="utf-8")
        return httpx.Response(answer.status, headers=told, stream=answer.body)

    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        connect_s: float,
        silence_s: float,
        trace: Trace | None,
    ) -> Answer:
        """Send a request and read the head of its answer. Bounds are in seconds, for ``Connection``, as ``trace`` is.

        Raises:
            httpx.TransportError: of the kind that httpx's own transport raises; none shows a header.
            httpx.InvalidURL: ``url`` is none.
        """
        target = self._targets.get(url) or self._targets.setdefault(url, _target(url))
        request = _head(method, target, headers, len(body)) + body
        connection = self._kept.get(target.place)
        if connection is None or not connection.is_usable:
            if connection is not None:
                connection.drop()
            tls = self._tls if target.place[0] == "https" else None
            connection = Connection(target.url, tls, connect_s=connect_s, monotonic=self._monotonic, trace=trace)
            self._kept[target.place] = connection
        reader = connection.ask(request, silence_s)
        return Answer(reader.status, reader.headers, connection)

    def close(self) -> None:
        """Close all connections; idempotent."""
        for connection in self._kept.values():
            connection.drop()


def _target(text: str) -> _Target:
    url = httpx.URL(text)
    if url.scheme not in _SCHEMES or not url.raw_host:
        raise httpx.UnsupportedProtocol("neither http nor https, or no host")
    lines = f"{url.raw_path.decode('ascii')} HTTP/1.1\r\nhost: {url.netloc.decode('ascii')}"
    return _Target(url, (url.scheme, url.netloc), lines)


def _head(method: str, target: _Target, headers: Mapping[str, str], length: int) -> bytes:
    """The head of a request. Raises LocalProtocolError, which shows nothing of it."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if not all(map(_HEADER.fullmatch, lines)):
        raise httpx.LocalProtocolError("a header cannot be sent")
    if length or method != "GET":
        lines.append(f"content-length: {length}")
    return "\r\n".join((f"{method} {target.lines}", *lines, "", "")).encode("ascii")
