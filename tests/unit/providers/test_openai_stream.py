"""Streams of chat completions: folded into the body that would have been sent whole, and how they end."""

from __future__ import annotations

import json
import time
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streaming import breaks_off

from harness.errors import ProviderError
from harness.ports import Cut, WireResponse
from harness.providers._wire.events import event_bytes
from harness.providers.openai import build
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, ModelRequest, Reply, ToolMessage, Usage
from harness.schema.tool import ToolCall

Sent = dict[str, JsonValue]
DONE = event_bytes("[DONE]")


def chunk(delta: Sent | None = None, word: str | None = None, index: int = 0, **root: JsonValue) -> bytes:
    choice: JsonValue = {"index": index, "delta": delta or {}, "finish_reason": word}
    return event_bytes({"id": "cc-1", "model": "m-2", "choices": [choice], **root})


def call(at: int | None, id_: str | None = None, name: str | None = None, arguments: JsonValue = "") -> Sent:
    function: Sent = {"arguments": arguments}
    if name is not None:
        function["name"] = name
    entry: Sent = {"type": "function", "function": function}
    if at is not None:
        entry["index"] = at
    if id_ is not None:
        entry["id"] = id_
    return entry


def calls(*entries: JsonValue) -> bytes:
    return chunk({"tool_calls": list(entries)})


def read(*events: bytes, cut: Cut | None = None, status: int = 200) -> Reply:
    return build().decode_stream(WireResponse(status, {}, b"".join(events), cut))


def failure(*events: bytes, cut: Cut | None = None, status: int = 200) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(*events, cut=cut, status=status)
    return caught.value


def made(reply: Reply) -> list[tuple[str, str, JsonValue]]:
    """Id, name and arguments of each call."""
    return [(one.id, one.name, one.arguments) for one in reply.calls]


def test_a_stream_is_read_as_the_same_body_sent_whole() -> None:
    function: JsonValue = {"name": "ring", "arguments": '{"bell": 2}'}
    message: Sent = {
        "role": "assistant",
        "content": "Ringing.",
        "reasoning_content": "Why not?",
        "vendor": {"sig": "c2ln"},
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    usage: Sent = {"prompt_tokens": 9, "completion_tokens": 4}
    choice: JsonValue = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    root: Sent = {"id": "cc-1", "model": "m-2", "system_fingerprint": "fp", "usage": usage, "choices": [choice]}
    got = read(
        chunk({"role": "assistant", "content": "", "vendor": {"sig": "c2ln"}}, system_fingerprint="fp"),
        chunk({"reasoning_content": "Why "}),
        chunk({"reasoning_content": "not?"}),
        chunk({"content": "Ring"}),
        chunk({"content": "ing."}),
        calls(call(0, "c1", "ring", '{"bell"')),
        calls(call(0, arguments=": 2}")),
        chunk(word="tool_calls"),
        event_bytes({"id": "cc-1", "choices": [], "usage": usage}),
        DONE,
    )
    assert got == build().decode_reply(WireResponse(200, {}, json.dumps(root).encode()))
    assert got.fingerprint == "fp"


def test_choices_are_kept_apart_and_the_first_is_the_answer() -> None:
    # the kind of a035
    got = read(
        chunk({"content": "One"}, index=0),
        chunk({"content": "Two", "tool_calls": [call(0, "b", "ring", '{"n":')]}, index=1),
        chunk({"tool_calls": [call(0, "a", "ring", '{"n":')]}, index=0),
        chunk({"tool_calls": [call(0, arguments="2}")]}, index=1),
        chunk({"tool_calls": [call(0, arguments="1}")]}, index=0),
        chunk(word="tool_calls", index=0),
        chunk(word="tool_calls", index=1),
        DONE,
    )
    assert (got.text, made(got)) == ("One", [("a", "ring", {"n": 1})])
    assert got.quirks == ("alternative_choices",)


def test_thoughts_go_back_with_the_calls_that_they_led_to() -> None:
    # the kind of a037
    got = read(
        chunk({"content": None, "reasoning_content": ""}),
        chunk({"reasoning_content": "Two "}),
        chunk({"reasoning_content": "rings."}),
        calls(call(0, "c1", "ring", "{}")),
        chunk(word="tool_calls", usage={"prompt_tokens": 8, "completion_tokens": 5, "prompt_cache_hit_tokens": 3}),
        DONE,
    )
    request = ModelRequest(
        model="m",
        messages=(
            AssistantMessage(text=got.text, calls=got.calls, opaque=got.opaque),
            ToolMessage(call_id="c1", name="ring", text="ok"),
        ),
        tools=(),
    )
    assert json.loads(build().encode_request(request))["messages"][0]["reasoning_content"] == "Two rings."
    assert got.reasoning == "Two rings."
    assert got.usage == Usage(input_tokens=8, output_tokens=5, cache_read_tokens=3)


def test_thoughts_in_a_list_of_parts_are_all_kept() -> None:
    first: JsonValue = [{"type": "reasoning.encrypted", "data": "eA=="}]
    second: JsonValue = [{"type": "reasoning.text", "text": "so", "signature": "s"}]
    got = read(
        chunk({"reasoning_details": first}),
        chunk({"reasoning_details": second, "content": "Yes."}),
        chunk(word="stop"),
        DONE,
    )
    assert isinstance(got.opaque, dict)
    assert got.opaque["reasoning_details"] == [*first, *second]  # type: ignore[misc]


@pytest.mark.parametrize(
    "body", [b"<!doctype html><html>Sign in</html>", b"", b": only a comment\n\n", b"retry: 3\n\n"]
)
def test_an_answer_without_any_event_is_a_bad_response(body: bytes) -> None:
    # the kind of a053
    error = failure(body)
    assert (error.category, error.retryable, error.delivered, error.partial) == ("bad_response", False, False, None)


def test_a_whole_body_where_a_stream_was_asked_for_is_a_bad_response_unless_it_tells_of_a_failure() -> None:
    body = build().encode_reply(Reply(text="hello", finish="stop"))
    assert failure(body).category == "bad_response"
    error = failure(b'{"error":{"message":"x","type":"server_error","code":"overloaded"}}')
    assert (error.category, error.retryable) == ("overloaded", True)


def test_counts_that_go_on_growing_are_no_evidence_of_what_a_broken_stream_cost() -> None:
    usage: JsonValue = {"prompt_tokens": 8, "completion_tokens": 1}
    begun = chunk({"content": "Half"}, usage=usage)
    cut = failure(begun, cut="connection_lost")
    assert cut.partial is not None
    assert (cut.partial.text, cut.partial.usage) == ("Half", None)
    alone = event_bytes({"id": "cc-1", "model": "m-2", "choices": [], "usage": usage})
    counted = failure(chunk({"content": "Half"}), alone, event_bytes({"error": {"message": "x"}}))
    assert counted.partial is not None
    assert counted.partial.usage == Usage(input_tokens=8, output_tokens=1)
    whole = read(begun, chunk(word="stop", usage=usage), DONE)
    assert whole.usage == Usage(input_tokens=8, output_tokens=1)


@pytest.mark.parametrize("name", ["error", ""])
@pytest.mark.parametrize("rest", [DONE, b"", chunk({"content": "more"}, "stop") + DONE])
def test_an_error_among_the_events_counts_and_what_was_said_before_it_is_kept(name: str, rest: bytes) -> None:
    # the kind of a059
    event = event_bytes({"error": {"message": "x", "type": "server_error", "code": "500"}}, name)
    error = failure(chunk({"content": "Half"}), event, rest)
    assert (error.category, error.retryable, error.delivered, error.http_status) == ("server_error", True, True, 200)
    assert error.partial is not None
    assert (error.partial.text, error.partial.finish) == ("Half", None)
    watch = build().stream_end()
    assert watch(chunk({"content": "Half"})) is False
    assert watch(event) is True


def test_an_error_in_a_choice_counts_too() -> None:
    choice: JsonValue = {"index": 0, "delta": {}, "error": {"code": 429, "message": "x"}}
    assert failure(event_bytes({"choices": [choice]}), DONE).category == "rate_limited"


def test_an_error_in_a_vendors_own_corner_counts_too() -> None:
    error = failure(chunk({"content": "Half"}), chunk(word="stop", x_groq={"id": "r", "error": "over_capacity"}), DONE)
    assert (error.category, error.retryable, error.delivered) == ("server_error", True, True)


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    # the kind of a071
    got = read(
        calls(call(None, "a", "ring", '{"n":1}')),
        calls(call(None, "b", "stop", '{"m":')),
        calls(call(None, arguments="2}")),
        chunk(word="stop"),
        DONE,
    )
    assert made(got) == [("a", "ring", {"n": 1}), ("b", "stop", {"m": 2})]
    assert got.quirks == ("finish_stop_with_tool_calls", "missing_index")


def test_calls_without_index_and_id_are_told_apart_by_their_names() -> None:
    got = read(
        calls(call(None, None, "ring", '{"n":1}'), call(None, None, "ring", '{"n":')),
        calls(call(None, arguments="2}")),
        chunk(word="tool_calls"),
        DONE,
    )
    assert [one.arguments for one in got.calls] == [{"n": 1}, {"n": 2}]
    assert len({one.id for one in got.calls}) == 2
    assert got.quirks == ("missing_call_id", "missing_index")


def test_an_index_that_is_used_for_another_call_makes_two_calls() -> None:
    got = read(calls(call(0, "a", "ring", "{}")), calls(call(0, "b", "stop", "{}")), chunk(word="tool_calls"), DONE)
    assert made(got) == [("a", "ring", {}), ("b", "stop", {})]
    assert got.quirks == ("index_reused",)


def test_entries_of_one_index_in_one_event_are_one_call() -> None:
    # the kind of a073
    got = read(
        calls(call(0, "a", "ring"), call(0, arguments='{"n":')),
        calls(call(0, arguments="1}")),
        chunk(word="tool_calls"),
        DONE,
    )
    assert made(got) == [("a", "ring", {"n": 1})]
    assert got.quirks == ()


def test_what_is_empty_later_neither_overwrites_nor_opens_a_call() -> None:
    # the kind of a075
    got = read(
        calls(call(0, "a", "ring", None)),
        calls(call(0, "", "", '{"n":')),
        calls({"index": 0, "id": None, "function": {"name": None, "arguments": "1}"}}),
        calls({"index": 0, "function": None}),
        chunk(word="tool_calls"),
        DONE,
    )
    assert made(got) == [("a", "ring", {"n": 1})]
    assert got.quirks == ()


def test_parallel_calls_grow_side_by_side() -> None:
    got = read(
        calls(call(0, "a", "ring", "{"), call(1, "b", "stop", '{"m"')),
        calls(call(1, arguments=":2}"), call(0, arguments="}")),
        chunk(word="tool_calls"),
        DONE,
    )
    assert made(got) == [("a", "ring", {}), ("b", "stop", {"m": 2})]


def test_a_message_of_all_so_far_beside_each_delta_is_not_said_twice() -> None:
    def both(delta: JsonValue, so_far: str, word: str | None = None) -> bytes:
        message: JsonValue = {"role": "assistant", "content": so_far}
        return event_bytes({"choices": [{"index": 0, "delta": delta, "message": message, "finish_reason": word}]})

    told = both({"content": "He"}, "He"), both({"content": "llo"}, "Hello"), both({}, "Hello", "stop")
    assert read(*told, DONE).text == "Hello"
    assert read(both({}, "Hello", "stop"), DONE).text == "Hello"


def test_a_first_event_without_choices_is_no_answer_and_no_failure() -> None:
    # the kind of a077
    head = event_bytes({"id": "", "model": "", "choices": [], "prompt_filter_results": [{"index": 0}]})
    got = read(head, chunk({"content": "Hi"}), chunk(word="stop"), DONE)
    assert (got.text, got.finish, got.usage, got.model, got.quirks) == ("Hi", "stop", None, "m-2", ())


def test_the_last_event_makes_an_answer_whole_that_has_no_word() -> None:
    # the kind of a079
    got = read(chunk({"content": "He"}), chunk({"content": "llo"}), DONE)
    assert (got.text, got.finish, got.finish_word, got.quirks) == ("Hello", "unknown", None, ("finish_missing",))


@pytest.mark.parametrize("arguments", ["", " ", None])
def test_a_last_call_without_arguments_may_have_lost_them_where_no_word_ends_the_answer(arguments: str | None) -> None:
    first, last = call(0, "a", "ring", ""), call(1, "b", "ring", arguments)
    got = read(calls(first), calls(last), DONE)
    assert [(one.arguments, one.fault) for one in got.calls] == [({}, None), (None, "truncated")]
    assert made(read(calls(last), chunk(word="tool_calls"), DONE)) == [("b", "ring", {})]
    assert made(read(calls(call(0, "a", "ring", "{}")), DONE)) == [("a", "ring", {})]


def test_a_word_makes_an_answer_whole_that_has_no_last_event() -> None:
    got = read(chunk({"content": "Hello"}), chunk(word="stop"))
    assert (got.text, got.finish, got.quirks) == ("Hello", "stop", ())


def test_the_last_event_alone_is_no_answer() -> None:
    assert failure(DONE).category == "stream_incomplete"


def test_blocks_without_data_are_no_events() -> None:
    # the kind of a083
    got = read(
        b"retry: 5\n\nid: 3\n\nevent: ping\ndata:\n\n: keep\n\n",
        chunk({"content": "Hi"}),
        b"data: \n\n",
        chunk(word="stop"),
        DONE,
    )
    assert (got.text, got.finish) == ("Hi", "stop")


@pytest.mark.parametrize("ends", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\u00e9", "\U0001f514"])
def test_only_line_ends_of_the_protocol_end_a_line(sign: str, ends: str) -> None:
    # the kind of a085
    choice = {"index": 0, "delta": {"content": f"a{sign}b"}, "finish_reason": "stop"}
    text = json.dumps({"choices": [choice]}, ensure_ascii=False)
    body = f"data: {text}{ends}{ends}data: [DONE]{ends}{ends}".encode()
    assert read(body).text == f"a{sign}b"
    watch = build().stream_end()
    assert [watch(body[at : at + 1]) for at in range(len(body))].index(True) >= len(body) - 2 * len(ends)


@breaks_off
def test_a_stream_that_breaks_off_tells_how_and_what_had_come(cut: Cut | None, category: str, retryable: bool) -> None:
    # the kind of a087
    error = failure(
        chunk({"content": "The result"}), calls(call(0, "a", "ring", '{"n":')), b'data: {"choices":[{"index', cut=cut
    )
    if cut is None:
        # the half event lacks its line end, so it is none
        assert error.partial is not None
    assert (error.category, error.retryable, error.delivered) == (category, retryable, True)
    assert error.partial is not None
    assert (error.partial.text, error.partial.finish) == ("The result", None)
    assert [(one.id, one.arguments, one.fault) for one in error.partial.calls] == [("a", None, "truncated")]


def test_a_stream_that_broke_off_before_its_first_event_had_nothing_delivered() -> None:
    error = failure(b": hello\n\n", cut="connection_lost")
    assert (error.category, error.retryable, error.delivered, error.partial) == ("connection_lost", True, False, None)


def test_what_comes_after_the_end_does_not_count_and_a_cut_there_neither() -> None:
    got = read(chunk({"content": "Hi"}, "stop"), DONE, b"data: {{{\n\n", cut="connection_lost")
    assert (got.text, got.finish) == ("Hi", "stop")


@pytest.mark.parametrize("event", [b"data: {broken\n\n", b"data: [1]\n\n", b"data: \xff\n\n", b"data: 7\n\n"])
def test_a_damaged_event_is_a_bad_response_with_what_had_been_said(event: bytes) -> None:
    error = failure(chunk({"content": "Half"}), event, DONE)
    assert (error.category, error.retryable, error.delivered) == ("bad_response", False, True)
    assert error.partial is not None
    assert error.partial.text == "Half"


def test_a_word_of_failure_keeps_what_was_said_and_counted() -> None:
    usage: Sent = {"prompt_tokens": 8, "completion_tokens": 1}
    error = failure(chunk({"content": "Half"}), chunk(word="network_error", usage=usage), DONE)
    assert (error.category, error.retryable, error.delivered) == ("server_error", True, True)
    assert error.partial is not None
    assert (error.partial.text, error.partial.finish, error.partial.finish_word) == ("Half", "error", "network_error")
    assert error.partial.usage == Usage(input_tokens=8, output_tokens=1)


def test_a_call_that_was_cut_by_the_length_is_never_run() -> None:
    got = read(calls(call(0, "a", "ring", "{}"), call(1, "b", "ring", '{"n":1}')), chunk(word="length"), DONE)
    assert [one.fault for one in got.calls] == [None, "truncated"]


def test_the_status_of_an_unsuccessful_answer_counts() -> None:
    assert failure(b'{"error":{"message":"x"}}', status=429).category == "rate_limited"


@pytest.mark.parametrize("place", ["root", "alone", "choice", "corner"])
def test_usage_is_found_wherever_it_is_told(place: str) -> None:
    usage: Sent = {"prompt_tokens": 8, "completion_tokens": 5}
    last = {
        "root": chunk(word="stop", usage=usage),
        "alone": chunk(word="stop") + event_bytes({"choices": [], "usage": usage}),
        "choice": event_bytes({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage}]}),
        "corner": chunk(word="stop", x_groq={"id": "r", "usage": usage}),
    }
    got = read(chunk({"content": "Hi"}, usage=None), last[place], DONE)
    assert got.usage == Usage(input_tokens=8, output_tokens=5)


def test_the_old_form_of_a_call_grows_too() -> None:
    got = read(
        chunk({"function_call": {"name": "ring", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"n":'}}),
        chunk({"function_call": {"arguments": "1}"}}),
        chunk(word="function_call"),
        DONE,
    )
    assert [(one.name, one.arguments) for one in got.calls] == [("ring", {"n": 1})]
    assert got.quirks == ("legacy_function_call",)


def test_arguments_as_an_object_are_taken_as_they_are() -> None:
    got = read(calls(call(0, "a", "ring", {"n": 1})), chunk(word="tool_calls"), DONE)
    assert made(got) == [("a", "ring", {"n": 1})]
    assert got.quirks == ("arguments_not_string",)


def test_a_coalesced_stream_has_each_text_in_one_event() -> None:
    body = b"".join(
        (
            chunk({"content": "sk-", "reasoning_content": "th"}),
            chunk({"content": "FAKE", "reasoning_content": "ink"}),
            calls(call(0, "a", "ring", '{"key":"sk-')),
            calls(call(0, arguments='FAKE"}')),
            chunk(word="tool_calls"),
            DONE,
        )
    )
    one = build().coalesce(body)
    assert b"sk-FAKE" in one
    assert b'{\\"key\\":\\"sk-FAKE\\"}' in one
    assert b'"think"' in one
    assert read(one) == read(body)
    assert build().coalesce(one) == one


def test_halves_of_a_character_in_two_events_are_one_character() -> None:
    got = read(
        event_bytes({"choices": [{"index": 0, "delta": {"content": "a\ud83d"}}]}),
        chunk({"content": "\udd14"}),
        calls(call(0, "a", "ring", '{"n":"\ud83d')),
        calls(call(0, arguments='\udd14"}')),
        chunk(word="tool_calls"),
        DONE,
    )
    assert got.text == "a\U0001f514"
    assert got.calls[0].arguments == {"n": "\U0001f514"}


def test_an_answer_without_events_is_coalesced_to_itself() -> None:
    for body in (b'{"error":{"message":"x"}}', b"<html>", b": ping\n\n", b""):
        assert build().coalesce(body) == body


@pytest.mark.parametrize("cut", [None, "timeout"])
def test_a_coalesced_stream_that_broke_off_at_any_byte_comes_to_the_same(cut: Cut | None) -> None:
    body = (
        chunk({"content": "a"}) + chunk({"content": "b"}) + calls(call(0, "a", "ring", "{}")) + chunk(word="x") + DONE
    )
    for end in range(len(body)):
        assert outcome(build().coalesce(body[:end]), cut) == outcome(body[:end], cut)


def test_many_events_are_folded_and_coalesced_in_time_that_grows_with_their_number() -> None:
    word = "word " * 400

    def spent(count: int) -> float:
        body = chunk({"content": word}) * count
        begun = time.process_time()
        assert len(read(body, chunk(word="stop"), DONE).text or "") == len(word) * count
        build().coalesce(body)
        return time.process_time() - begun

    few = min(spent(250) for _ in range(3))
    assert spent(2_000) < 8 * few * 4


PIECES = st.text(max_size=5) | st.sampled_from(["\ud83d", "\udd14"])
FUNCTION = st.dictionaries(
    st.sampled_from(["name", "arguments"]),
    PIECES | st.none() | st.sampled_from(["{}", '{"n"', ":1}"]) | st.just({"n": 1}),
)
ENTRY = st.fixed_dictionaries(
    {"function": FUNCTION | st.none()},
    optional={"index": st.integers(0, 2) | st.none(), "id": st.sampled_from(["a", "b", "", None, 3])},
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": PIECES | st.none() | st.just([{"type": "text", "text": "part"}]),
        "reasoning_content": PIECES | st.none(),
        "refusal": PIECES | st.none(),
        "tool_calls": st.lists(ENTRY, max_size=2) | st.none(),
        "function_call": FUNCTION,
        "vendor": st.lists(st.integers(), max_size=2) | st.text(max_size=2),
    },
)
CHOICE = st.fixed_dictionaries(
    {"index": st.sampled_from([0, 0, 0, 1, None]), "delta": DELTA | st.none()},
    optional={"finish_reason": st.sampled_from([None, "stop", "length", "tool_calls", "error", "new"])},
)
EVENT = st.one_of(
    st.fixed_dictionaries(
        {"choices": st.lists(CHOICE, max_size=2)},
        optional={"id": PIECES, "usage": st.just({"prompt_tokens": 3}) | st.none(), "x_groq": st.none()},
    ).map(lambda event: event_bytes(cast("Sent", event))),
    st.sampled_from([DONE, b": ping\n\n", b"data: {\n\n", b'data: {"error":{"code":"1","message":"m"}}\n\n']),
)


def outcome(body: bytes, cut: Cut | None) -> Reply | tuple[object, ...]:
    try:
        return build().decode_stream(WireResponse(200, {}, body, cut))
    except ProviderError as error:
        return (str(error), error.retryable, error.delivered, error.partial)


@given(events=st.lists(EVENT, max_size=8), cut=st.sampled_from([None, "timeout"]))
def test_a_coalesced_stream_comes_to_the_same(events: list[bytes], cut: Cut | None) -> None:
    body = b"".join(events)
    assert outcome(build().coalesce(body), cut) == outcome(body, cut)


@given(events=st.lists(EVENT, max_size=8))
def test_what_a_stream_was_decoded_to_can_be_streamed_again(events: list[bytes]) -> None:
    found = outcome(b"".join(events), None)
    if isinstance(found, Reply):
        again = outcome(b"".join(build().encode_stream(found)), None)
        assert isinstance(again, Reply)
        left = {"quirks", "opaque"}
        assert again.model_dump(exclude=left) == found.model_dump(exclude=left)


@given(
    text=st.none() | st.text(max_size=20),
    names=st.lists(st.sampled_from(["ring", "stop"]), max_size=3),
    reasoning=st.none() | st.text(min_size=1, max_size=10),
    refusal=st.none() | st.text(min_size=1, max_size=10),
)
def test_a_made_reply_is_streamed_and_read_back(
    text: str | None, names: list[str], reasoning: str | None, refusal: str | None
) -> None:
    made_calls = tuple(
        ToolCall(id=f"c{at}", name=name, arguments_raw=f'{{"n": {at}}}', arguments={"n": at})
        for at, name in enumerate(names)
    )
    reply = Reply(
        text=text,
        calls=made_calls,
        reasoning=reasoning,
        refusal=None if made_calls else refusal,
        finish="tool_calls" if made_calls else "refusal" if refusal else "stop",
    )
    first = build().decode_stream(WireResponse(200, {}, b"".join(build().encode_stream(reply))))
    assert first == build().decode_reply(WireResponse(200, {}, build().encode_reply(reply)))
    left = {"finish_word", "opaque", "model", "fingerprint", "quirks"}
    assert first.model_dump(exclude=left) == reply.model_dump(exclude=left)
    assert build().decode_stream(WireResponse(200, {}, b"".join(build().encode_stream(first)))) == first
