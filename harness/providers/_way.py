"""The ways down to a host: straight, or as httpx goes, which knows proxies and the transports that look on."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Protocol, cast

import httpx

from harness.clock import SystemClock
from harness.errors import EnvironmentProblem
from harness.ports import Clock
from harness.providers._connection import Trace
from harness.providers._direct import Answer, Direct
from harness.providers._surroundings import names_proxies

__all__ = ["Way", "network", "way_of"]


class Way(Protocol):
    """Sends requests, one at a time."""

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
        """As ``Direct.ask``."""

    def close(self) -> None:
        """Close all connections; idempotent."""


def way_of(transport: httpx.BaseTransport) -> Way:
    """Down that transport; it is closed with the way."""
    return transport if isinstance(transport, Direct) else _Through(transport)


class _Through:
    """As httpx goes: each request and each answer is an object of its own, which whoever looks on is shown."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._transport = transport
        self._addresses: dict[str, httpx.URL] = {}
        self.close: Callable[[], None] = transport.close

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
        timeout = httpx.Timeout(silence_s, connect=connect_s).as_dict()
        # a client reads the address anew each time that it makes a request
        address = self._addresses.get(url) or self._addresses.setdefault(url, httpx.URL(url))
        told = {"timeout": timeout, "trace": trace}
        request = httpx.Request(method, address, headers=headers, content=body, extensions=told)
        response = self._transport.handle_request(request)
        # a transport that is not asynchronous never gives the other sort
        stream = cast("httpx.SyncByteStream", response.stream)
        return Answer(response.status_code, dict(response.headers), stream)


def network(bundle: str | None = None, clock: Clock | None = None) -> httpx.BaseTransport:
    """What ``HttpTransport`` sends through by itself, proxies included: for a transport that looks on."""
    try:
        tls = _tls(bundle)
        return _Proxied(tls) if names_proxies() else Direct(tls, (clock or SystemClock()).monotonic)
    except (ValueError, OSError, ImportError, httpx.InvalidURL):
        # what was raised can hold a proxy's password
        raise EnvironmentProblem(
            "no request can be made with the proxies or certificates of the environment; see HTTP_PROXY, HTTPS_PROXY, "
            "ALL_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE"
        ) from None


@cache
def _tls(bundle: str | None = None) -> ssl.SSLContext:
    """One context for all transports: building it costs more than anything else about a client."""
    if bundle is None:
        return httpx.create_ssl_context()
    is_folder = Path(bundle).is_dir()
    return ssl.create_default_context(cafile=None if is_folder else bundle, capath=bundle if is_folder else None)


class _NoCookies(httpx.Cookies):
    """Looks for none in an answer, and gives none to a request."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Nothing."""

    def set_cookie_header(self, request: httpx.Request) -> None:
        """Nothing."""


class _Client(httpx.Client):
    """Keeps no cookies: none of a provider's ties one conversation to another, and none is looked for."""

    @property
    def cookies(self) -> httpx.Cookies:
        """None, ever."""
        return _NO_COOKIES

    @cookies.setter
    def cookies(self, cookies: object) -> None:
        """Left."""


_NO_COOKIES: Final = _NoCookies()


class _Proxied(httpx.BaseTransport):
    """As the environment says of each address: through a proxy, or not."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._client = _Client(verify=tls, follow_redirects=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._client.send(request, stream=True)

    def close(self) -> None:
        self._client.close()
