"""Connections that are kept, made and given up by the direct way, on real sockets of this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest
from peer import OK, Handler, Peer, Peers, answering

from harness.clock import SystemClock
from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers._http import HttpTransport

BIG = b"x" * (16 << 20)


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport(connect_s=2.0)
    yield made
    made.close()


def post(
    transport: HttpTransport,
    url: str,
    *,
    body: bytes = b"{}",
    cancelled: Callable[[], bool] = lambda: False,
    is_over: Callable[[bytes], bool] | None = None,
) -> WireResponse:
    return transport.send(url, headers={}, body=body, deadline_s=20.0, cancelled=cancelled, is_over=is_over)


def closing(answer: bytes) -> Handler:
    def handle(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        peer.wait_closed(connection)

    return handle


@pytest.mark.parametrize(
    ("handler", "connections"),
    [
        (answering(OK), 1),
        (answering(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), 1),
        (answering(b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}"), 1),
        (answering(b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}"), 2),
        (answering(b"HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 2\r\n\r\n{}"), 2),
        (answering(OK + b"HTTP/1.1 500 Not Yours\r\ncontent-length: 0\r\n\r\n"), 2),
        (answering(OK + b"noise"), 2),
        (closing(b"HTTP/1.1 200 OK\r\n\r\n{}"), 2),
    ],
    ids=["length", "chunks", "1.0 kept", "1.0", "close", "an answer too many", "noise", "until its end"],
)
def test_a_connection_is_used_again_where_the_server_says_so_and_nothing_is_left_on_it(
    peer: Peers, transport: HttpTransport, handler: Handler, connections: int
) -> None:
    server = peer(handler)
    for _ in range(2):
        answer = post(transport, server.url)
        assert (answer.status, answer.body) == (200, b"{}")
    assert server.connections == connections


@pytest.mark.parametrize(("end", "connections"), [(b"0\r\n\r\n", 1), (b"", 2)], ids=["all came", "not yet"])
def test_a_stream_that_is_over_leaves_its_connection_where_all_of_it_came(
    peer: Peers, transport: HttpTransport, end: bytes, connections: int
) -> None:
    said = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nover\r\n"
    server = peer(answering(said + end))
    for _ in range(2):
        answer = post(transport, server.url, is_over=lambda piece: piece == b"over")
        assert (answer.body, answer.cut) == (b"over", None)
    assert server.connections == connections


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_request_is_that_of_the_other_way(peer: Peers, transport: HttpTransport, method: str) -> None:
    asked: list[tuple[bytes, list[bytes], bytes]] = []

    def remember(connection: socket.socket, peer: Peer) -> None:
        head, _, body = connection.recv(65536).partition(b"\r\n\r\n")
        while method == "POST" and not body:
            body = connection.recv(65536)
        first, *headers = head.lower().split(b"\r\n")
        asked.append((first, sorted(headers), body))
        connection.sendall(OK)

    other = HttpTransport(transport=httpx.HTTPTransport())
    server = peer(remember)
    for way in (transport, other):
        if method == "GET":
            way.fetch(server.url + "?a=%20b", deadline_s=5.0)
        else:
            way.send(server.url, headers={"X-One": "a b"}, body=b"{}", deadline_s=5.0, cancelled=lambda: False)
    other.close()
    assert asked[0] == asked[1]


def test_a_host_with_several_addresses_is_reached_at_the_first_that_answers(
    peer: Peers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, full = peer(answering(OK)), socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = [socket.socket() for _ in range(4)]
    for one in waiting:  # what is beyond its backlog is not answered
        one.setblocking(False)
        one.connect_ex(full.getsockname())
    with socket.create_server(("127.0.0.1", 0)) as gone:
        refused = gone.getsockname()
    places = [full.getsockname(), refused, ("127.0.0.1", server.port)]
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", place) for place in places]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_named: found)
    transport, clock = HttpTransport(connect_s=4.0), SystemClock()
    start = clock.monotonic()
    assert post(transport, "http://localhost/v1").body == b"{}"
    assert 1.9 < clock.monotonic() - start < 3.9
    transport.close()
    found[:] = found[:1] * 3
    transport, start = HttpTransport(connect_s=2.0), clock.monotonic()
    with pytest.raises(ProviderError, match=r"no connection within 2 s") as caught:
        post(transport, "http://localhost/v1")
    assert clock.monotonic() - start < 3.5
    assert not caught.value.sent
    for one in (*waiting, full):
        one.close()


def test_an_address_of_the_sixth_version_is_reached(transport: HttpTransport) -> None:
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    heads: list[bytes] = []

    def serve() -> None:
        with listener, listener.accept()[0] as connection:
            heads.append(connection.recv(65536))
            connection.sendall(OK)

    serving = threading.Thread(target=serve)
    serving.start()
    port = listener.getsockname()[1]
    assert post(transport, f"http://[::1]:{port}/v1").body == b"{}"
    serving.join(5)
    assert f"\r\nhost: [::1]:{port}\r\n".encode() in heads[0]


def test_a_call_is_cancelled_while_hands_are_shaken(peer: Peers) -> None:
    def stall(connection: socket.socket, peer: Peer) -> None:
        connection.recv(65536)
        peer.asked.set()
        peer.wait_closed(connection)

    server, clock = peer(stall), SystemClock()
    transport, start = HttpTransport(connect_s=20.0), clock.monotonic()
    with pytest.raises(ProviderError, match="cancelled"):
        post(transport, server.url.replace("http:", "https:"), cancelled=server.asked.is_set)
    assert clock.monotonic() - start < 5
    transport.close()


def test_a_request_may_take_longer_than_the_silence_that_is_borne(peer: Peers) -> None:
    def read_slowly(connection: socket.socket, peer: Peer) -> None:
        left = len(BIG)
        while left > 0:
            peer.stop.wait(0.15)
            left -= len(connection.recv(1 << 20, socket.MSG_WAITALL))
        connection.sendall(OK)

    transport = HttpTransport(read_s=1.5)
    assert post(transport, peer(read_slowly).url, body=BIG).body == b"{}"
    transport.close()


def test_a_request_that_nobody_reads_ends_at_the_bound_of_silence(peer: Peers) -> None:
    def ignore(connection: socket.socket, peer: Peer) -> None:
        peer.stop.wait(20)

    transport, clock = HttpTransport(read_s=2.0), SystemClock()
    start = clock.monotonic()
    with pytest.raises(ProviderError, match=r"silent for 2 s") as caught:
        post(transport, peer(ignore).url, body=BIG)
    assert clock.monotonic() - start < 3.8
    transport.close()
    assert (caught.value.category, caught.value.sent) == ("timeout", True)


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nx: ", b"a"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;", b"a"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx: ", b"a"),
    ],
    ids=["head", "hints", "extension", "trailer"],
)
def test_what_is_never_a_body_has_an_end(peer: Peers, transport: HttpTransport, first: bytes, more: bytes) -> None:
    def flood(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(first)
        while True:
            connection.sendall(more * 4096)

    server = peer(flood)
    with pytest.raises(ProviderError) as caught:
        post(transport, server.url)
    assert (caught.value.category, caught.value.delivered) == ("bad_response", False)
    assert server.closed.wait(5)
