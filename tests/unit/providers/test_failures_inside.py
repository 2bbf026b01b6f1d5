"""Failures that come with a successful status, in a stream and in a whole body, whatever the dialect."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers import anthropic, gemini, openai, openai_responses
from harness.schema.message import Reply, Usage
from harness.schema.tool import ToolCall

DIALECTS = (openai, openai_responses, anthropic, gemini)
REPLY = Reply(
    text=None,
    calls=(ToolCall(id="call_1", name="run", arguments={"a": 1}, arguments_raw='{"a":1}'),),
    finish="tool_calls",
    usage=Usage(input_tokens=1, output_tokens=1),
)
dialects = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.__name__.rpartition(".")[2])
errors = pytest.mark.parametrize(
    ("event", "category"),
    [
        pytest.param(b'event: error\ndata: {"message": "x", "code": 502}', "server_error", id="named, flat"),
        pytest.param(b'event: error\ndata: {"type": "overloaded_error"}', "overloaded", id="named, other type"),
        pytest.param(b"event: error\ndata: upstream died", "server_error", id="named, a text"),
        pytest.param(b"event: error\ndata: {}", "server_error", id="named, empty"),
        pytest.param(b"event: error\ndata: null", "server_error", id="named, nothing"),
        pytest.param(b'event: error\ndata: {"error": {"code": 429}}', "rate_limited", id="named, wrapped"),
        pytest.param(b'data: {"type": "error", "message": "x"}', "server_error", id="typed, flat"),
        pytest.param(b'data: {"type": "error", "code": "invalid_api_key"}', "auth", id="typed, with code"),
        pytest.param(b'data: {"object": "error"}', "server_error", id="object"),
        pytest.param(b'data: {"error": true}', "server_error", id="true"),
        pytest.param(b'data: {"error": true, "code": 503, "message": "x"}', "server_error", id="true, flat"),
        pytest.param(b'data: {"error": 429}', "rate_limited", id="number"),
        pytest.param(b'data: {"error": [{"code": 401}]}', "auth", id="list"),
        pytest.param(b'data: {"error": ["boom"]}', "server_error", id="list of texts"),
        pytest.param(b'data: {"error": {"metadata": {"x": 1}}}', "server_error", id="unknown fields"),
        pytest.param(b'data: {"error": "boom"}', "server_error", id="text"),
    ],
)


def _parts(dialect: ModuleType) -> tuple[bytes, bytes]:
    """A stream that calls a tool, without what ends it, and its end."""
    events = dialect.build().encode_stream(REPLY)
    if dialect is gemini:
        whole = json.loads(events[0].removeprefix(b"data: "))
        del whole["candidates"][0]["finishReason"]
        return b"data: " + json.dumps(whole).encode() + b"\n\n", b"".join(events)
    return b"".join(events[:-1]), events[-1]


@dialects
@errors
def test_an_error_inside_a_stream_is_a_failure_and_no_call_before_it_runs(
    dialect: ModuleType, event: bytes, category: str
) -> None:
    begun, end = _parts(dialect)
    with pytest.raises(ProviderError) as caught:
        dialect.build().decode_stream(WireResponse(200, {}, begun + event + b"\n\n" + end))
    assert caught.value.category == category
    assert caught.value.delivered


@dialects
@errors
def test_who_listens_stops_at_the_same_event_as_who_decodes(dialect: ModuleType, event: bytes, category: str) -> None:
    begun, _ = _parts(dialect)
    is_over = dialect.build().stream_end()
    assert not is_over(begun)
    assert is_over(event + b"\n\n"), category


@dialects
@pytest.mark.parametrize("field", [b"null", b"false", b"0", b'""', b"{}", b"[]", b'{"message": null, "code": ""}'])
def test_an_error_field_that_says_nothing_is_none(dialect: ModuleType, field: bytes) -> None:
    codec = dialect.build()
    begun, end = _parts(dialect)
    event = b'data: {"error": ' + field + b"}\n\n"
    is_over = codec.stream_end()
    assert not is_over(begun + event)
    assert is_over(end + b"data: [DONE]\n\n")
    assert [call.name for call in codec.decode_stream(WireResponse(200, {}, begun + event + end)).calls][:1] == ["run"]


@dialects
@pytest.mark.parametrize("field", [True, 500, [1], {"metadata": {"x": 1}}, {"message": "x"}, "boom"])
def test_an_error_beside_the_content_of_a_whole_body_is_a_failure(dialect: ModuleType, field: object) -> None:
    codec = dialect.build()
    body = {**json.loads(codec.encode_reply(REPLY)), "error": field}
    with pytest.raises(ProviderError, match="reported an error inside an answer"):
        codec.decode_reply(WireResponse(200, {}, json.dumps(body).encode()))


@pytest.mark.parametrize("place", ["choice", "corner"])
def test_an_unreadable_error_in_a_choice_or_in_a_corner_of_a_vendor_is_a_failure(place: str) -> None:
    codec = openai.build()
    told = {"x_groq": {"error": True}} if place == "corner" else {"choices": [{"index": 0, "error": {"x": 1}}]}
    begun, end = _parts(openai)
    event = b"data: " + json.dumps(told).encode() + b"\n\n"
    is_over = codec.stream_end()
    assert not is_over(begun)
    assert is_over(event)
    with pytest.raises(ProviderError, match="inside an answer"):
        codec.decode_stream(WireResponse(200, {}, begun + event + end))
