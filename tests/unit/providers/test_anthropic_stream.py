"""Streams of the messages API: folded into the body that would have been sent whole, and how they end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streaming import cut_off, end_seen

from harness.errors import ProviderError
from harness.ports import Cut, WireResponse
from harness.providers._wire.events import event_bytes
from harness.providers.anthropic import build
from harness.schema.base import JsonValue
from harness.schema.message import Reply

Sent = dict[str, JsonValue]


def start(**usage: JsonValue) -> Sent:
    message: Sent = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    return {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage or {"input_tokens": 9}}}


def block(index: int, **content: JsonValue) -> Sent:
    return {"type": "content_block_start", "index": index, "content_block": content}


def text(index: int = 0) -> Sent:
    return block(index, type="text", text="")


def tool(index: int = 0, id_: str = "toolu_a") -> Sent:
    return block(index, type="tool_use", id=id_, name="ring", input={})


def delta(index: int, kind: str, **piece: JsonValue) -> Sent:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


def says(piece: str, index: int = 0) -> Sent:
    return delta(index, "text_delta", text=piece)


def passes(piece: str, index: int = 0) -> Sent:
    return delta(index, "input_json_delta", partial_json=piece)


def stop(index: int = 0) -> Sent:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None = "end_turn", **usage: JsonValue) -> Sent:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or {"output_tokens": 4}}


PING: Sent = {"type": "ping"}
OVER: Sent = {"type": "message_stop"}


def stream(*events: Sent) -> bytes:
    return b"".join(event_bytes(event, str(event.get("type", ""))) for event in events)


def read(*events: Sent | bytes, cut: Cut | None = None) -> Reply:
    body = b"".join(event if isinstance(event, bytes) else stream(event) for event in events)
    return build().decode_stream(WireResponse(200, {}, body, cut))


def failure(*events: Sent | bytes, cut: Cut | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(*events, cut=cut)
    return caught.value


def test_a_stream_is_read_as_the_same_body_sent_whole() -> None:
    content: list[JsonValue] = [
        {"type": "thinking", "thinking": "Which?", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "I look.", "citations": [{"a": 1}]},
        {"type": "tool_use", "id": "toolu_a", "name": "ring", "input": {"n": 1}},
        {"type": "server_tool_use", "id": "srvtoolu_a", "name": "find", "input": {"q": "x"}},
    ]
    usage: Sent = {"input_tokens": 9, "cache_read_input_tokens": 90, "output_tokens": 40}
    whole = {
        "id": "msg_1",
        "type": "message",
        "model": "m",
        "content": content,
        "stop_reason": "tool_use",
        "usage": usage,
    }
    streamed = read(
        start(input_tokens=9, cache_read_input_tokens=90, output_tokens=1),
        PING,
        block(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Wh"),
        delta(0, "thinking_delta", thinking="ich?"),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
        block(1, type="redacted_thinking", data="x"),
        stop(1),
        text(2),
        says("I lo", 2),
        delta(2, "citations_delta", citation={"a": 1}),
        says("ok.", 2),
        stop(2),
        tool(3),
        passes("", 3),
        passes('{"n"', 3),
        passes(":1}", 3),
        stop(3),
        block(4, type="server_tool_use", id="srvtoolu_a", name="find", input={}),
        passes('{"q":"x"}', 4),
        stop(4),
        {"type": "some_day"},
        end("tool_use", output_tokens=40, input_tokens=None),
        OVER,
    )
    assert streamed == build().decode_reply(WireResponse(200, {}, json.dumps(whole).encode()))
    assert streamed.usage is not None
    assert (streamed.usage.input_tokens, streamed.usage.output_tokens) == (99, 40)


def test_a_call_without_arguments_streams_none() -> None:
    """The kind of a089."""
    reply = read(start(), tool(), passes(""), stop(), end("tool_use", output_tokens=12), OVER)
    assert [(call.arguments, call.arguments_raw) for call in reply.calls] == [({}, "{}")]
    assert reply.quirks == ()
    assert reply.usage is not None
    assert reply.usage.output_tokens == 12


@pytest.mark.parametrize(
    ("pieces", "fault"),
    [
        ((), "truncated"),
        (("",), "truncated"),
        (('{"n"',), "truncated"),
        (("[1]",), "truncated"),
        (("{}",), None),
        (('{"n":', "1}"), None),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_a_call_that_was_never_closed_runs_only_with_an_object_that_is(
    pieces: tuple[str, ...], fault: str | None, *, last: bool
) -> None:
    told = [passes(piece) for piece in pieces]
    others = [] if last else [tool(1, "toolu_b"), stop(1)]
    reply = read(start(), tool(), *told, *others, end("tool_use"), OVER)
    assert [(call.fault, call.arguments is None) for call in reply.calls][:1] == [(fault, fault is not None)]
    assert [call.arguments for call in reply.calls][1:] == ([] if last else [{}])
    assert read(*build().encode_stream(reply)) == reply


def test_a_call_that_was_never_closed_in_an_answer_without_a_reason_does_not_run() -> None:
    assert [call.fault for call in read(start(), tool(), passes('{"n":1}'), OVER).calls] == ["truncated"]
    assert [call.fault for call in read(start(), tool(), passes('{"n":1}'), stop(), OVER).calls] == [None]


def test_a_call_whose_input_came_with_its_beginning_is_whole() -> None:
    reply = read(start(), block(0, type="tool_use", id="toolu_a", name="ring", input={"n": 1}), end("tool_use"), OVER)
    assert [(call.arguments, call.fault) for call in reply.calls] == [({"n": 1}, None)]


@pytest.mark.parametrize(
    ("raw", "fault", "quirks"),
    [
        ('{"n":', "malformed_arguments", ()),
        ("[1]", "malformed_arguments", ()),
        ('{"n": 1}', None, ()),
        ('"{}"', None, ("double_encoded_arguments",)),
    ],
)
def test_arguments_are_read_as_they_were_streamed(raw: str, fault: str | None, quirks: tuple[str, ...]) -> None:
    reply = read(start(), tool(), passes(raw[:2]), passes(raw[2:]), stop(), end("tool_use"), OVER)
    assert (reply.calls[0].arguments_raw, reply.calls[0].fault, reply.quirks) == (raw, fault, quirks)
    assert read(*build().encode_stream(reply)) == reply


def test_parallel_calls_may_come_interleaved() -> None:
    reply = read(
        start(), tool(0), tool(1, "toolu_b"), passes('{"n":', 0), passes("{}", 1), passes("1}", 0), end(), OVER
    )
    assert [(call.id, call.arguments) for call in reply.calls] == [("toolu_a", {"n": 1}), ("toolu_b", {})]
    assert reply.quirks == ("finish_stop_with_tool_calls",)


def test_a_call_that_the_length_cut_is_never_run() -> None:
    reply = read(start(), tool(), passes('{"n":1}'), stop(), end("max_tokens"), OVER)
    assert (reply.finish, reply.calls[0].fault) == ("length", "truncated")


def test_indexes_that_are_missing_or_come_twice_are_reported() -> None:
    begun: Sent = {"type": "content_block_start", "content_block": {"type": "text", "text": "a"}}
    more: Sent = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "b"}}
    shut: Sent = {"type": "content_block_stop"}
    missing = read(start(), begun, more, shut, end())
    assert (missing.text, missing.quirks) == ("ab", ("missing_index",))
    assert read(*build().encode_stream(missing)) == missing
    twice = read(start(), text(0), says("a"), text(0), says("b"), end(), OVER)
    assert (twice.text, twice.quirks) == ("ab", ("index_reused",))
    assert read(*build().encode_stream(twice)) == twice
    assert read(*build().encode_stream(Reply(text=None, finish="stop", quirks=("missing_index",)))).quirks == (
        "missing_index",
    )


def test_events_may_be_named_outside_their_data() -> None:
    events: list[Sent] = [start(), text(), says("a"), stop(), end(), OVER]
    bare = b"".join(
        event_bytes({k: v for k, v in event.items() if k != "type"}, str(event["type"])) for event in events
    )
    assert read(bare) == read(*events)


SAID = (start(), text(), says("The plan is to"))


def test_a_stream_that_just_stops_is_incomplete() -> None:
    """The kind of a081."""
    for events in (SAID, (*SAID, end(None)), (*SAID, end())):
        error = failure(*events)
        assert (error.category, error.retryable, error.delivered) == ("stream_incomplete", True, True)
        assert error.partial is not None
        assert (error.partial.text, error.partial.finish, error.partial.quirks) == ("The plan is to", None, ())


def test_first_counts_are_no_usage_of_an_answer_that_broke_off() -> None:
    first, last = failure(*SAID).partial, failure(*SAID, end(None, output_tokens=7)).partial
    assert first is not None
    assert last is not None
    assert first.usage is None
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (9, 7)


def test_a_reason_after_closed_blocks_makes_an_answer_whole() -> None:
    assert read(*SAID, stop(), end()).finish == "stop"


def test_an_end_without_a_reason_is_reported() -> None:
    for last in (stream(OVER), b"data: [DONE]\n\n"):
        reply = read(*SAID, stop(), last)
        assert (reply.finish, reply.quirks) == ("unknown", ("finish_missing",))


@cut_off
def test_a_stream_that_was_cut_tells_why(cut: Cut, category: str, *, retryable: bool) -> None:
    for events, delivered in ((SAID, True), ((*SAID, stop(), end()), True), ((PING,), False), ((), False)):
        error = failure(*events, cut=cut)
        assert (error.category, error.retryable, error.delivered) == (category, retryable, delivered)
    assert read(*SAID, stop(), end(), OVER, cut=cut).text == "The plan is to"


def test_a_call_that_was_cut_is_no_whole_call() -> None:
    partial = failure(start(), tool(), passes("{}"), stop(), tool(1, "b"), passes('{"n":1}', 1)).partial
    assert partial is not None
    assert [call.fault for call in partial.calls] == [None, "truncated"]


@pytest.mark.parametrize(
    ("event", "category", "retryable"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "overloaded", True),
        ({"type": "error", "error": {"type": "api_error", "message": "x"}}, "server_error", True),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}, "invalid_request", False),
        ({"type": "error"}, "server_error", True),
        ({"error": {"type": "rate_limit_error"}}, "rate_limited", True),
    ],
)
def test_an_error_event_is_that_error(event: Sent, category: str, *, retryable: bool) -> None:
    """The kind of a059."""
    error = failure(*SAID, event, OVER)
    assert (error.category, error.retryable, error.delivered) == (category, retryable, True)
    assert error.partial is not None
    assert error.partial.text == "The plan is to"


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"type":\n\n',
        b"data: 1\n\n",
        stream({"type": "message_start"}),
        stream({"type": "content_block_start", "index": 1}),
        stream(says("a", 7)),
        stream(delta(0, "text_delta", text=1)),
    ],
)
def test_a_damaged_event_is_a_bad_response(event: bytes) -> None:
    error = failure(*SAID, event, stop(), end(), OVER)
    assert (error.category, error.retryable) == ("bad_response", False)
    assert error.partial is not None
    assert error.partial.text == "The plan is to"


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"type":"message","content":[]}', b": comment\n\n"])
def test_what_is_no_stream_is_a_bad_response(body: bytes) -> None:
    """The kind of a053."""
    assert failure(body).category == "bad_response"


def test_an_error_in_a_whole_body_is_found_where_a_stream_was_asked_for() -> None:
    body = b'{"type":"error","error":{"type":"overloaded_error"}}'
    assert failure(body).category == "overloaded"
    with pytest.raises(ProviderError, match="overloaded"):
        build().decode_stream(WireResponse(529, {}, body))


def test_a_block_of_text_that_is_none_is_a_bad_response_without_evidence() -> None:
    error = failure(start(), block(0, type="text", text=1), stop(), end())
    assert error.category == "bad_response"
    assert failure(start(), block(0, type="text", text=1)).partial is None


EVENTS = st.lists(
    st.one_of(
        st.sampled_from(
            [start(), text(0), text(1), tool(0), tool(1), PING, stop(0), stop(1), end(), end("max_tokens")]
        ),
        st.sampled_from([OVER, {"type": "error"}, {"type": "content_block_start"}, {}, says("a", 9)]),
        st.builds(says, st.text(max_size=3) | st.sampled_from(["\ud83d", "\ude00", "\u2028"]), st.integers(0, 1)),
        st.builds(passes, st.sampled_from(["", "{", "}", '{"n":1}', "x"]), st.integers(0, 1)),
    ),
    max_size=10,
)
ENDINGS = st.sampled_from([b"", b"data: {}", b"data: {}\n", stream(OVER)[:-1], stream(OVER)])


def outcome(body: bytes, cut: Cut | None = None) -> object:
    try:
        return read(body, cut=cut)
    except ProviderError as error:
        return (str(error), error.retryable, error.delivered, error.partial)


@given(events=EVENTS, ending=ENDINGS, cut=st.sampled_from([None, "timeout"]))
def test_a_coalesced_stream_says_the_same(events: list[Sent], ending: bytes, cut: Cut | None) -> None:
    body = stream(start(), text(0), tool(1), *events) + ending
    assert outcome(build().coalesce(body), cut) == outcome(body, cut)


@given(events=EVENTS)
def test_a_reply_that_was_streamed_is_streamed_back(events: list[Sent]) -> None:
    found = outcome(stream(start(), text(0), tool(1), *events, end(), OVER))
    if isinstance(found, Reply):
        assert read(*build().encode_stream(found)) == found


def test_a_coalesced_stream_has_each_text_in_one_event() -> None:
    body = stream(*SAID, PING, says(" go"), says(" on."), stop(), tool(1), passes("{", 1), passes("}", 1), end(), OVER)
    short = build().coalesce(body)
    assert short.count(b"text_delta") == short.count(b"input_json_delta") == 1
    assert b"ping" not in short


@given(events=EVENTS, data=st.data())
def test_the_end_is_seen_at_one_byte_however_the_stream_is_cut(events: list[Sent], data: st.DataObject) -> None:
    body = stream(start(), *events, OVER, PING)
    cuts = data.draw(st.sets(st.integers(1, len(body) - 1), max_size=5))
    seen = end_seen(build(), body, cuts)
    assert outcome(body[: seen + 1]) == outcome(body)


def test_a_whole_answer_is_streamed_back_where_streams_can_tell_it() -> None:
    inputs: list[JsonValue] = [{"n": 1}, '{"n": 1}', [1], None, '{"n":']
    for given_input in inputs:
        content: list[JsonValue] = [{"type": "tool_use", "id": "a", "name": "ring", "input": given_input}]
        body = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"output_tokens": 1}}
        reply = build().decode_reply(WireResponse(200, {}, json.dumps(body).encode()))
        assert read(*build().encode_stream(reply)) == reply


@pytest.mark.parametrize("cut", [None, "timeout"])
def test_a_last_event_without_its_empty_line_stays_without(cut: Cut | None) -> None:
    body = stream(*SAID, stop(), end()) + stream(OVER)[:-1]
    assert outcome(build().coalesce(body), cut) == outcome(body, cut)
    assert isinstance(outcome(body, cut), Reply) == (cut is None)
