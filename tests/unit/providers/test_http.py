"""One POST against real sockets on this machine, and against a mocked client where a machine has no such failure."""

from __future__ import annotations

import gzip
import socket
import ssl
import struct
import threading
import traceback
import zlib
from collections.abc import Callable, Iterator

import httpcore
import httpx
import pytest
import respx
from hypothesis import given
from hypothesis import strategies as st
from peer import OK, Peer, Peers, answering, answering_once

from harness.clock import SystemClock
from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers._bounds import Bounds
from harness.providers._http import HttpTransport, _failure, network
from harness.providers.openai import build as codec

BOUNDS = Bounds(1.0, None, 2.0)
KEY = "sk-canary-0123456789"


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport(connect_s=2.0, body_max=1_000_000)
    yield made
    made.close()


def post(
    transport: HttpTransport,
    url: str,
    *,
    deadline_s: float = 5.0,
    cancelled: Callable[[], bool] = lambda: False,
    headers: dict[str, str] | None = None,
) -> WireResponse:
    return transport.send(
        url,
        headers=headers or {"authorization": f"Bearer {KEY}"},
        body=b'{"a":1}',
        deadline_s=deadline_s,
        cancelled=cancelled,
    )


def failure(
    transport: HttpTransport,
    url: str,
    *,
    deadline_s: float = 5.0,
    cancelled: Callable[[], bool] = lambda: False,
    headers: dict[str, str] | None = None,
) -> ProviderError:
    """The error of a call; neither its text nor a printed traceback tells the key or where the call went."""
    with pytest.raises(ProviderError) as caught:
        post(transport, url, deadline_s=deadline_s, cancelled=cancelled, headers=headers)
    error = caught.value
    printed = "".join(traceback.format_exception(type(error), error, None))
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in printed
    assert url not in printed
    return error


def test_the_whole_answer_comes_back_whatever_the_status_is(peer: Peers, transport: HttpTransport) -> None:
    teapot = peer(answering(b"HTTP/1.1 418 No\r\nX-Thing: 7\r\ncontent-length: 3\r\n\r\nabc"))
    answer = post(transport, teapot.url)
    assert (answer.status, answer.body, answer.headers["x-thing"]) == (418, b"abc", "7")
    assert teapot.requests[0].startswith(b"POST /v1/chat/completions HTTP/1.1")
    assert teapot.requests[0].endswith(b'\r\n\r\n{"a":1}')
    assert f"Bearer {KEY}".encode() in teapot.requests[0]


def test_a_connection_is_used_again_and_no_cookie_goes_back(peer: Peers, transport: HttpTransport) -> None:
    answer = b"HTTP/1.1 200 OK\r\nset-cookie: a=b; Path=/\r\ncontent-length: 2\r\n\r\n{}"
    server = peer(answering(answer))
    post(transport, server.url)
    post(transport, server.url)
    assert server.connections == 1
    assert len(server.requests) == 2
    assert b"cookie" not in server.requests[1].lower()


def test_a_redirect_is_an_answer_and_is_not_followed(peer: Peers, transport: HttpTransport) -> None:
    target = peer(answering(OK))
    moved = f"HTTP/1.1 307 Moved\r\nlocation: {target.url}\r\ncontent-length: 0\r\n\r\n".encode()
    answer = post(transport, peer(answering(moved)).url)
    assert answer.status == 307
    assert target.requests == []


def test_a_refused_connection_was_never_sent(transport: HttpTransport) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = failure(transport, f"http://127.0.0.1:{port}/v1")
    assert (error.category, error.retryable, error.sent) == ("connection_lost", True, False)


def test_silence_ends_at_the_deadline_and_closes_the_socket(peer: Peers, transport: HttpTransport) -> None:
    def stall(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        peer.wait_closed(connection)

    server = peer(stall)
    clock = SystemClock()
    start = clock.monotonic()
    error = failure(transport, server.url, deadline_s=0.2)
    assert (error.category, error.retryable, error.sent) == ("timeout", True, True)
    assert error.told == "no complete answer within 0.2 s (deadline of the attempt)"
    assert clock.monotonic() - start < 1.5
    assert server.closed.wait(5)


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"], ids=["headers", "body"])
def test_a_trickle_does_not_outlive_the_deadline(peer: Peers, transport: HttpTransport, first: bytes) -> None:
    def trickle(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(first)
        for byte in b"HTTP/1.1 200 OK\r\n" + b"x" * 5000:
            if peer.stop.wait(0.01):
                return
            connection.sendall(bytes([byte]))

    server = peer(trickle)
    error = failure(transport, server.url, deadline_s=0.2)
    assert error.category == "timeout"
    assert server.closed.wait(5)


def test_silence_between_two_pieces_ends_at_the_read_bound(peer: Peers) -> None:
    def stall(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")
        peer.wait_closed(connection)

    transport = HttpTransport(read_s=0.1)
    error = failure(transport, peer(stall).url)
    transport.close()
    assert (error.category, error.told) == ("timeout", "the provider was silent for 0.1 s (read time-out)")


def test_a_silence_that_is_never_too_long_is_waited_however_long_the_answer_takes(peer: Peers) -> None:
    def trickle(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")
        for byte in b"123456789":
            peer.stop.wait(0.1)
            connection.sendall(bytes([byte]))

    transport = HttpTransport(read_s=0.6)
    assert post(transport, peer(trickle).url).body == b"123456789"
    transport.close()


def test_a_stream_that_falls_silent_tells_which_bound_cut_it_off(peer: Peers) -> None:
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "Hm"}}]}\n\n'

    def stall(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n" + event)
        peer.wait_closed(connection)

    server = peer(stall)
    for bounds, told in (
        ({"read_s": 0.1, "deadline_s": 5.0}, "the provider was silent for 0.1 s (read time-out)"),
        ({"read_s": 5.0, "deadline_s": 0.2}, "no complete answer within 0.2 s (deadline of the attempt)"),
    ):
        transport = HttpTransport(read_s=bounds["read_s"])
        answer = transport.send(
            server.url,
            headers={},
            body=b"",
            deadline_s=bounds["deadline_s"],
            cancelled=lambda: False,
            is_over=lambda _: False,
        )
        transport.close()
        assert (answer.cut, answer.bound, answer.body) == ("timeout", told, event)
        with pytest.raises(ProviderError) as caught:
            codec().decode_stream(answer)
        assert (caught.value.category, caught.value.told) == ("timeout", told)


@given(
    bounds=st.builds(
        Bounds,
        st.floats(0.01, 1e3),
        st.none() | st.floats(0.01, 1e3),
        st.floats(0.01, 1e3),
    )
)
def test_no_bound_outlives_the_deadline_and_the_one_that_counts_is_named(bounds: Bounds) -> None:
    assert max(bounds.connect, bounds.silence) <= bounds.deadline_s
    assert ("connect time-out" in bounds.no_connection) == (bounds.connect_s < bounds.deadline_s)
    assert ("read time-out" in bounds.silent) == (bounds.silence < bounds.deadline_s)


def test_the_deadline_bounds_the_telling_of_a_piece_that_decompressed_to_very_much(peer: Peers) -> None:
    packed = gzip.compress(b"\n" * 8_000_000)

    def stall(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 99999\r\n\r\n" + packed)
        peer.wait_closed(connection)

    server = peer(stall)
    told: list[int] = []

    def is_over(piece: bytes) -> bool:
        told.append(len(piece))
        # it takes so long that the deadline passes, which closes the connection
        assert server.closed.wait(5)
        return False

    transport = HttpTransport()
    answer = transport.send(server.url, headers={}, body=b"", deadline_s=0.2, cancelled=lambda: False, is_over=is_over)
    transport.close()
    assert answer.cut == "timeout"
    assert len(told) == 1
    assert told[0] < 100_000


def test_cancellation_closes_the_socket_at_once(peer: Peers, transport: HttpTransport) -> None:
    def stall(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        peer.wait_closed(connection)

    server = peer(stall)
    clock = SystemClock()
    start = clock.monotonic()
    error = failure(transport, server.url, deadline_s=60.0, cancelled=server.asked.is_set)
    assert (error.category, error.retryable) == ("connection_lost", False)
    assert "cancelled" in str(error)
    assert clock.monotonic() - start < 2
    assert server.closed.wait(5)


def test_cancellation_reaches_a_connection_that_is_used_again(peer: Peers, transport: HttpTransport) -> None:
    def answer_then_stall(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(OK)
        peer.request(connection)
        peer.wait_closed(connection)

    server = peer(answer_then_stall)
    post(transport, server.url)
    error = failure(transport, server.url, deadline_s=60.0, cancelled=lambda: len(server.requests) == 2)
    assert "cancelled" in str(error)
    assert (server.connections, server.closed.wait(5)) == (1, True)


def test_a_reset_in_the_middle_of_a_body_is_a_lost_connection(peer: Peers, transport: HttpTransport) -> None:
    def reset(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"a"\r\n')
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    error = failure(transport, peer(reset).url)
    assert (error.category, error.retryable, error.delivered) == ("connection_lost", False, True)


@pytest.mark.parametrize(
    ("answer", "delivered"),
    [
        (b"", False),
        (b"HTTP/1.1 200 OK\r\ncontent-len", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{}", True),
        (b"HTTP/1.1 503 Busy\r\ncontent-length: 99\r\n\r\n{}", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}", True),
    ],
    ids=["no answer", "half a line", "half a head", "only a head", "half a chunk", "half a refusal", "half an answer"],
)
def test_an_end_before_the_end_is_a_lost_connection(
    peer: Peers, transport: HttpTransport, answer: bytes, *, delivered: bool
) -> None:
    """A reply of which a part is there was made and is paid for: the request is not sent again."""
    error = failure(transport, peer(answering_once(answer)).url)
    assert (error.category, error.retryable, error.delivered) == ("connection_lost", not delivered, delivered)


@pytest.mark.parametrize(
    "answer",
    [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 200 OK\r\nno header at all\r\ncontent-length: 2\r\n\r\n{}"],
    ids=["another protocol", "a line that is no header"],
)
def test_what_is_not_http_is_a_bad_response(peer: Peers, transport: HttpTransport, answer: bytes) -> None:
    error = failure(transport, peer(answering_once(answer)).url)
    assert (error.category, error.retryable) == ("bad_response", False)


@pytest.mark.parametrize("looked_on", [False, True], ids=["plain", "recorded"])
def test_what_is_said_before_the_answer_is_passed_over_and_its_headers_are_told_once(
    peer: Peers, *, looked_on: bool
) -> None:
    before = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    head = "HTTP/1.1 200 OK\r\nX-Two: a\r\nx-two:\tb \r\nx-long: c\r\n  d\r\nx-far: é\r\ncontent-length: 2\r\n\r\n"
    server = peer(answering(before + head.encode() + b"{}"))
    transport = HttpTransport(transport=network() if looked_on else None)
    for _ in range(2):
        answer = post(transport, server.url)
        told = {name: value for name, value in answer.headers.items() if name.startswith("x-")}
        assert (answer.status, answer.body) == (200, b"{}")
        assert told == {"x-two": "a, b", "x-long": "c  d", "x-far": "é"}
    transport.close()
    assert server.connections == 1


def test_who_hangs_up_before_all_was_sent_may_have_said_why(peer: Peers, transport: HttpTransport) -> None:
    def refuse(connection: socket.socket, peer: Peer) -> None:
        connection.recv(1024)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 20):
            pass

    server = peer(refuse)
    body = b"x" * (8 << 20)
    answer = transport.send(server.url, headers={}, body=body, deadline_s=20, cancelled=lambda: False)
    assert answer.status == 413


def test_a_connection_that_was_closed_or_rested_for_long_is_not_used_again(peer: Peers) -> None:
    class Ahead(SystemClock):
        by = 0.0

        def monotonic(self) -> float:
            return super().monotonic() + self.by

    ended = threading.Event()

    def answer_and_end(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(OK)
        connection.shutdown(socket.SHUT_WR)
        ended.set()
        peer.wait_closed(connection)

    clock, polite, rude = Ahead(), peer(answering(OK)), peer(answer_and_end)
    transport = HttpTransport(clock=clock)
    post(transport, polite.url)
    clock.by = 6.0
    post(transport, polite.url)
    assert (polite.connections, len(polite.requests)) == (2, 2)
    post(transport, rude.url)
    assert ended.wait(5)
    post(transport, rude.url)
    transport.close()
    assert rude.connections == 2


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_beyond_the_bound_is_refused_while_it_arrives(
    peer: Peers, transport: HttpTransport, *, chunked: bool
) -> None:
    def flood(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        head = b"transfer-encoding: chunked" if chunked else b"content-length: 100000000"
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
        while not peer.stop.is_set():
            connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    server = peer(flood)
    error = failure(transport, server.url)
    assert str(error) == "bad_response: response too large"
    assert server.closed.wait(5)


def _compressed(encoding: str, data: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("gzip", gzip.compress(b"[1]")), ("deflate", zlib.compress(b"[1]")), ("identity", b"[1]")],
    ids=["gzip", "deflate", "identity"],
)
def test_a_compressed_body_is_read(peer: Peers, transport: HttpTransport, encoding: str, data: bytes) -> None:
    assert post(transport, peer(answering(_compressed(encoding, data))).url).body == b"[1]"


def test_a_decompression_bomb_is_too_large(peer: Peers, transport: HttpTransport) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    error = failure(transport, peer(answering(_compressed("gzip", bomb))).url)
    assert len(bomb) < 1_000_000
    assert str(error) == "bad_response: response too large"


@pytest.mark.parametrize(("encoding", "data"), [("br", b"x"), ("gzip", b"no gzip at all")])
def test_an_unreadable_compression_is_a_bad_response(
    peer: Peers, transport: HttpTransport, encoding: str, data: bytes
) -> None:
    error = failure(transport, peer(answering(_compressed(encoding, data))).url)
    assert (error.category, "compressed" in str(error)) == ("bad_response", True)


@pytest.mark.parametrize("value", [f"Bearer {KEY}\nx: y", f"Bearer {KEY}é"], ids=["line break", "not ASCII"])
def test_a_header_that_cannot_be_sent_is_not_shown(peer: Peers, transport: HttpTransport, value: str) -> None:
    error = failure(transport, peer(answering(OK)).url, headers={"authorization": value})
    assert (error.category, error.sent) == ("invalid_request", False)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "http://[::1/v1"])
def test_an_address_that_cannot_be_used_is_an_invalid_request(transport: HttpTransport, url: str) -> None:
    assert failure(transport, url).category == "invalid_request"


def test_a_server_that_never_shakes_hands_times_out_unsent(peer: Peers) -> None:
    def stall(connection: socket.socket, peer: Peer) -> None:
        peer.stop.wait(5)

    server = peer(stall)
    transport = HttpTransport(connect_s=0.1)
    error = failure(transport, server.url.replace("http:", "https:"))
    transport.close()
    assert (error.category, error.retryable, error.sent) == ("timeout", True, False)
    assert error.told == "no connection within 0.1 s (connect time-out)"


def test_a_certificate_that_cannot_be_verified_is_not_retried() -> None:
    # The chain that httpx makes for it; a real one needs a private key, which no repository should hold.
    inner = httpcore.ConnectError("no")
    inner.__cause__ = ssl.SSLCertVerificationError("self-signed")
    outer = httpx.ConnectError("no")
    outer.__cause__ = inner
    error = _failure(outer, BOUNDS)
    assert (error.category, error.retryable, error.sent) == ("connection_lost", False, False)


def test_a_ring_of_causes_ends() -> None:
    one, other = httpx.ConnectError("no"), httpx.ConnectError("no")
    one.__cause__, other.__cause__ = other, one
    error = _failure(one, BOUNDS)
    assert error.retryable


def test_a_host_without_an_address_is_a_lost_connection() -> None:
    transport = HttpTransport(transport=httpx.HTTPTransport())
    with respx.mock() as mocked:
        mocked.post("https://provider.test/v1").mock(side_effect=httpx.ConnectError("getaddrinfo failed"))
        error = failure(transport, "https://provider.test/v1")
    assert (error.category, error.retryable, error.sent) == ("connection_lost", True, False)


def test_a_bug_of_ours_is_not_taken_for_an_outage() -> None:
    transport = HttpTransport(transport=httpx.HTTPTransport())
    with respx.mock() as mocked:
        mocked.post("https://provider.test/v1").mock(side_effect=KeyError("bug"))
        with pytest.raises(KeyError):
            post(transport, "https://provider.test/v1")


def test_the_proxy_of_the_environment_is_used(peer: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = peer(answering(OK))
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    transport = HttpTransport()
    assert post(transport, "http://provider.test/v1").body == b"{}"
    transport.close()
    assert proxy.requests[0].startswith(b"POST http://provider.test/v1 HTTP/1.1")


def test_a_proxy_that_refuses_is_not_asked_again(peer: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(connection: socket.socket, peer: Peer) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")

    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{peer(refuse).port}")
    transport = HttpTransport()
    error = failure(transport, "https://provider.test/v1")
    transport.close()
    assert (error.category, error.retryable, error.sent) == ("connection_lost", False, False)


def test_closing_closes_the_connection_and_closing_again_changes_nothing(peer: Peers, transport: HttpTransport) -> None:
    gone = threading.Event()

    def answer_and_wait(connection: socket.socket, server: Peer) -> None:
        server.request(connection)
        connection.sendall(OK)
        if connection.recv(1) == b"":
            gone.set()

    server = peer(answer_and_wait)
    assert post(transport, server.url).body == b"{}"
    assert not gone.is_set()
    transport.close()
    assert gone.wait(10)
    transport.close()
    assert server.connections == 1


def test_a_given_transport_answers_instead_of_the_network_and_is_closed_with_it() -> None:
    class Given(httpx.BaseTransport):
        closed = False

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, stream=httpx.ByteStream(request.read() * 2))

        def close(self) -> None:
            self.closed = True

    given = Given()
    made = HttpTransport(transport=given, body_max=20)
    assert post(made, "https://api.example.test/v1").body == b'{"a":1}' * 2
    made.close()
    assert given.closed
    small = HttpTransport(transport=given, body_max=10)
    assert failure(small, "https://api.example.test/v1").category == "bad_response"
    small.close()


def test_the_network_can_be_looked_on_through_a_transport_of_ones_own(peer: Peers) -> None:
    server = peer(answering(b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\n{}"))
    made = HttpTransport(transport=network())
    assert [post(made, server.url).body for _ in range(2)] == [b"{}", b"{}"]
    assert b"cookie" not in server.requests[1].lower()
    assert server.connections == 1
    made.close()


def test_a_way_of_compression_that_is_known_but_not_read_is_named(peer: Peers, transport: HttpTransport) -> None:
    assert "with br, which was not asked for" in str(failure(transport, peer(answering(_compressed("br", b"x"))).url))
    odd = failure(transport, peer(answering(_compressed("x-canary", b"x"))).url)
    assert "canary" not in str(odd)
