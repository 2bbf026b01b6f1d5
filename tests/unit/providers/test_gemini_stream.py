"""Streams of ``generateContent``: folded into the body that would have been sent whole, and how they end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streaming import cut_off, end_seen

from harness.errors import ProviderError
from harness.ports import Cut, WireResponse
from harness.providers._wire.events import event_bytes
from harness.providers.gemini import build
from harness.schema.base import JsonValue
from harness.schema.message import Reply

Sent = dict[str, JsonValue]
COUNTS: Sent = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}


def event(*parts: Sent, word: str | None = None, counts: Sent | None = None, **more: JsonValue) -> Sent:
    candidate: Sent = {"content": {"role": "model", "parts": [*parts]}, "index": 0, **more}
    if word is not None:
        candidate["finishReason"] = word
    made: Sent = {"candidates": [candidate], "modelVersion": "m", "responseId": "resp-1"}
    return made if counts is None else {**made, "usageMetadata": counts}


def says(text: str, **more: JsonValue) -> Sent:
    return event({"text": text, **more})


def calls(id_: str | None = "fc-1", **given: JsonValue) -> Sent:
    named: Sent = {"name": "ring", "args": given}
    return event({"functionCall": named if id_ is None else {**named, "id": id_}})


END = event({"text": ""}, word="STOP", counts=COUNTS)
SAID = (says("The plan"), says(" is to"))
DONE = b"data: [DONE]\n\n"


def stream(*events: Sent) -> bytes:
    return b"".join(event_bytes(one) for one in events)


def read(*events: Sent | bytes, cut: Cut | None = None) -> Reply:
    body = b"".join(one if isinstance(one, bytes) else stream(one) for one in events)
    return build().decode_stream(WireResponse(200, {}, body, cut))


def failure(*events: Sent | bytes, cut: Cut | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(*events, cut=cut)
    return caught.value


def test_a_stream_is_read_as_the_same_body_sent_whole() -> None:
    parts: list[JsonValue] = [
        {"text": "Which?", "thought": True},
        {"text": "I look."},
        {"functionCall": {"id": "fc-1", "name": "ring", "args": {"n": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "fc-2", "name": "ring", "args": {}}},
        {"text": "", "thoughtSignature": "c2lo"},
        {"text": ""},
    ]
    whole = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**COUNTS, "thoughtsTokenCount": 3},
        "modelVersion": "m",
    }
    streamed = read(
        says("Wh", thought=True),
        says("ich?", thought=True),
        event({"text": "I lo"}, counts={"promptTokenCount": 9}),
        says("ok."),
        event(*(part for part in parts[2:4] if isinstance(part, dict))),
        event({"text": "", "thoughtSignature": "c2lo"}),
        {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]},
        {"usageMetadata": {**COUNTS, "thoughtsTokenCount": 3}},
    )
    assert streamed == build().decode_reply(WireResponse(200, {}, json.dumps(whole).encode()))
    assert streamed.usage is not None
    assert (streamed.usage.output_tokens, streamed.finish, streamed.reasoning) == (7, "tool_calls", "Which?")


def test_a_thought_and_a_call_without_an_id_are_told_apart_from_the_text() -> None:
    """The kind of a039."""
    signed: Sent = {"functionCall": {"name": "ring", "args": {"n": 1}}, "thoughtSignature": "c2ln"}
    reply = read(says("Hm", thought=True), event(signed), END)
    assert (reply.text, reply.reasoning, reply.finish) == ("", "Hm", "tool_calls")
    assert [one.arguments for one in reply.calls] == [{"n": 1}]
    assert reply.opaque == {"role": "model", "parts": [{"text": "Hm", "thought": True}, signed, {"text": ""}]}
    assert read(*build().encode_stream(reply)) == reply


def test_a_call_that_the_length_cut_is_never_run() -> None:
    reply = read(calls(n=1), event(word="MAX_TOKENS", counts=COUNTS))
    assert (reply.finish, reply.calls[0].fault) == ("length", "truncated")


def test_a_blocked_question_is_filtered() -> None:
    reply = read({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 9}})
    assert (reply.text, reply.finish, reply.finish_word) == (None, "content_filter", "OTHER")
    assert read(*build().encode_stream(reply)) == reply


def test_of_several_candidates_the_first_counts() -> None:
    other: Sent = {"content": {"parts": [{"text": "two"}]}, "finishReason": "STOP", "index": 1}
    reply = read({"candidates": [other]}, says("one"), END)
    assert (reply.text, reply.quirks) == ("one", ("alternative_choices",))
    assert read(*build().encode_stream(reply)) == reply


def test_a_stream_that_just_stops_is_incomplete() -> None:
    """The kind of a081."""
    for events in (SAID, (*SAID, {"usageMetadata": COUNTS})):
        error = failure(*events)
        assert (error.category, error.retryable, error.delivered) == ("stream_incomplete", True, True)
        assert error.partial is not None
        assert (error.partial.text, error.partial.finish, error.partial.quirks) == ("The plan is to", None, ())
        assert error.partial.usage is None
    assert failure({"modelVersion": "m"}).delivered is False


def test_the_reason_of_the_end_makes_an_answer_whole() -> None:
    reason = event(word="STOP")
    assert (read(*SAID, reason).finish, read(*SAID, reason).usage) == ("stop", None)
    assert read(*SAID, reason, cut="connection_lost").text == "The plan is to"
    late = read(*SAID, reason, {"usageMetadata": COUNTS}, DONE, says("no more"))
    assert late.usage is not None
    assert late.text == "The plan is to"


@pytest.mark.parametrize(
    "events",
    [
        [event({"text": text}, word="STOP", counts=COUNTS) for text in ("The plan", " is", " to")],
        [event(word="STOP", counts=COUNTS), *SAID, event(word="STOP", counts=COUNTS)],
        [event(word="STOP", counts=COUNTS), *SAID],
    ],
    ids=["every event", "first and last", "first"],
)
def test_a_reason_that_comes_before_the_end_ends_nothing(events: list[Sent]) -> None:
    reply = read(*events)
    assert (reply.text, reply.finish) == ("The plan is to", "stop")
    assert not build().stream_end()(stream(*events))
    assert failure(*events, cut="connection_lost").category == "connection_lost"
    called = read(*events, calls(n=1))
    assert [one.arguments for one in called.calls] == [{"n": 1}]


def test_an_end_without_a_reason_is_reported() -> None:
    reply = read(*SAID, DONE)
    assert (reply.finish, reply.quirks) == ("unknown", ("finish_missing",))
    assert failure(DONE).category == "bad_response"


@cut_off
def test_a_stream_that_was_cut_tells_why(cut: Cut, category: str, *, retryable: bool) -> None:
    for events, delivered in ((SAID, True), ((), False), ((stream(END)[:-1],), False)):
        error = failure(*events, cut=cut)
        assert (error.category, error.retryable, error.delivered) == (category, retryable, delivered)


@pytest.mark.parametrize(
    ("body", "category"),
    [
        ({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}, "overloaded"),
        ({"error": {"code": 500, "status": "INTERNAL", "message": "x"}}, "server_error"),
        ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}}, "rate_limited"),
    ],
)
def test_an_error_event_is_that_error(body: Sent, category: str) -> None:
    """The kind of a059."""
    for sent in (stream(body), event_bytes([body])):
        error = failure(*SAID, sent, END)
        assert (error.category, error.retryable, error.delivered) == (category, True, True)
        assert error.partial is not None
        assert error.partial.text == "The plan is to"


@pytest.mark.parametrize("cut", [None, "connection_lost"])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("gap", [b"", b"\r\n"])
def test_an_error_that_is_written_behind_the_events_is_that_error(
    cut: Cut | None, indent: int | None, gap: bytes
) -> None:
    """Servers that fail in the middle of a stream write the error as they would have sent it whole."""
    told: Sent = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "7s"}]}}
    for bare in (told, [told]):
        tail = gap + json.dumps(bare, indent=indent).encode() + gap
        error = failure(*SAID, tail, cut=cut)
        assert (error.category, error.retryable, error.retry_after_s) == ("rate_limited", True, 7)
        assert error.partial is not None
        assert (error.delivered, error.partial.text, error.partial.finish) == (True, "The plan is to", None)
        body = stream(*SAID) + tail
        assert outcome(build().coalesce(body), cut) == outcome(body, cut)
    assert failure(*SAID, b'{"candidates":[]}').category == "stream_incomplete"


def test_an_answer_that_says_it_failed_tells_what_it_had_said() -> None:
    error = failure(*SAID, event(word="MALFORMED_FUNCTION_CALL", counts=COUNTS))
    assert (error.category, error.retryable, error.delivered) == ("malformed_tool_call", False, True)
    assert error.partial is not None
    assert (error.partial.text, error.partial.finish, error.partial.usage is None) == ("The plan is to", "error", False)
    after = failure(*SAID, event(word="MALFORMED_FUNCTION_CALL"), b"data: {\n\n")
    assert after.partial is not None
    assert after.partial.finish == "error"


def test_an_error_after_the_reason_of_the_end_leaves_the_answer_whole_beside_it() -> None:
    error = failure(*SAID, event(word="STOP"), b"data: {\n\n")
    assert error.partial is not None
    assert (error.category, error.partial.finish) == ("bad_response", "stop")


@pytest.mark.parametrize(
    "sent",
    [
        b'data: {"candidates":\n\n',
        b"data: 1\n\n",
        stream({"candidates": {}}),
        stream({"candidates": [1]}),
        stream({"candidates": [{"content": {"parts": [1]}}]}),
        stream(event({"text": 1})),
    ],
)
def test_a_damaged_event_is_a_bad_response(sent: bytes) -> None:
    error = failure(*SAID, sent, END)
    assert (error.category, error.retryable, error.delivered) == ("bad_response", False, True)
    assert error.partial is not None
    assert error.partial.text == "The plan is to"


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"candidates":[]}', b'[{"candidates":[]}]', b": comment\n\n"])
def test_what_is_no_stream_is_a_bad_response(body: bytes) -> None:
    """The kind of a053."""
    assert failure(body).category == "bad_response"


def test_an_error_in_a_whole_body_is_found_where_a_stream_was_asked_for() -> None:
    body = b'[{"error":{"code":503,"status":"UNAVAILABLE"}}]'
    assert failure(body).category == "overloaded"
    with pytest.raises(ProviderError, match="503"):
        build().decode_stream(WireResponse(503, {}, body))


TEXTS = st.text(max_size=3) | st.sampled_from(["\ud83d", "\ude00", "\u2028"])
EVENTS = st.lists(
    st.one_of(
        st.sampled_from([calls(), calls(None, n=1), event(), {"usageMetadata": COUNTS}, event(word="STOP"), END, {}]),
        st.sampled_from([event({"text": "a"}, {"text": "b"}), {"error": {"code": 500}}, {"candidates": 1}]),
        st.sampled_from([event({"text": "x"}, index=1), event({"text": "", "thoughtSignature": "s"})]),
        st.builds(says, TEXTS),
        st.builds(says, TEXTS, thought=st.booleans()),
    ),
    max_size=10,
)
ENDINGS = st.sampled_from(
    [b"", b"data: {}", stream(END)[:-1], stream(END), DONE, b'\n{"error":"x"}', b"[1]", b"data: {\n{"]
)


def outcome(body: bytes, cut: Cut | None = None) -> object:
    try:
        return read(body, cut=cut)
    except ProviderError as error:
        return (str(error), error.retryable, error.delivered, error.partial)


@given(events=EVENTS, ending=ENDINGS, cut=st.sampled_from([None, "timeout"]))
def test_a_coalesced_stream_says_the_same(events: list[Sent], ending: bytes, cut: Cut | None) -> None:
    body = stream(*events) + ending
    assert outcome(build().coalesce(body), cut) == outcome(body, cut)


@given(events=EVENTS, ending=ENDINGS)
def test_a_reply_that_was_streamed_is_streamed_back(events: list[Sent], ending: bytes) -> None:
    found = outcome(stream(*events) + ending)
    if isinstance(found, Reply):
        assert read(*build().encode_stream(found)) == found
        assert build().decode_reply(WireResponse(200, {}, build().encode_reply(found))) == found


def test_a_coalesced_stream_has_each_text_in_one_event() -> None:
    body = stream(says("Hm", thought=True), says("m", thought=True), *SAID, says(" go"), calls(), END)
    short = build().coalesce(body)
    assert (short.count(b"Hmm"), short.count(b"The plan is to go")) == (1, 1)


def test_parts_of_one_event_stay_apart() -> None:
    reply = read(event({"text": "a"}, {"text": "b"}), says("c"), END)
    assert reply.opaque == {"role": "model", "parts": [{"text": "a"}, {"text": "bc"}]}
    assert read(*build().encode_stream(reply)) == reply


def test_halves_of_a_character_in_two_events_are_one() -> None:
    assert read(says("\ud83d"), says("\ude00"), END).text == "\U0001f600"


@given(events=EVENTS, data=st.data())
def test_the_end_is_seen_at_one_byte_however_the_stream_is_cut(events: list[Sent], data: st.DataObject) -> None:
    body = stream(*events, END) + DONE + stream(says("more"))
    cuts = data.draw(st.sets(st.integers(1, len(body) - 1), max_size=5))
    seen = end_seen(build(), body, cuts)
    assert outcome(body[: seen + 1]) == outcome(body)


def test_the_end_is_the_mark_of_other_dialects_too() -> None:
    watch = build().stream_end()
    assert [watch(stream(*SAID)), watch(stream(event(word="STOP"))), watch(DONE)] == [False, False, True]
