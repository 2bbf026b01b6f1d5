"""Whatever a server says, however it comes in pieces: the direct way means the same by it as httpx's does."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final, cast
from unittest.mock import patch

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers import _connection
from harness.providers._direct import Direct
from harness.providers._http import HttpTransport

URL: Final = "http://127.0.0.1/v1"
TLS: Final = ssl.create_default_context()

#: An answer, or how a call failed: category, may be sent again, something of a reply was delivered.
Outcome = WireResponse | tuple[str, bool, bool]


class Said:
    """A socket on which a server says some pieces, and then hangs up."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    def fileno(self) -> int:
        return 0

    def gettimeout(self) -> float:
        return 5.0

    def send(self, data: memoryview) -> int:
        return len(data)

    def recv(self, _most: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def close(self) -> None:
        """Nothing to close."""


def outcome(through: httpx.BaseTransport) -> Outcome:
    transport = HttpTransport(transport=through)
    try:
        return transport.send(URL, headers={}, body=b"{}", deadline_s=5.0, cancelled=lambda: False)
    except ProviderError as error:
        return error.category, error.retryable, error.delivered
    finally:
        transport.close()


def directly(pieces: Iterable[bytes]) -> Outcome:
    with patch.object(_connection, "_reached", return_value=cast("object", Said(pieces))):
        return outcome(Direct(TLS, lambda: 0.0))


def by_httpx(pieces: Iterable[bytes]) -> Outcome:
    through = httpx.HTTPTransport(verify=TLS)
    backend = httpcore.MockBackend([piece for piece in pieces if piece])
    through._pool = httpcore.ConnectionPool(network_backend=backend)
    return outcome(through)


def said(head: bytes, body: bytes = b"", first: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return first + b"\r\n" + head + b"\r\n\r\n" + body


_PIECE: Final = 65_536
CHUNKED: Final = b"transfer-encoding: chunked"
TWO: Final = b"content-length: 2"
SAME: Final = {
    "with a length": said(TWO, b"{}"),
    "chunked": said(CHUNKED, b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
    "chunked with extensions and trailers": said(CHUNKED, b'2;a=b;c="d e"\r\n{}\r\n0;e\r\nx-late: 1\r\n\r\n'),
    "a chunk whose size has a letter": said(b"Transfer-Encoding: chunked", b"A\r\n0123456789\r\n0\r\n\r\n"),
    "chunked in HTTP 1.0": said(CHUNKED, b"2\r\n{}\r\n0\r\n\r\n", b"HTTP/1.0 200 OK"),
    "chunks with padded sizes": said(CHUNKED, b"2  \r\n{}\r\n0\r\n\r\n"),
    "chunks and a length": said(CHUNKED + b"\r\ncontent-length: 1", b"2\r\n{}\r\n0\r\n\r\n"),
    "a length and chunks": said(TWO + b"\r\n" + CHUNKED, b"3\r\n{ }\r\n0\r\n\r\n"),
    "a chunk without a size": said(CHUNKED, b"\r\n{}\r\n0\r\n\r\n"),
    "a chunk whose size is no number": said(CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk below nothing": said(CHUNKED, b"-2\r\n{}\r\n0\r\n\r\n"),
    "a chunk of more than there is in the world": said(CHUNKED, b"f" * 30 + b"\r\n{}\r\n0\r\n\r\n"),
    "a chunk that is longer than its size": said(CHUNKED, b"2\r\n{  }\r\n0\r\n\r\n"),
    "another coding": said(b"transfer-encoding: gzip, chunked", b"2\r\n{}\r\n0\r\n\r\n"),
    "a coding that has no end": said(b"transfer-encoding: gzip", b"{}"),
    "no length": said(b"x: y", b"{}"),
    "no header at all": b"HTTP/1.1 200 OK\r\n\r\n{}",
    "HTTP 1.0": said(b"x: y", b"{}", b"HTTP/1.0 200 OK"),
    "two lengths that contradict": said(TWO + b"\r\ncontent-length: 3", b"{}"),
    "a length below nothing": said(b"content-length: -2", b"{}"),
    "a length with a sign": said(b"content-length: +2", b"{}"),
    "a length that is empty": said(b"content-length: ", b"{}"),
    "a length beyond all bounds": said(b"content-length: " + b"9" * 30, b"{}"),
    "a length of nothing": said(b"content-length: 0"),
    "lines that end without CR": said(b"x: y\ncontent-length: 2", b"{}").replace(b"\r\n", b"\n"),
    "spaces around a value": said(b"x:\t a b \t\r\ny:\r\n" + TWO + b" ", b"{}"),
    "headers that are said twice": said(b"X: a\r\nx: b\r\n" + TWO, b"{}"),
    "a value in UTF-8": said("x: é".encode() + b"\r\n" + TWO, b"{}"),
    "a value in Latin-1 beside one in UTF-8": said("x: é\r\n".encode() + b"y: \xe9\r\n" + TWO, b"{}"),
    "a control character in a value": said(b"x: a\x01b\r\n" + TWO, b"{}"),
    "a bare CR in a value": said(b"x: a\rb\r\n" + TWO, b"{}"),
    "a zero in a value": said(b"x: a\0b\r\n" + TWO, b"{}"),
    "a space behind a name": said(b"x : a\r\n" + TWO, b"{}"),
    "no name": said(b": a\r\n" + TWO, b"{}"),
    "a line that is no header": said(b"no header\r\n" + TWO, b"{}"),
    "a first header that goes on with nothing": said(b"  x: a\r\n" + TWO, b"{}"),
    "hints before": said(b"link: </a>", said(TWO, b"{}"), b"HTTP/1.1 103 Early Hints"),
    "to be continued, before": b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + said(TWO, b"{}"),
    "another protocol from here on": said(b"connection: upgrade\r\nupgrade: x", b"{}", b"HTTP/1.1 101 Switching"),
    "another protocol, unnamed": said(b"x: y", said(TWO, b"{}"), b"HTTP/1.1 101 Switching"),
    "an offer of another protocol": said(b"connection: upgrade\r\nupgrade: h2c\r\n" + TWO, b"{}"),
    "nothing to say": said(b"x: y", b"", b"HTTP/1.1 204 No Content"),
    "nothing to say, and some of it": said(TWO, b"{}", b"HTTP/1.1 204 No Content"),
    "not modified": said(TWO, b"", b"HTTP/1.1 304 Not Modified"),
    "a refusal": said(TWO, b"{}", b"HTTP/1.1 503 Busy"),
    "the last of all": said(b"connection: close\r\n" + TWO, b"{}"),
    "the last of all, and more": said(b"connection: close\r\n" + TWO, b"{}more"),
    "more than all": said(TWO, b"{}more"),
    "two answers": said(TWO, b"{}") * 2,
    "no reason": said(TWO, b"{}", b"HTTP/1.1 200"),
    "a reason in Latin-1": said(TWO, b"{}", b"HTTP/1.1 200 \xe9"),
    "a status of no sort": said(TWO, b"{}", b"HTTP/1.1 000 OK"),
    "a status of an unknown sort": said(TWO, b"{}", b"HTTP/1.1 999 OK"),
    "a status too short": said(TWO, b"{}", b"HTTP/1.1 20 OK"),
    "a status too long": said(TWO, b"{}", b"HTTP/1.1 2000 OK"),
    "the protocol of the next day": said(TWO, b"{}", b"HTTP/2 200 OK"),
    "the protocol of a radio": said(TWO, b"{}", b"ICY 200 OK"),
    "another greeting": b"SSH-2.0-OpenSSH\r\n\r\n",
    "a secret language": b"\x15\x03\x01\x00\x02\x02\x28",
    "nothing": b"",
}


OK: Final = WireResponse(200, {"content-length": "2"}, b"{}")
BAD: Final = ("bad_response", False, False)
LOST: Final = ("connection_lost", True, False)
#: Where both ways differ: what is said, what the direct way makes of it, what httpx's does.
DIFFERENT: Final[Mapping[str, tuple[bytes, Outcome, Outcome]]] = {
    # RFC 9112, 5.2: one space or more
    "a line that goes on in the next": (
        said(b"x: a\r\n  b\r\n" + TWO, b"{}"),
        WireResponse(200, {"x": "a  b", "content-length": "2"}, b"{}"),
        WireResponse(200, {"x": "a b", "content-length": "2"}, b"{}"),
    ),
    "a coding in capitals": (
        said(b"transfer-encoding: CHUNKED", b"2\r\n{}\r\n0\r\n\r\n"),
        WireResponse(200, {"transfer-encoding": "CHUNKED"}, b"{}"),
        WireResponse(200, {"transfer-encoding": "chunked"}, b"{}"),
    ),
    # RFC 9110, 8.6, and RFC 9112, 6.3, leave the choice: no server that knows its length says it twice
    "a length that is said twice": (said(TWO + b"\r\n" + TWO, b"{}"), BAD, OK),
    "a length that is a list": (said(TWO + b", 2", b"{}"), BAD, OK),
    # no such version was ever written down
    "a version that does not exist": (said(TWO, b"{}", b"HTTP/1.2 200 OK"), BAD, OK),
    "an empty line before": (b"\r\n" + said(TWO, b"{}"), OK, BAD),
    # a server of films has the form of one of HTTP, and what it says is kept with its status
    "a protocol of the same form": (said(TWO, b"{}", b"RTSP/1.0 200 OK"), OK, BAD),
    # what cannot become an answer any more is told for what it is, whole line or not
    "chunks without CR": (said(CHUNKED, b"2\n{}\n0\n\n"), BAD, LOST),
    "a greeting that does not end": (b"SSH-2.0", BAD, LOST),
    "a head beyond 64 KiB": (
        said(b"x: " + b"a" * 70_000 + b"\r\n" + TWO, b"{}"),
        BAD,
        WireResponse(200, {"x": "a" * 70_000, "content-length": "2"}, b"{}"),
    ),
}


@pytest.mark.parametrize("answer", SAME.values(), ids=SAME)
@pytest.mark.parametrize("size", [100_000_000, 1], ids=["at once", "byte by byte"])
def test_both_ways_understand_an_answer_alike(answer: bytes, size: int) -> None:
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    assert directly(pieces) == by_httpx(pieces)


@pytest.mark.parametrize(("answer", "ours", "theirs"), DIFFERENT.values(), ids=DIFFERENT)
def test_where_the_ways_differ_each_is_known(answer: bytes, ours: Outcome, theirs: Outcome) -> None:
    pieces = [answer[at : at + _PIECE] for at in range(0, len(answer), _PIECE)]
    assert (directly(pieces), by_httpx(pieces)) == (ours, theirs)


@given(answer=st.sampled_from([*SAME.values()]), data=st.data())
def test_no_split_of_an_answer_changes_it(answer: bytes, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(answer)), max_size=8)) | {0, len(answer)})
    pieces = [answer[start:end] for start, end in pairwise(ends)]
    assert directly(pieces) == directly([answer]) == by_httpx(pieces)


@pytest.mark.parametrize("answer", SAME.values(), ids=SAME)
def test_an_answer_that_breaks_off_anywhere_is_lost_alike_unless_it_was_bad_by_then(answer: bytes) -> None:
    for end in range(min(len(answer), 200)):
        ours, theirs = directly([answer[:end]]), by_httpx([answer[:end]])
        assert ours == theirs or (ours, theirs) == (BAD, LOST) == (directly([answer]), theirs), answer[:end]
