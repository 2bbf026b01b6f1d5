from __future__ import annotations

import json

import pytest

from harness.errors import ProviderCategory
from harness.ports import WireResponse
from harness.providers._wire.failures import failure_of
from harness.rehearsal.chat import ChatDialect
from harness.rehearsal.conversation import Conversation

DIALECT = ChatDialect()
CHAT = DIALECT.place


def test_a_request_shows_its_prompt_and_its_answers_in_order() -> None:
    body = {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "one two"},
            {"role": "user", "content": [{"type": "text", "text": "three "}, {"type": "image"}, "x", {"text": "four"}]},
            {"role": "user", "content": "later"},
            {"role": "tool", "content": "five"},
            "odd",
            {"role": "tool", "content": None},
        ],
        "tools": [{"function": {"name": "t"}}],
    }
    shown = DIALECT.read(CHAT, json.dumps(body).encode())
    assert shown is not None
    assert (shown.model, shown.prompt, shown.answers, shown.streamed) == ("m", "three four", ("five", ""), True)
    assert not shown.counted


def test_the_size_of_a_request_does_not_depend_on_the_length_of_paths() -> None:
    def size(path: str) -> int:
        body = {"model": "m", "messages": [{"role": "user", "content": f"look at {path} now"}]}
        shown = DIALECT.read(CHAT, json.dumps(body).encode())
        assert shown is not None
        return shown.words

    assert size("/a") == size("/a/much/longer/path") == 5


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"[]", b'{"model": 1, "messages": []}', b'{"model": "m"}', b"[" * 100_000],
    ids=["empty", "bytes", "array", "model", "messages", "deep"],
)
def test_a_body_that_is_no_request_is_none(body: bytes) -> None:
    assert DIALECT.read(CHAT, body) is None


def test_a_request_without_a_prompt_shows_none() -> None:
    assert DIALECT.read(CHAT, b'{"model": "m", "messages": []}') == Conversation("m", "", (), streamed=False, words=0)


@pytest.mark.parametrize(
    ("status", "code", "category"),
    [
        (404, "model_not_found", "model_not_found"),
        (429, "rate_limit_exceeded", "rate_limited"),
        (500, "server_error", "server_error"),
        (503, "overloaded", "overloaded"),
        (400, "rehearsal_header", "invalid_request"),
        (401, "invalid_request_error", "auth"),
    ],
)
def test_an_error_is_decoded_as_what_it_is(status: int, code: str, category: ProviderCategory) -> None:
    body = json.dumps(DIALECT.failure(status, code, "because")).encode()
    assert failure_of(WireResponse(status, {}, body)).category == category
