"""Streams of the responses API: the last response is the answer, and what had been said where none came."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import breaks_off

from harness.errors import ProviderError
from harness.ports import Cut, WireResponse
from harness.providers._wire.events import event_bytes
from harness.providers.openai_responses import build
from harness.schema.base import JsonValue
from harness.schema.message import Reply, Usage
from harness.schema.tool import ToolCall

Sent = dict[str, JsonValue]

ITEM: Sent = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "ring", "arguments": '{"n":1}'}
TEXT: Sent = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I ring.", "annotations": []}],
}
THOUGHT: Sent = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
USAGE: Sent = {"input_tokens": 9, "output_tokens": 4}
CREATED: Sent = {
    "type": "response.created",
    "response": {"id": "resp_1", "status": "in_progress", "model": "m", "output": [], "usage": None},
}


def begins(place: int, **item: JsonValue) -> Sent:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(place: int, item: Sent) -> Sent:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def says(piece: str, place: int = 0, part: int = 0) -> Sent:
    where: Sent = {"output_index": place, "content_index": part}
    return {"type": "response.output_text.delta", **where, "delta": piece}


def passes(piece: str, place: int = 0) -> Sent:
    return {"type": "response.function_call_arguments.delta", "output_index": place, "delta": piece}


def ends(*output: Sent, status: str = "completed", **more: JsonValue) -> Sent:
    response: Sent = {"id": "resp_1", "object": "response", "status": status, "model": "m", "output": list(output)}
    return {"type": f"response.{status}", "response": {**response, "usage": USAGE, **more}}


MESSAGE = begins(0, id="msg_1", type="message", role="assistant", status="in_progress", content=[])
RING = begins(0, id="fc_1", type="function_call", call_id="call_1", name="ring", arguments="", status="in_progress")


def stream(*events: Sent | bytes) -> bytes:
    return b"".join(
        event if isinstance(event, bytes) else event_bytes(event, str(event.get("type", ""))) for event in events
    )


def read(*events: Sent | bytes, cut: Cut | None = None) -> Reply:
    return build().decode_stream(WireResponse(200, {}, stream(*events), cut))


def failure(*events: Sent | bytes, cut: Cut | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(*events, cut=cut)
    return caught.value


def partial(*events: Sent | bytes, cut: Cut | None = None) -> Reply:
    found = failure(*events, cut=cut).partial
    assert found is not None
    return found


def test_the_last_response_is_read_as_the_same_body_sent_whole() -> None:
    last = ends(THOUGHT, TEXT, ITEM)
    whole = build().decode_reply(WireResponse(200, {}, json.dumps(last["response"]).encode()))
    assert read(CREATED, MESSAGE, says("somet"), says("hing else"), last) == whole
    assert (whole.text, whole.calls[0].id, whole.finish) == ("I ring.", "call_1", "tool_calls")


def test_an_id_that_is_missing_is_made_alike_whole_and_streamed() -> None:
    last = ends({**ITEM, "call_id": None})
    whole = build().decode_reply(WireResponse(200, {}, json.dumps(last["response"]).encode()))
    assert read(last) == whole


def test_a_stream_that_ends_incomplete_was_cut_by_its_length() -> None:
    """As in a069."""
    reply = read(CREATED, ends(THOUGHT, status="incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert (reply.finish, reply.text, reply.usage) == ("length", None, Usage(input_tokens=9, output_tokens=4))


@pytest.mark.parametrize("told", [[], None])
def test_an_output_that_only_its_events_told_is_the_answer(told: JsonValue) -> None:
    last = ends(output=told)
    assert read(CREATED, done(1, ITEM), done(0, TEXT), last) == read(ends(TEXT, ITEM))


def test_a_call_that_was_begun_and_never_done_does_not_run() -> None:
    reply = read(CREATED, RING, passes('{"n":1}'), ends())
    assert [(one.id, one.fault, one.arguments_raw) for one in reply.calls] == [("call_1", "truncated", '{"n":1}')]


def test_a_call_that_was_begun_without_a_status_and_never_done_does_not_run() -> None:
    begun = begins(0, type="function_call", call_id="call_1", name="ring")
    assert read(begun, passes("{}"), ends()).calls[0].fault == "truncated"


@pytest.mark.parametrize("blank", ["", " ", None])
@pytest.mark.parametrize("ending", [(), (ITEM,)], ids=["by its events", "by its end"])
def test_arguments_that_only_their_events_told_are_not_taken_for_none(blank: str | None, ending: tuple[Sent]) -> None:
    hollow = {**ITEM, "arguments": blank}
    told = (passes('{"n":', 1), passes("1}", 1))
    last = ends(*({**one, "arguments": blank} for one in ending))
    reply = read(CREATED, begins(0, **THOUGHT), begins(1, **hollow), *told, done(1, hollow), last)
    assert [(one.arguments, one.fault) for one in reply.calls] == [({"n": 1}, None)]


def test_a_call_that_is_done_without_any_arguments_has_none() -> None:
    hollow = {**ITEM, "arguments": ""}
    for last in (ends(), ends(hollow)):
        reply = read(CREATED, begins(0, **hollow), passes(""), done(0, hollow), last)
        assert [(one.arguments, one.fault) for one in reply.calls] == [({}, None)]


def test_an_item_that_is_done_is_not_begun_again() -> None:
    assert read(done(0, ITEM), RING, passes('{"n":2}'), ends()) == read(ends(ITEM))


def test_an_event_that_names_only_its_item_goes_where_that_item_is() -> None:
    piece: Sent = {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "c"}
    said = partial({**says("a", 1), "item_id": "msg_0"}, {**says("b", 2), "item_id": "msg_1"}, piece, says("d", 3))
    assert said.text == "abcd"
    assert partial({**says("d", 7), "item_id": "msg_1"}, says("b", 3), piece).text == "bdc"


def test_a_stream_without_items_says_nothing() -> None:
    assert (read(CREATED, ends()).text, read(CREATED, ends()).finish) == (None, "stop")


@breaks_off
def test_a_stream_that_breaks_off_keeps_what_had_been_said(cut: Cut | None, category: str, retryable: bool) -> None:
    error = failure(CREATED, MESSAGE, says("I r"), says("ing"), cut=cut)
    assert (error.category, error.retryable, error.delivered) == (category, retryable, True)
    assert error.partial is not None
    shown = (error.partial.text, error.partial.finish, error.partial.quirks, error.partial.opaque, error.partial.usage)
    assert shown == ("I ring", None, (), None, None)
    assert error.partial.model == "m"


@pytest.mark.parametrize("cut", [None, "connection_lost"])
def test_a_stream_that_breaks_off_before_it_begins_delivered_nothing(cut: Cut | None) -> None:
    error = failure(CREATED, cut=cut)
    assert (error.partial, error.delivered) == (None, False)


def test_the_end_counts_though_the_connection_broke_after_it() -> None:
    assert read(CREATED, ends(TEXT), b"event: more\ndata: {", cut="connection_lost").text == "I ring."


def test_an_event_that_broke_off_is_not_read() -> None:
    half = stream(ends(TEXT))[:-1]
    assert read(CREATED, half).text == "I ring."
    assert failure(CREATED, half, cut="connection_lost").category == "connection_lost"


def test_all_kinds_of_pieces_are_in_what_had_been_said() -> None:
    said = partial(
        CREATED,
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "Four."},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Which? "},
        {"type": "response.reasoning_text.delta", "output_index": 1, "content_index": 0, "delta": " So."},
        says("b", 2, 1),
        says("a", 2, 0),
        {"type": "response.refusal.delta", "output_index": 3, "content_index": 0, "delta": "No"},
        {"type": "response.refusal.delta", "output_index": 3, "content_index": 0, "delta": "."},
        done(4, ITEM),
        {**RING, "output_index": 5},
        passes('{"n":', 5),
    )
    assert (said.reasoning, said.text, said.refusal) == ("Which? Four. So.", "ab", "No.")
    assert [(one.fault, one.arguments_raw) for one in said.calls] == [(None, '{"n":1}'), ("truncated", '{"n":')]


def test_a_text_that_was_only_told_whole_is_in_what_had_been_said() -> None:
    whole: Sent = {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "I ring."}
    other: Sent = {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{}"}
    said = partial(CREATED, MESSAGE, says("I r"), whole, {**RING, "output_index": 1}, other)
    assert (said.text, said.calls[0].arguments_raw) == ("I ring.", "{}")


def test_items_without_a_place_are_found_by_their_ids() -> None:
    events: list[Sent] = [
        {"type": "response.output_item.added", "item": {**MESSAGE_ITEM, "id": id_}} for id_ in ("msg_1", "msg_2")
    ]
    pieces: list[Sent] = [
        {"type": "response.output_text.delta", "item_id": id_, "delta": piece}
        for id_, piece in (("msg_2", "c"), ("msg_1", "a"), ("msg_1", "b"))
    ]
    assert partial(*events, *pieces).text == "abc"


MESSAGE_ITEM: Sent = {"type": "message", "role": "assistant", "content": []}


def test_halves_of_one_character_in_two_pieces_are_one() -> None:
    assert partial(MESSAGE, says("\ud83d"), says("\ude00")).text == "\U0001f600"


@pytest.mark.parametrize(
    ("event", "category", "retryable"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "x"}, "rate_limited", True),
        ({"type": "error", "error": {"type": "x", "code": "insufficient_quota"}}, "quota_exhausted", False),
        ({"type": "error", "code": None, "message": ""}, "server_error", True),
        ({"error": {"code": 503, "message": "x"}}, "server_error", True),
        ({"type": "response.failed", "response": {"error": {"code": "slow_down"}}}, "overloaded", True),
        ({"type": "response.failed", "response": {"status": "completed"}}, "server_error", True),
        ({"type": "response.cancelled", "response": {}}, "server_error", True),
    ],
)
def test_an_error_in_a_stream_keeps_what_had_been_said(event: Sent, category: str, retryable: bool) -> None:
    error = failure(CREATED, MESSAGE, says("I r"), event, ends(TEXT))
    assert (error.category, error.retryable, error.delivered) == (category, retryable, True)
    assert error.partial is not None
    assert error.partial.text == "I r"


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"type": "response.output_text.delta", "delta": \n\n',
        b"data: \xff\xfe\n\n",
        b"data: 7\n\n",
        {"type": "response.output_item.done", "output_index": 1, "item": "x"},
        {"type": "response.completed", "response": None},
        {"type": "response.completed", "response": {"status": "completed", "output": ["x"]}},
    ],
    ids=["damaged", "bytes", "number", "item", "nothing", "items"],
)
def test_a_damaged_event_is_a_bad_response_with_what_had_been_said(event: Sent | bytes) -> None:
    error = failure(MESSAGE, says("I r"), event, ends(TEXT))
    assert (error.category, error.retryable, error.delivered) == ("bad_response", False, True)


def test_a_damaged_event_keeps_the_text_before_it() -> None:
    assert partial(MESSAGE, says("I r"), b"data: {\n\n").text == "I r"


@pytest.mark.parametrize(
    ("body", "category", "says_"),
    [
        (b"", "bad_response", "an empty body"),
        (b"<html>x</html>", "bad_response", "a web page"),
        (json.dumps(ends(TEXT)["response"]).encode(), "bad_response", "a whole body"),
        (b'{"error":{"code":"rate_limit_exceeded","message":"x"}}', "rate_limited", "an error inside"),
        (b": ping\n\n", "bad_response", ""),
    ],
)
def test_what_is_no_stream_is_named(body: bytes, category: str, says_: str) -> None:
    error = failure(body)
    assert (error.category, error.delivered) == (category, False)
    assert says_ in str(error)


def test_an_unsuccessful_status_is_that_failure() -> None:
    with pytest.raises(ProviderError, match="rate_limited"):
        build().decode_stream(WireResponse(429, {}, stream(ends(TEXT))))


def test_a_gateways_end_is_no_end_of_an_answer() -> None:
    assert read(ends(TEXT), b"data: [DONE]\n\n").text == "I ring."
    assert failure(MESSAGE, says("a"), b"data: [DONE]\n\n", ends(TEXT)).category == "stream_incomplete"


def test_events_that_we_do_not_know_say_nothing() -> None:
    ping: Sent = {"type": "keepalive"}
    odd: Sent = {"type": "response.output_text.delta", "output_index": 0, "delta": 7}
    assert read(ping, odd, {"type": "response.odd.done"}, ends(TEXT)) == read(ends(TEXT))


@pytest.mark.parametrize(
    "last", [ends(TEXT), ends(status="failed"), {"type": "error", "message": "x"}, {"error": "x"}, b"data: {\n\n"]
)
def test_a_watcher_says_that_a_stream_is_over_with_its_last_byte(last: Sent | bytes) -> None:
    body, is_over = stream(CREATED, MESSAGE, says("a"), last), build().stream_end()
    told = [is_over(body[place : place + 1]) for place in range(len(body))]
    assert told == [False] * (len(body) - 1) + [True]


def test_a_text_whose_event_has_no_type_is_known_by_the_events_name() -> None:
    nameless = {key: value for key, value in ends(TEXT).items() if key != "type"}
    assert read(event_bytes(nameless, "response.completed")).text == "I ring."


def test_a_coalesced_stream_has_each_text_in_one_event() -> None:
    mixed: list[Sent] = [
        CREATED,
        MESSAGE,
        says("sec"),
        passes('{"a":', 1),
        {"type": "keepalive"},
        says("ret"),
        passes("1}", 1),
    ]
    body = build().coalesce(stream(*mixed, ends(TEXT)))
    assert body == stream(CREATED, MESSAGE, says("secret"), passes('{"a":1}', 1), {"type": "keepalive"}, ends(TEXT))


def test_a_coalesced_stream_stays_as_it_is_from_its_end_on() -> None:
    after = stream(ends(TEXT), says("b"), says("c"))
    assert build().coalesce(stream(says("a")) + after) == stream(says("a")) + after


def test_a_body_that_is_no_stream_is_not_coalesced() -> None:
    assert build().coalesce(b"<html>\n") == b"<html>\n"


def test_a_reply_is_streamed_in_pieces() -> None:
    call = ToolCall(id="call_1", name="ring", arguments_raw='{"n":1}', arguments={"n": 1})
    reply = Reply(text="I ring.", reasoning="Hm.", calls=(call,), finish="tool_calls", usage=Usage(output_tokens=3))
    events = build().encode_stream(reply)
    got = read(*events)
    assert (got.text, got.calls, got.reasoning, got.usage) == (reply.text, reply.calls, reply.reasoning, reply.usage)
    broken = partial(*events[:-1])
    assert (broken.text, broken.reasoning, [one.fault for one in broken.calls]) == ("I ring.", "Hm.", [None])
    assert partial(*events[: next(place for place, one in enumerate(events) if b'"I ri"' in one) + 1]).text == "I ri"


texts = st.text(st.characters(exclude_categories=()), max_size=4)
places = st.integers(0, 2) | st.none()
kinds = st.sampled_from(
    [
        "response.output_text",
        "response.refusal",
        "response.reasoning_text",
        "response.reasoning_summary_text",
        "response.function_call_arguments",
    ]
)
bases = st.sampled_from([TEXT, ITEM, THOUGHT, MESSAGE_ITEM, {}, {"type": "message", "content": "x"}])
where = {"output_index": places, "item_id": st.sampled_from(["msg_1", "fc_1"]), "content_index": places}
pieces = st.builds(
    lambda kind, text, at: {**at, "type": f"{kind}.delta", "delta": text},
    kinds,
    texts,
    st.fixed_dictionaries({}, optional={**where, "summary_index": places}),
)
others = (
    st.builds(
        lambda kind, text, at: {**at, "type": f"{kind}.done", "text": text}, kinds, texts, st.fixed_dictionaries(where)
    )
    | st.builds(
        lambda kind, item, at: {"type": kind, "item": item, "output_index": at},
        st.sampled_from(["response.output_item.added", "response.output_item.done"]),
        bases,
        places,
    )
    | st.sampled_from([CREATED, {"type": "keepalive"}, {"type": 7}])
)
lasts = st.sampled_from(
    [
        stream(ends(TEXT, ITEM)),
        stream(ends()),
        stream(ends(status="failed")),
        stream({"type": "error", "code": "x"}),
        b"data: [DONE]\n\n",
        b"data: {\n\n",
        b"",
        stream(ends(TEXT))[:-1],
        stream(says("a"))[:-9],
    ]
)
streams = st.builds(
    lambda events, last, more: stream(*events) + last + stream(*more),
    st.lists(pieces | pieces | others, max_size=10),
    lasts,
    st.lists(pieces, max_size=2),
)
cuts: st.SearchStrategy[Cut | None] = st.sampled_from([None, "connection_lost", "timeout"])


def told(body: bytes, cut: Cut | None = None) -> tuple[object, ...]:
    """All that decoding tells; any other exception than a named failure fails the test."""
    try:
        return (build().decode_stream(WireResponse(200, {}, body, cut)),)
    except ProviderError as error:
        return (error.category, error.retryable, error.delivered, error.partial, str(error), error.provider_code)


def test_an_event_that_tells_where_an_id_belongs_stays() -> None:
    called: Sent = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "ring", "arguments": "{}"}
    body = stream(
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "a"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "b"},
        {"type": "response.output_text.delta", "output_index": 1, "item_id": "fc_1", "delta": "c"},
        {"type": "response.output_item.added", "item": called},
        {"type": "response.completed", "response": {"id": "r", "output": [], "status": "completed"}},
    )
    once = build().coalesce(body)
    assert told(once) == told(body)
    assert build().coalesce(once) == once


@settings(max_examples=300)
@given(streams, cuts)
def test_a_coalesced_stream_tells_the_same(body: bytes, cut: Cut | None) -> None:
    once = build().coalesce(body)
    assert told(once, cut) == told(body, cut)
    assert build().coalesce(once) == once


@given(streams, st.lists(st.integers(0, 400), max_size=6))
def test_a_stream_is_over_at_the_same_byte_however_it_is_cut(body: bytes, at: list[int]) -> None:
    def over(cuts_: list[int]) -> int | None:
        watch, last = build().stream_end(), 0
        for place in [*sorted({one for one in cuts_ if 0 < one < len(body)}), len(body)]:
            if watch(body[last:place]):
                return place
            last = place
        return None

    byte = over(list(range(len(body))))
    found = over(at)
    assert (found is None) == (byte is None)
    if byte is not None and found is not None:
        assert found >= byte
        assert told(body[:byte]) == told(body[:found])


@given(st.binary(max_size=80), cuts)
def test_any_bytes_are_a_named_failure(body: bytes, cut: Cut | None) -> None:
    assert isinstance(told(body, cut)[0], str)
    build().stream_end()(body)
    assert told(build().coalesce(body), cut) == told(body, cut)
