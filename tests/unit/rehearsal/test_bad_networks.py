"""What a client of each dialect makes of an answer that is spoiled on its way, over real sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from dialects import BOTH, EVERY, asked, decoded, played
from hypothesis import given
from hypothesis import strategies as st
from rehearsing import CODECS, header, rehearsal

from harness.errors import ProviderCategory, ProviderError
from harness.ports import WireResponse
from harness.providers._http import HttpTransport
from harness.rehearsal import Serving
from harness.rehearsal.draws import Draws
from harness.schema.base import JsonValue
from harness.schema.message import Reply
from harness.schema.rehearsal import REHEARSAL_HEADER, Visit

VISIT = Visit(scenario="toy/ask-then-read", trial=1, turn=1, attempt=1)


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport()
    yield made
    made.close()


def send(transport: HttpTransport, serving: Serving, name: str, *, stream: bool, deadline_s: float = 20) -> Reply:
    """One call as a live actor makes it, with a key. Raises ProviderError."""
    codec, (to, body) = CODECS[name], asked(name, stream=stream)
    response: WireResponse = transport.send(
        serving.url.removesuffix("/v1") + to,
        headers={**codec.headers("sk-canary"), REHEARSAL_HEADER: header()},
        body=body,
        deadline_s=deadline_s,
        cancelled=lambda: False,
        is_over=codec.stream_end() if stream else None,
    )
    return decoded(name, response, stream=stream)


def fault(kind: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"kind": kind, "at_turn": 1, **more}


def raw_answer(serving: Serving, to: str, body: bytes, version: str = "HTTP/1.1") -> bytes:
    """All bytes of the answer to one request, on a connection of its own."""
    head = f"POST {to} {version}\r\n{REHEARSAL_HEADER}: {header()}\r\nconnection: close\r\n"
    with (
        socket.create_connection(("127.0.0.1", httpx.URL(serving.url).port or 0), timeout=20) as raw,
        raw.makefile("rb") as answer,
    ):
        raw.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        return answer.read()


def outcome(transport: HttpTransport, name: str, stream: bool, **spoiled: JsonValue) -> Reply | ProviderError:
    """The reply or the error that a spoiled answer comes to."""
    with rehearsal(fault=[spoiled]).serve() as serving:
        try:
            return send(transport, serving, name, stream=stream)
        except ProviderError as error:
            return error


@EVERY
@BOTH
def test_an_answer_in_any_pieces_is_the_answer(transport: HttpTransport, name: str, stream: bool) -> None:
    with rehearsal(fault=[fault("chunks")]).serve() as cut, rehearsal().serve() as plain:
        got, wanted = (send(transport, one, name, stream=stream) for one in (cut, plain))
        assert [call.fault for call in cut.calls] == ["chunks"]
        assert cut.counts == {("m", VISIT): 1}
    assert got == wanted


@EVERY
def test_pieces_go_down_the_line_one_by_one(name: str) -> None:
    play = played(name, stream=True, fault=[fault("chunks")])
    assert len(play.pieces) > len(play.body) / 24
    with rehearsal(fault=[fault("chunks")]).serve() as serving:
        answer = raw_answer(serving, *asked(name, stream=True))
    chunks, sent = [], answer.partition(b"\r\n\r\n")[2]
    while sent:
        size, _, rest = sent.partition(b"\r\n")
        chunks.append(rest[: int(size, 16)])
        sent = rest[int(size, 16) + 2 :]
    assert tuple(chunks) == (*play.pieces, b"")


#: Fault -> what a whole answer comes to, and a stream.
ENDS: dict[str, tuple[ProviderCategory, ProviderCategory]] = {
    "reset": ("connection_lost", "connection_lost"),
    "close": ("connection_lost", "connection_lost"),
    "unfinished": ("bad_response", "stream_incomplete"),
    "error_body": ("overloaded", "overloaded"),
    "error_event": ("overloaded", "overloaded"),
    "html": ("bad_response", "bad_response"),
}


@EVERY
@BOTH
@pytest.mark.parametrize("kind", ENDS)
def test_a_spoiled_answer_is_told_as_what_happened(
    transport: HttpTransport, name: str, stream: bool, kind: str
) -> None:
    told = outcome(transport, name, stream, **fault(kind))
    assert isinstance(told, ProviderError)
    assert told.category == ENDS[kind][stream]
    assert "canary" not in str(told)
    if stream and kind in {"close", "unfinished"} and name != "gemini":
        assert told.delivered
        assert told.partial is not None


@EVERY
@pytest.mark.parametrize(("status", "category"), [(529, "overloaded"), (500, "server_error")])
def test_an_error_in_a_stream_is_the_one_that_was_declared(
    transport: HttpTransport, name: str, status: int, category: str
) -> None:
    told = outcome(transport, name, True, **fault("error_event", status=status))
    assert isinstance(told, ProviderError)
    assert told.category == category


@EVERY
@BOTH
def test_a_stall_that_ends_delays_the_answer_and_one_that_does_not_is_a_timeout(
    transport: HttpTransport, name: str, stream: bool
) -> None:
    start = time.monotonic()
    got = outcome(transport, name, stream, **fault("stall", seconds=0.1))
    assert isinstance(got, Reply)
    assert time.monotonic() - start >= 0.1
    with rehearsal(fault=[fault("stall")]).serve() as serving, pytest.raises(ProviderError) as caught:
        send(transport, serving, name, stream=stream, deadline_s=0.2)
    assert caught.value.category == "timeout"


def test_the_end_wakes_a_stall(transport: HttpTransport) -> None:
    before = threading.active_count()
    with rehearsal(fault=[fault("stall", seconds=600)]).serve() as serving, pytest.raises(ProviderError):
        send(transport, serving, "openai", stream=True, deadline_s=0.2)
    assert threading.active_count() <= before


@EVERY
def test_a_date_to_come_back_at_is_counted_from_the_servers_own(transport: HttpTransport, name: str) -> None:
    wait = fault("status", status=429, retry_after_s=6.5, retry_after_as="date")
    told = outcome(transport, name, False, **wait)
    assert isinstance(told, ProviderError)
    assert told.retry_after_s is not None
    assert 6 <= told.retry_after_s <= 8
    with rehearsal(fault=[wait]).serve() as serving:
        to, body = asked(name)
        url = serving.url.removesuffix("/v1") + to
        answer = httpx.post(url, content=body, headers={REHEARSAL_HEADER: header()})
    then = datetime.strptime(answer.headers["retry-after"], "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    assert 0 < (then - datetime.now(UTC)).total_seconds() <= 8


@EVERY
@BOTH
@pytest.mark.parametrize("kind", ["truncate", "no_usage"])
def test_half_an_answer_and_one_without_counts_come_in_every_dialect(
    transport: HttpTransport, name: str, stream: bool, kind: str
) -> None:
    got = outcome(transport, name, stream, **fault(kind))
    assert isinstance(got, Reply)
    if kind == "truncate":
        assert (got.finish, got.calls[0].arguments) == ("length", None)
    else:
        assert got.usage is None


def test_a_client_of_an_older_http_is_sent_a_stream_until_the_connection_ends() -> None:
    to, body = asked("openai", stream=True)
    with rehearsal().serve() as serving, httpx.Client() as client:
        plain = client.post(serving.url.removesuffix("/v1") + to, content=body, headers={REHEARSAL_HEADER: header()})
        assert plain.headers["transfer-encoding"] == "chunked"
    with rehearsal().serve() as serving:
        top, _, sent = raw_answer(serving, to, body, "HTTP/1.0").partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in top
    assert sent == plain.content


@given(st.integers(), st.binary(max_size=200) | st.text().map(lambda text: f"data: {text}\n\n".encode()))
def test_pieces_add_up_and_none_is_empty(seed: int, data: bytes) -> None:
    pieces = Draws(seed).pieces(data, VISIT)
    assert b"".join(pieces) == data
    assert all(pieces)


@given(st.integers())
def test_pieces_are_cut_in_a_field_and_in_a_character(seed: int) -> None:
    data = 'data: {"text":"Größe"}\n\n'.encode()
    cuts, at = set(), 0
    for piece in Draws(seed).pieces(data, VISIT):
        at += len(piece)
        cuts.add(at)
    assert {2, data.index("ö".encode()) + 1} <= cuts
