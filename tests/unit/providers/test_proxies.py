"""Proxies and certificates of the environment, against a proxy and a server with a certificate on this machine."""

from __future__ import annotations

import base64
import logging
import shutil
import socket
import ssl
import subprocess
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from peer import OK, Peer, Peers, answering

from harness.errors import ProviderError
from harness.providers import _way
from harness.providers._http import HttpTransport, network

PASSWORD = "canary-5d1e"


def post(transport: HttpTransport, url: str) -> bytes:
    try:
        return transport.send(url, headers={}, body=b"{}", deadline_s=5.0, cancelled=lambda: False).body
    finally:
        transport.close()


def pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def tunnel(connection: socket.socket, peer: Peer) -> None:
    """Do what a proxy does for ``CONNECT``; what was asked is kept, what goes through is not looked at."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536)
    peer.requests.append(head)
    host, _, port = head.split()[1].decode().partition(":")
    with socket.create_connection((host, int(port))) as onward:
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=pump, args=(onward, connection))
        back.start()
        pump(connection, onward)
        back.join()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and localhost that signed itself, with its key in one file, made for this session."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    named = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", str(folder / "key.pem")]
    file = folder / "ca.pem"
    subprocess.run([openssl, *made, *named, "-out", str(file)], check=True, capture_output=True)
    return file


@pytest.fixture
def secured(peer: Peers, certificate: Path) -> Peer:
    """A server behind TLS; ``port`` is where."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))

    def shake_hands(connection: socket.socket, server: Peer) -> None:
        with suppress(ssl.SSLError), context.wrap_socket(connection, server_side=True) as wrapped:
            while server.request(wrapped):
                wrapped.sendall(OK)

    return peer(shake_hands)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment that names nothing; it changes between these tests, and in a process of ours it never does."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    _way._tls.cache_clear()
    yield
    _way._tls.cache_clear()


def test_a_certificate_of_ones_own_is_not_trusted_unless_the_environment_says_so(
    secured: Peer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"https://127.0.0.1:{secured.port}/v1"
    with pytest.raises(ProviderError, match="could not be verified"):
        post(HttpTransport(), url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    _way._tls.cache_clear()
    assert post(HttpTransport(), url) == b"{}"
    assert secured.requests[0].startswith(b"POST /v1 HTTP/1.1")


def test_a_folder_of_certificates_is_trusted(
    secured: Peer, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(certificate, tmp_path / "ca.pem")
    subprocess.run(["openssl", "rehash", str(tmp_path)], check=True, capture_output=True)  # noqa: S607
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert post(HttpTransport(), f"https://127.0.0.1:{secured.port}/v1") == b"{}"
    monkeypatch.delenv("SSL_CERT_DIR")
    _way._tls.cache_clear()
    assert post(HttpTransport(bundle=str(tmp_path)), f"https://127.0.0.1:{secured.port}/v1") == b"{}"


@pytest.mark.parametrize("looked_on", [False, True], ids=["plain", "recorded"])
def test_a_bundle_is_trusted_also_where_somebody_looks_on(secured: Peer, certificate: Path, *, looked_on: bool) -> None:
    bundle = str(certificate)
    transport = HttpTransport(transport=network(bundle)) if looked_on else HttpTransport(bundle=bundle)
    assert post(transport, f"https://127.0.0.1:{secured.port}/v1") == b"{}"


def test_a_secure_connection_names_its_host_agrees_on_a_protocol_and_is_used_again(
    peer: Peers, certificate: Path
) -> None:
    told: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.sni_callback = lambda _socket, name, _context: told.append(name)

    def shake_hands(connection: socket.socket, server: Peer) -> None:
        with suppress(ssl.SSLError), context.wrap_socket(connection, server_side=True) as wrapped:
            told.append(wrapped.selected_alpn_protocol())
            while server.request(wrapped):
                wrapped.sendall(OK)

    server = peer(shake_hands)
    transport = HttpTransport(bundle=str(certificate))
    for _ in range(2):
        answer = transport.send(
            f"https://localhost:{server.port}/v1", headers={}, body=b"{}", deadline_s=5.0, cancelled=lambda: False
        )
        assert answer.body == b"{}"
    transport.close()
    assert (server.connections, told) == (1, ["localhost", "http/1.1"])


def test_a_secure_call_goes_through_the_proxy_as_a_tunnel(
    peer: Peers, secured: Peer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = peer(tunnel)
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert post(HttpTransport(), f"https://127.0.0.1:{secured.port}/v1") == b"{}"
    (asked,) = proxy.requests
    assert asked.startswith(f"CONNECT 127.0.0.1:{secured.port} HTTP/1.1".encode())
    assert base64.b64encode(f"user:{PASSWORD}".encode()) in asked
    assert b"POST" not in asked


@pytest.mark.parametrize(
    ("variables", "is_asked"),
    [
        ({"HTTP_PROXY": "{proxy}"}, True),
        ({"ALL_PROXY": "{proxy}"}, True),
        ({"HTTP_PROXY": "{proxy}", "NO_PROXY": "127.0.0.1"}, False),
        ({"http_proxy": "{proxy}", "no_proxy": "*"}, False),
        ({"http_proxy": "{proxy}", "no_proxy": "example.test"}, True),
        ({"HTTPS_PROXY": "{proxy}"}, False),
    ],
)
def test_the_proxy_is_asked_as_the_environment_says(
    peer: Peers, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], *, is_asked: bool
) -> None:
    proxy, server = peer(answering(OK)), peer(answering(OK))
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(proxy=f"http://127.0.0.1:{proxy.port}"))
    assert post(HttpTransport(), server.url) == b"{}"
    assert (len(proxy.requests), len(server.requests)) == ((1, 0) if is_asked else (0, 1))


def test_the_password_of_a_proxy_is_in_no_error_no_log_and_no_text(
    peer: Peers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(connection: socket.socket, server: Peer) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")

    caplog.set_level(logging.DEBUG, "harness")
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:{PASSWORD}@127.0.0.1:{peer(refuse).port}")
    transport = HttpTransport()
    shown = repr(transport)
    with pytest.raises(ProviderError) as caught:
        post(transport, "https://provider.test/v1")
    shown += "".join(traceback.format_exception(caught.value)) + caplog.text
    assert caught.value.told == "the proxy refused to connect"
    assert PASSWORD not in shown
    assert base64.b64encode(f"user:{PASSWORD}".encode()).decode() not in shown
