from __future__ import annotations

from datetime import UTC, datetime
from email.message import Message
from http.client import parse_headers
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rehearsal.heads import answer_head, first_fields, plain_head

LINE = b"POST /v1/chat/completions HTTP/1.1\r\n"
MOMENT = datetime(2026, 3, 5, 7, 8, 9, 999_999, tzinfo=UTC)

_TOKENS = "!#$%&'*+-.^_`|~0123456789abcXYZ"
_NAMES = st.sampled_from(["Content-Length", "content-length", "X-A", "x-a"]) | st.text(_TOKENS, min_size=1, max_size=8)
_VALUES = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]) | st.just("\t"), max_size=20)


def parsed(lines: bytes) -> Message:
    return parse_headers(BytesIO(lines + b"\r\n"))


@given(fields=st.lists(st.tuples(_NAMES, _VALUES), max_size=12), rest=st.binary(max_size=8))
def test_a_plain_head_says_what_the_standard_library_reads_in_it(fields: list[tuple[str, str]], rest: bytes) -> None:
    lines = "".join(f"{name}:{value}\r\n" for name, value in fields).encode("latin-1")
    head = plain_head(LINE + lines + b"\r\n" + rest)
    assert head is not None
    assert (head.method, head.target) == ("POST", "/v1/chat/completions")
    assert head.fields == first_fields(parsed(lines).items())
    assert head.size == len(LINE + lines) + 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        LINE,
        LINE + b"a: b\r\n",
        LINE.replace(b"POST", b"PUT") + b"\r\n",
        LINE.replace(b"1.1", b"1.0") + b"\r\n",
        LINE.replace(b"1.1", b"2.0") + b"\r\n",
        LINE.replace(b" HTTP", b"  HTTP") + b"\r\n",
        LINE.replace(b"/v1", b"//v1") + b"\r\n",
        LINE.replace(b"/v1", b"http://127.0.0.1/v1") + b"\r\n",
        LINE.replace(b"/v1", b"/\xe9") + b"\r\n",
        b"\r\n" + LINE + b"\r\n",
        LINE.replace(b"\r\n", b"\n") + b"\n",
        LINE + b"a: b\n\r\n",
        LINE + b"a: b\r\n folded\r\n\r\n",
        LINE + b"a : b\r\n\r\n",
        LINE + b"no colon\r\n\r\n",
        LINE + b": no name\r\n\r\n",
        LINE + b"a: b\rc\r\n\r\n",
        LINE + b"a: b\x00\r\n\r\n",
        LINE + b"Expect: 100-continue\r\n\r\n",
        LINE + b"a: b\r\n" * 100 + b"\r\n",
    ],
)
def test_a_head_of_another_form_is_left_to_the_standard_library(data: bytes) -> None:
    assert plain_head(data) is None


def test_the_shortest_head_and_the_one_with_most_fields_are_plain() -> None:
    assert plain_head(b"GET / HTTP/1.1\r\n\r\n") == ("GET", "/", {}, 18)
    assert plain_head(LINE + b"a: b\r\n" * 99 + b"\r\n") is not None
    assert len(parsed(b"a: b\r\n" * 99)) == 99


@pytest.mark.parametrize(("value", "is_last"), [("close", True), ("Close", True), ("keep-alive", False), ("x", False)])
def test_a_request_may_say_that_it_is_the_last_of_its_connection(value: str, is_last: bool) -> None:
    head = plain_head(LINE + f"Connection: {value}\r\n\r\n".encode())
    assert head is not None
    assert head.is_last == is_last


def test_an_answer_begins_with_its_status_who_answers_and_when() -> None:
    assert answer_head(200, "me 1", MOMENT, {"a": "b", "c": "\xe9"}) == (
        b"HTTP/1.1 200 OK\r\nServer: me 1\r\nDate: Thu, 05 Mar 2026 07:08:09 GMT\r\na: b\r\nc: \xe9\r\n\r\n"
    )
    later = MOMENT.replace(second=10)
    assert (
        answer_head(529, "me", later, {})
        == b"HTTP/1.1 529 \r\nServer: me\r\nDate: Thu, 05 Mar 2026 07:08:10 GMT\r\n\r\n"
    )
