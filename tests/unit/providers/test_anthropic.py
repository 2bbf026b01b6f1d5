"""The request of the messages API, and whole answers; their samples are in ``tests/data/wire/anthropic``."""

from __future__ import annotations

import json
import re

import pytest
from conversing import asks, call, told
from hypothesis import given
from hypothesis import strategies as st

from harness.config import check_settings, resolve
from harness.errors import ProviderError, UsageError
from harness.ports import WireResponse
from harness.providers.anthropic import build
from harness.schema.base import JsonValue
from harness.schema.limits import COUNT_MAX
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    Message,
    ModelRequest,
    Reply,
    SystemMessage,
    UserMessage,
)
from harness.schema.tool import ToolCall, ToolSpec

TOOL = ToolSpec(name="ring", description="Rings.", parameters={"type": "object", "properties": {}})


def sent(*messages: Message, tools: tuple[ToolSpec, ...] = (), **settings: object) -> dict[str, JsonValue]:
    asked = ModelRequest(
        model="model-a", messages=messages, tools=tools, settings=GenerationSettings.model_validate(settings)
    )
    body: dict[str, JsonValue] = json.loads(build().encode_request(asked))
    return body


def turns(*messages: Message) -> list[JsonValue]:
    found = sent(*messages)["messages"]
    assert isinstance(found, list)
    return found


def result(id_: str, text: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"type": "tool_result", "tool_use_id": id_, "content": text, **more}


def use(id_: str, **given: JsonValue) -> dict[str, JsonValue]:
    return {"type": "tool_use", "id": id_, "name": "ring", "input": given}


def said(text: str) -> dict[str, JsonValue]:
    return {"type": "text", "text": text}


GO = UserMessage(text="go")
ASKED: dict[str, JsonValue] = {"role": "user", "content": [{"type": "text", "text": "go"}]}


def test_the_whole_request_is_compact_sorted_json() -> None:
    asked = ModelRequest(model="model-a", messages=(SystemMessage(text="rules"), GO), tools=(TOOL,))
    assert build().encode_request(asked).decode() == (
        '{"max_tokens":4096,"messages":[{"content":[{"text":"go","type":"text"}],"role":"user"}],"model":"model-a",'
        '"stream":false,"system":"rules","tools":[{"description":"Rings.","input_schema":{"properties":{},'
        '"type":"object"},"name":"ring"}]}'
    )


def test_the_address_and_the_headers() -> None:
    assert build().path(ModelRequest(model="m", messages=(GO,), tools=())) == "/v1/messages"
    assert build().headers("k")["x-api-key"] == "k"
    assert build().headers(None)["anthropic-version"] == "2023-06-01"
    assert build().name == "anthropic"


@pytest.mark.parametrize(
    ("settings", "goes_out"),
    [
        (
            {"max_output_tokens": 9, "temperature": 0.5, "top_p": 0.9},
            {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9},
        ),
        ({"stream": True}, {"stream": True}),
        ({"thinking": "enabled"}, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (
            {"thinking": "enabled", "max_output_tokens": 1500},
            {"max_tokens": 1500, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        ),
        ({"thinking": "auto"}, {"thinking": {"type": "adaptive"}}),
        ({"thinking": "disabled"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "low"}, {"output_config": {"effort": "low"}}),
        ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"tool_choice": {"type": "none"}}),
        ({"parallel_tool_calls": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        ({"parallel_tool_calls": True}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}}),
    ],
)
def test_settings_go_out_in_the_words_of_the_api(settings: dict[str, object], goes_out: dict[str, JsonValue]) -> None:
    body = sent(GO, tools=(TOOL,), **settings)
    rest = {key: value for key, value in body.items() if key not in {"messages", "model", "tools"}}
    assert rest == {"max_tokens": 4096, "stream": False, **goes_out}


def test_nothing_speaks_of_tools_where_there_are_none() -> None:
    assert "tool_choice" not in sent(GO, tool_choice="required")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"seed": 1}, "seed"),
        ({"reasoning_effort": "minimal"}, "minimal"),
        ({"reasoning_effort": "none", "thinking": "auto"}, "leave one of thinking and reasoning_effort out"),
        ({"thinking": "enabled", "max_output_tokens": 1024}, "more than 1024"),
        ({"thinking": "enabled", "tool_choice": "required"}, "tool_choice"),
        ({"temperature": 1.5}, "from 0 to 1"),
        ({"thinking": "auto", "temperature": 0.0}, "temperature"),
        ({"thinking": "auto", "top_p": 0.5}, "top_p"),
    ],
)
def test_settings_that_the_api_refuses_are_refused_before(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_settings(resolve("anthropic"), GenerationSettings.model_validate(settings))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"temperature": 1.0, "thinking": "enabled", "top_p": 0.95},
        {"thinking": "enabled", "max_output_tokens": 1025},
    ],
)
def test_settings_that_the_api_takes_are_taken(settings: dict[str, object]) -> None:
    check_settings(resolve("anthropic"), GenerationSettings.model_validate(settings))


def test_a_schema_keeps_what_the_api_takes() -> None:
    parameters: dict[str, JsonValue] = {"anyOf": [{}], "properties": {"a": {"anyOf": [{"type": "string"}]}}}
    body = sent(GO, tools=(ToolSpec(name="ring", description=" ", parameters=parameters),))
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}}
    assert body["tools"] == [{"name": "ring", "input_schema": schema}]


def test_results_go_back_in_one_message_in_call_order_before_any_words() -> None:
    """The kind of a041."""
    found = turns(
        GO, asks(call("a"), call("b")), told("b", "2"), UserMessage(text="quick"), told("a", "1", failed=True)
    )
    assert found == [
        ASKED,
        {"role": "assistant", "content": [use("a"), use("b")]},
        {"role": "user", "content": [result("a", "1", is_error=True), result("b", "2"), said("quick")]},
    ]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_result_gets_a_stand_in(blank: str) -> None:
    """The kind of a043."""
    assert turns(GO, asks(call("a")), told("a", blank))[-1] == {"role": "user", "content": [result("a", "(no output)")]}


def test_a_call_without_result_is_answered_and_a_result_without_call_is_text() -> None:
    found = turns(GO, asks(call("a")), told("gone", "late"), told("gone", " "))
    expected = [result("a", "(no result)", is_error=True), said("late")]
    assert found[-1] == {"role": "user", "content": expected}


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_an_empty_answer_is_not_sent_back(text: str | None) -> None:
    """The kind of a091."""
    blank: JsonValue = {"role": "assistant", "content": [{"type": "text", "text": text or ""}]}
    merged = [{"role": "user", "content": [said("go"), said("on")]}]
    assert turns(GO, asks(text=text), UserMessage(text="on")) == merged
    assert turns(GO, asks(text=text, opaque=blank), UserMessage(text="on")) == merged


def test_a_conversation_begins_with_a_user_and_holds_no_blank_text() -> None:
    stand_in = {"role": "user", "content": [said("(no text)")]}
    assert turns(UserMessage(text=" ")) == [stand_in]
    assert turns(asks(text="a")) == [stand_in, {"role": "assistant", "content": [said("a")]}]
    assert turns(GO, asks(text="a"), UserMessage(text=""))[-1] == stand_in


def test_rules_stand_apart_and_later_ones_in_their_place() -> None:
    body = sent(
        SystemMessage(text="one"), SystemMessage(text=""), SystemMessage(text="two"), GO, SystemMessage(text="c")
    )
    assert body["system"] == "one\n\ntwo"
    assert body["messages"] == [{"role": "user", "content": [said("go"), said("c")]}]


def test_two_answers_in_a_row_are_one_message() -> None:
    assert turns(GO, asks(text="a"), asks(text="b"))[-1] == {"role": "assistant", "content": [said("a"), said("b")]}


def test_thoughts_go_back_as_they_came() -> None:
    blocks: list[JsonValue] = [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "redacted_thinking", "data": "x"},
        {**use("a", n=1), "caller": {"type": "direct"}},
        said("after"),
    ]
    kept = asks(call("a", '{"n":1}', {"n": 1}), text="after", opaque={"role": "assistant", "content": blocks})
    assert turns(GO, kept, told("a", "1"))[1] == {"role": "assistant", "content": blocks}


def test_what_would_be_refused_is_left_out_of_what_goes_back() -> None:
    blocks: list[JsonValue] = [
        {"type": "thinking", "thinking": "cut of", "signature": ""},
        said(" "),
        {**said("a"), "citations": None},
    ]
    kept = asks(text=" a", opaque={"role": "assistant", "content": blocks})
    assert turns(GO, kept)[1] == {"role": "assistant", "content": [said("a")]}


@pytest.mark.parametrize(
    "opaque",
    [
        {"role": "assistant", "content": "x"},
        {"role": "assistant", "content": [{"text": "x"}]},
        {"role": "assistant", "content": [said("x")], "tool_calls": []},
        {"role": "model", "content": [said("x")]},
        {"role": "assistant", "content": []},
        [1],
    ],
)
def test_a_message_of_another_dialect_does_not_go_back(opaque: JsonValue) -> None:
    assert turns(GO, asks(text="mine", opaque=opaque))[1] == {"role": "assistant", "content": [said("mine")]}


@pytest.mark.parametrize(
    ("raw", "arguments", "goes_out"),
    [
        ('{"n":  1}', {"n": 1}, {"n": 1}),
        ("", {}, {}),
        ('"{\\"n\\":1}"', {"n": 1}, {"n": 1}),
        ('{"n":', None, {"malformed_arguments": '{"n":'}),
        ("[1]", None, {"malformed_arguments": "[1]"}),
    ],
)
def test_earlier_arguments_go_out_as_an_object(
    raw: str, arguments: dict[str, JsonValue] | None, goes_out: dict[str, JsonValue]
) -> None:
    given = ToolCall(id="a", name="ring", arguments_raw=raw, arguments=arguments)
    assert turns(GO, asks(given), told("a", "1"))[1] == {"role": "assistant", "content": [use("a", **goes_out)]}


def test_ids_are_made_fit_and_unique_alike_in_call_and_result() -> None:
    def ids(*names: str) -> list[tuple[object, object]]:
        messages: list[Message] = [GO]
        for name in names:
            messages += [asks(call(name)), told(name, "1")]
        found = json.loads(json.dumps(turns(*messages)))[1:]
        return [
            (ask["content"][0]["id"], tell["content"][0]["tool_use_id"])
            for ask, tell in zip(found[::2], found[1::2], strict=True)
        ]

    assert ids("a", "a", "a-2") == [("a", "a"), ("a-2", "a-2"), ("a-2-2", "a-2-2")]
    (dotted, told_), (colon, _) = ids("run.1", "run:1")
    assert dotted == told_
    assert re.fullmatch(r"run_1-[0-9a-f]{8}", str(dotted))
    assert dotted != colon


def test_one_id_twice_in_a_turn_is_answered_in_order() -> None:
    found = turns(GO, asks(call("a"), call("a")), told("a", "1"), told("a", "2"))
    assert found[-1] == {"role": "user", "content": [result("a", "1"), result("a-2", "2")]}


def test_an_id_that_is_missing_is_made_and_kept() -> None:
    content: JsonValue = [{"type": "tool_use", "name": "ring", "input": {}}]
    body = json.dumps({"id": "msg_1", "type": "message", "content": content, "stop_reason": "tool_use"}).encode()
    reply = build().decode_reply(WireResponse(200, {}, body))
    assert reply.quirks == ("missing_call_id",)
    assert reply.calls[0].id.startswith("made-")
    assert build().decode_reply(WireResponse(200, {}, build().encode_reply(reply))) == reply
    answered = turns(GO, asks(*reply.calls, opaque=reply.opaque), told(reply.calls[0].id, "1"))
    assert answered[1] == {"role": "assistant", "content": [use(reply.calls[0].id)]}


def test_an_answer_that_says_it_failed_tells_what_it_had_said() -> None:
    """The kind of a027."""
    usage = {"input_tokens": 3, "output_tokens": 2}
    body = {"type": "message", "content": [said("Let me")], "stop_reason": "error", "usage": usage}
    with pytest.raises(ProviderError) as caught:
        build().decode_reply(WireResponse(200, {}, json.dumps(body).encode()))
    partial = caught.value.partial
    assert partial is not None
    assert partial.usage is not None
    assert (partial.text, partial.finish, partial.usage.output_tokens) == ("Let me", "error", 2)


def test_a_field_that_was_changed_replaces_what_the_message_holds() -> None:
    blocks: list[JsonValue] = [
        {"type": "thinking", "thinking": "old", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        use("a"),
        said("old"),
        said("older"),
    ]
    changed = Reply(
        text="new",
        reasoning="newer",
        calls=(ToolCall(id="b", name="sing", arguments_raw='{"n":1}', arguments={"n": 1}), call("c")),
        finish="tool_calls",
        opaque={"role": "assistant", "content": blocks},
    )
    got = build().decode_reply(WireResponse(200, {}, build().encode_reply(changed)))
    assert (got.text, got.reasoning, got.calls, got.finish) == ("new", "newer", changed.calls, "tool_calls")
    alone = changed.model_copy(update={"text": None, "reasoning": None, "calls": ()})
    assert json.loads(build().encode_reply(alone))["content"] == blocks


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
BLOCKS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=5)}),
        st.fixed_dictionaries(
            {"type": st.just("tool_use"), "name": st.sampled_from(["ring", ""])},
            optional={"id": st.sampled_from(["a", "b", "", None]), "input": JSON, "caller": JSON},
        ),
        st.fixed_dictionaries({"type": st.just("thinking"), "thinking": st.text(max_size=5), "signature": st.just("")}),
        st.dictionaries(st.sampled_from(["type", "x", "text", "thinking", "input"]), JSON, max_size=3),
    ),
    max_size=4,
)
BODIES = st.fixed_dictionaries(
    {"content": BLOCKS},
    optional={
        "id": st.just("msg_1"),
        "stop_reason": st.sampled_from(["end_turn", "tool_use", "max_tokens", "pause_turn", "odd", None]),
        "usage": st.dictionaries(
            st.sampled_from(
                ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
            ),
            st.integers(0, 9) | st.sampled_from([COUNT_MAX, 10**30]) | st.none(),
        ),
        "model": st.just("m"),
        "stop_details": st.just({"type": "refusal", "explanation": "no"}),
    },
)


@given(body=BODIES)
def test_a_reply_that_was_decoded_is_encoded_back(body: dict[str, JsonValue]) -> None:
    try:
        reply = build().decode_reply(WireResponse(200, {}, json.dumps(body).encode()))
    except ProviderError:
        return
    assert build().decode_reply(WireResponse(200, {}, build().encode_reply(reply))) == reply
    half = reply.truncated()
    shown = build().decode_reply(WireResponse(200, {}, build().encode_reply(half)))
    assert (shown.text, shown.calls, shown.finish) == (half.text, half.calls, half.finish)


@given(body=BODIES | JSON | st.binary(max_size=30))
def test_whatever_arrives_is_a_reply_or_a_named_failure(body: JsonValue | bytes) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    for decode in (build().decode_reply, build().decode_stream):
        try:
            reply = decode(WireResponse(200, {}, data))
        except ProviderError:
            continue
        build().encode_request(
            ModelRequest(
                model="m",
                messages=(GO, AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque)),
                tools=(),
            )
        )
