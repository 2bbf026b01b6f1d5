"""The responses API: the request, and what goes back to the provider."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.config import resolve
from harness.config.presets import check_settings
from harness.errors import ProviderError, UsageError
from harness.ports import WireResponse
from harness.providers.openai_responses import build
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    Message,
    ModelRequest,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.schema.tool import ToolCall, ToolSpec

Item = dict[str, JsonValue]

TOOL = ToolSpec(name="ring", description="Rings.", parameters={"type": "object", "properties": {"n": {"$ref": "#/x"}}})
ALL = GenerationSettings(
    temperature=0.5,
    top_p=0.9,
    max_output_tokens=64,
    reasoning_effort="low",
    tool_choice="required",
    parallel_tool_calls=False,
)
THOUGHT: Item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
CALL: Item = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "ring",
    "arguments": '{"n":1}',
}
TEXT: Item = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I ring.", "annotations": []}],
}


def sent(*messages: Message, model: str = "m", tools: tuple[ToolSpec, ...] = (), **asked: JsonValue) -> Item:
    request = ModelRequest(
        model=model, messages=messages, tools=tools, settings=GenerationSettings.model_validate(asked)
    )
    body: Item = json.loads(build().encode_request(request))
    return body


def decoded(*output: Item, **more: JsonValue) -> Reply:
    body: Item = {"id": "resp_1", "status": "completed", "output": list(output), **more}
    return build().decode_reply(WireResponse(200, {}, canonical_json(body).encode()))


def sent_back(*output: Item, **more: JsonValue) -> JsonValue:
    """The input items that follow when this output is answered."""
    reply = decoded(*output, **more)
    return sent(AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque))["input"]


def call(raw: str = '{"n":1}', id_: str = "call_1") -> ToolCall:
    return ToolCall(id=id_, name="ring", arguments_raw=raw, arguments={"n": 1})


def test_the_whole_request_is_compact_sorted_json_of_which_nothing_is_kept() -> None:
    request = ModelRequest(
        model="m",
        messages=(
            SystemMessage(text="rules"),
            UserMessage(text="Bücher?"),
            AssistantMessage(text="One moment.", calls=(call(),)),
            ToolMessage(call_id="call_1", name="ring", text=""),
        ),
        tools=(TOOL,),
    )
    assert build().encode_request(request).decode() == (
        '{"include":["reasoning.encrypted_content"],"input":[{"content":"rules","role":"system"},'
        '{"content":"Bücher?","role":"user"},{"content":"One moment.","role":"assistant"},'
        '{"arguments":"{\\"n\\":1}","call_id":"call_1","name":"ring","type":"function_call"},'
        '{"call_id":"call_1","output":"","type":"function_call_output"}],"model":"m","store":false,"stream":false,'
        '"tools":[{"description":"Rings.","name":"ring","parameters":{"properties":{"n":{"$ref":"#/x"}},'
        '"type":"object"},"strict":false,"type":"function"}]}'
    )


def test_settings_go_out_under_the_names_of_the_dialect() -> None:
    body = sent(UserMessage(text="go"), tools=(TOOL,), stream=True, **ALL.model_dump(exclude_none=True))
    assert {key: body[key] for key in body if key not in {"input", "model", "store", "include", "tools"}} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_output_tokens": 64,
        "reasoning": {"effort": "low"},
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "stream": True,
    }


def test_nothing_speaks_of_tools_where_there_are_none() -> None:
    body = sent(UserMessage(text="go"), **ALL.model_dump(exclude_none=True))
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(body)


@pytest.mark.parametrize("setting", [{"seed": 1}, {"thinking": "enabled"}])
def test_a_setting_that_the_dialect_does_not_have_is_refused(setting: dict[str, JsonValue]) -> None:
    with pytest.raises(UsageError, match="openai-responses knows no setting"):
        check_settings(resolve("openai-responses"), GenerationSettings.model_validate(setting))


@pytest.mark.parametrize(
    ("model", "asks"),
    [
        ("o3", True),
        ("gpt-5-mini", True),
        ("gpt-oss-20b", True),
        ("gpt-4.1", False),
        ("gpt-4o-mini", False),
        ("openai/gpt-4o", False),
        ("ft:gpt-4o:a", False),
        ("gpt-5-chat-latest", False),
        ("chatgpt-4o-latest", False),
    ],
)
def test_reasoning_is_asked_for_where_the_model_has_some(model: str, asks: bool) -> None:
    assert ("include" in sent(UserMessage(text="go"), model=model)) is asks


def test_a_request_goes_to_responses_with_a_bearer_token() -> None:
    request = ModelRequest(model="m", messages=(), tools=())
    assert build().path(request) == "/responses"
    assert build().headers("k-1")["authorization"] == "Bearer k-1"
    assert build().name == "openai-responses"


def test_all_items_go_back_in_order_with_ids_of_their_own() -> None:
    """As in a067."""
    reply = decoded(THOUGHT, TEXT, CALL)
    assert [one.id for one in reply.calls] == ["call_1"]
    body = sent(
        UserMessage(text="go"),
        AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque),
        ToolMessage(call_id="call_1", name="ring", text="rung"),
    )
    answer: Item = {"type": "function_call_output", "call_id": "call_1", "output": "rung"}
    assert body["input"] == [{"role": "user", "content": "go"}, THOUGHT, TEXT, CALL, answer]


def test_reasoning_that_cannot_be_read_back_is_left_out_with_the_ids_that_point_to_it() -> None:
    bare: Item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": None}
    found: Item = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
    no_id = {key: value for key, value in CALL.items() if key != "id"}
    assert sent_back(bare, found, CALL) == [found, no_id]


def test_reasoning_in_plain_text_goes_back() -> None:
    plain: Item = {"id": "x", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "a"}]}
    assert sent_back(plain, CALL) == [plain, CALL]


def test_reasoning_that_nothing_follows_does_not_go_back() -> None:
    cut: Item = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert sent_back(THOUGHT, **cut) == []
    assert sent_back(THOUGHT, TEXT, THOUGHT) == [THOUGHT, TEXT]


def test_what_is_refused_in_an_input_is_left_out() -> None:
    thought: Item = {
        "id": "rs_1",
        "type": "reasoning",
        "encrypted_content": "gAAA",
        "status": "completed",
        "content": None,
    }
    text: Item = {**TEXT, "id": "x", "phase": None, "content": [{"type": "output_text", "text": "a", "logprobs": None}]}
    assert sent_back(thought, text, {**CALL, "id": "call_1"}) == [
        {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {key: value for key, value in CALL.items() if key != "id"},
    ]


@pytest.mark.parametrize(
    ("arguments", "goes_out"),
    [
        ('{"n":  1}', '{"n":  1}'),
        ("", "{}"),
        ({"n": 1}, '{"n":1}'),
        ('{"n":', '{"malformed_arguments":"{\\"n\\":"}'),
    ],
    ids=["verbatim", "empty", "object", "damaged"],
)
def test_earlier_arguments_go_out_as_a_json_object(arguments: JsonValue, goes_out: str) -> None:
    assert sent_back({**CALL, "arguments": arguments}) == [{**CALL, "arguments": goes_out}]


def test_a_made_id_is_in_call_and_answer() -> None:
    reply = decoded({**CALL, "call_id": None})
    (made,) = (one.id for one in reply.calls)
    assert sent_back({**CALL, "call_id": None}) == [{**CALL, "call_id": made}]


def test_calls_that_were_not_kept_are_not_sent_and_others_are_added() -> None:
    opaque: JsonValue = {"output": [CALL, {**CALL, "id": "fc_2", "call_id": "call_2"}]}
    fewer = sent(AssistantMessage(text=None, calls=(call(),), opaque=opaque))["input"]
    assert fewer == [CALL]
    more = sent(AssistantMessage(text=None, calls=(call(), call(id_="b")), opaque={"output": [CALL]}))["input"]
    assert more == [CALL, {"type": "function_call", "call_id": "b", "name": "ring", "arguments": '{"n":1}'}]


@pytest.mark.parametrize(
    "opaque", [["of", "another"], {"role": "assistant", "content": "x"}, {"output": "x"}, {"output": ["x"]}, "x"]
)
def test_a_message_of_another_dialect_does_not_go_back(opaque: JsonValue) -> None:
    body = sent(AssistantMessage(text="mine", opaque=opaque))
    assert body["input"] == [{"role": "assistant", "content": "mine"}]


@pytest.mark.parametrize("id_", ["x" * 65, "é" * 200, " ", ""])
def test_an_id_that_is_refused_is_replaced_alike_in_call_and_answer(id_: str) -> None:
    items = sent(
        AssistantMessage(text=None, calls=(call(id_=id_), call(id_=f"{id_}y" * 3))),
        ToolMessage(call_id=id_, name="ring", text="a"),
    )["input"]
    assert isinstance(items, list)
    ids = [item["call_id"] for item in items if isinstance(item, dict)]
    assert ids[0] == ids[2] != ids[1]
    assert all(isinstance(one, str) and 0 < len(one.strip()) <= 64 for one in ids)


def test_what_failed_keeps_what_had_been_said_and_counted() -> None:
    error: JsonValue = {"code": "server_error", "message": "x"}
    with pytest.raises(ProviderError) as caught:
        decoded(TEXT, status="failed", error=error, usage={"input_tokens": 3, "output_tokens": 2})
    partial = caught.value.partial
    assert partial is not None
    assert (partial.text, partial.finish, partial.opaque) == ("I ring.", "error", None)
    assert partial.usage == Usage(input_tokens=3, output_tokens=2)
    assert caught.value.delivered


def test_what_failed_before_anything_was_said_delivered_nothing() -> None:
    with pytest.raises(ProviderError) as caught:
        decoded(status="failed", error={"code": "server_error", "message": "x"})
    assert (caught.value.partial, caught.value.delivered) == (None, False)


def test_an_answer_that_the_filter_took_back_is_finished_by_it() -> None:
    with pytest.raises(ProviderError) as caught:
        decoded(TEXT, status="failed", error={"code": "image_content_policy_violation", "message": "x"})
    assert caught.value.category == "content_filter"
    assert caught.value.partial is not None
    assert (caught.value.partial.text, caught.value.partial.finish) == ("I ring.", "content_filter")


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "Another."},
        {"refusal": "no", "finish": "stop"},
        {"reasoning": "because"},
        {"calls": (call(id_="other"),)},
        {"calls": (replace(call('{"n":2}'), arguments={"n": 2}),)},
        {"calls": (replace(call(), name="other"),)},
        {"calls": (call(), call(id_="call_2"))},
    ],
    ids=["text", "refusal", "reasoning", "id", "arguments", "name", "more"],
)
def test_a_field_that_was_changed_goes_over_what_must_be_sent_back(changed: dict[str, object]) -> None:
    reply = decoded(THOUGHT, TEXT, CALL).model_copy(update=changed)
    back = build().decode_reply(WireResponse(200, {}, build().encode_reply(reply)))
    shown = {"text", "refusal", "reasoning", "calls"}
    assert back.model_dump(include=shown) == reply.model_dump(include=shown)


def test_reasoning_that_was_changed_stands_once() -> None:
    summary: JsonValue = [{"type": "summary_text", "text": "a"}]
    two = decoded({**THOUGHT, "summary": summary}, {**THOUGHT, "summary": summary}, TEXT)
    back = build().decode_reply(
        WireResponse(200, {}, build().encode_reply(two.model_copy(update={"reasoning": "because"})))
    )
    assert (two.reasoning, back.reasoning) == ("aa", "because")


def test_a_call_that_was_taken_out_is_in_no_item() -> None:
    reply = decoded(CALL, {**CALL, "call_id": "call_2"})
    one = reply.model_copy(update={"calls": reply.calls[:1]})
    assert build().decode_reply(WireResponse(200, {}, build().encode_reply(one))).calls == one.calls


def test_a_reply_that_was_cut_decodes_as_cut() -> None:
    cut = decoded(TEXT, CALL).truncated()
    back = build().decode_reply(WireResponse(200, {}, build().encode_reply(cut)))
    assert (back.text, back.finish, back.calls[0].fault) == ("I r", "length", "truncated")


#: Lone surrogates included: JSON can carry them as escapes.
texts = st.text(st.characters(exclude_categories=()), max_size=8)
leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
states = st.sampled_from(["completed", "incomplete", "in_progress", "failed", "queued", "odd"])
parts = (
    st.fixed_dictionaries(
        {"type": st.sampled_from(["output_text", "text", "refusal", "reasoning_text", "summary_text"])},
        optional={"text": texts | leaves, "refusal": texts | leaves, "logprobs": values},
    )
    | values
)
items = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "function_call", "reasoning", "web_search_call"]) | leaves},
    optional={
        "id": st.sampled_from(["msg_1", "fc_1", "rs_1", ""]) | leaves,
        "status": states | leaves,
        "content": st.lists(parts, max_size=3) | texts | leaves,
        "summary": st.lists(parts, max_size=2) | leaves,
        "call_id": st.sampled_from(["call_1", "call_2", " ", "made-0123456789abcdef-1"]) | leaves,
        "name": texts | leaves,
        "arguments": st.sampled_from(["", '{"a":1}', '{"a":', '"{}"', "[1]", '{"a":"x\ty"}']) | values,
        "encrypted_content": texts | leaves,
    },
)
counts = st.integers(0, 1000) | leaves
usages = st.fixed_dictionaries(
    {},
    optional={
        "input_tokens": counts,
        "output_tokens": counts,
        "input_tokens_details": st.fixed_dictionaries({}, optional={"cached_tokens": counts}) | leaves,
        "output_tokens_details": st.fixed_dictionaries({}, optional={"reasoning_tokens": counts}) | leaves,
    },
)
reasons = st.sampled_from(["max_output_tokens", "content_filter", "completed", "incomplete", "failed", "odd"])
bodies = st.fixed_dictionaries(
    {"output": st.lists(items, max_size=4)},
    optional={
        "id": texts | st.just("made-fedcba9876543210"),
        "status": states | st.just("max_output_tokens") | leaves,
        "incomplete_details": st.fixed_dictionaries({"reason": reasons | leaves}) | leaves,
        "model": leaves,
        "usage": usages | leaves,
    },
)


def reply_in(body: bytes, status: int = 200) -> Reply | None:
    """The reply, None for a named failure; any other exception fails the test."""
    try:
        return build().decode_reply(WireResponse(status, {}, body))
    except ProviderError:
        return None


@given(st.binary(max_size=64), st.integers(100, 599))
@example(b'{"output":[{"type":"message","content":NaN}]}', 200)
@example(b"[" * 100_000, 200)
def test_any_bytes_are_a_named_failure(body: bytes, status: int) -> None:
    assert reply_in(body, status) is None


@given(values)
def test_any_json_is_a_reply_or_a_named_failure(body: JsonValue) -> None:
    reply_in(json.dumps(body).encode())


@settings(max_examples=400)
@given(bodies)
def test_what_was_decoded_comes_back_after_encoding_whole_and_streamed(body: JsonValue) -> None:
    reply = reply_in(json.dumps(body).encode())
    if reply is None:
        return
    assert reply_in(build().encode_reply(reply)) == reply
    streamed = b"".join(build().encode_stream(reply))
    assert build().decode_stream(WireResponse(200, {}, streamed)) == reply
    assert build().decode_stream(WireResponse(200, {}, build().coalesce(streamed))) == reply


@settings(max_examples=200)
@given(bodies)
def test_every_decoded_reply_can_go_back_into_a_history(body: JsonValue) -> None:
    reply = reply_in(json.dumps(body).encode())
    if reply is None:
        return
    items = sent(AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque))["input"]
    assert isinstance(items, list)
    calls = [item for item in items if isinstance(item, dict) and item.get("type") == "function_call"]
    assert len(calls) == len(reply.calls)
    for item, one in zip(calls, reply.calls, strict=True):
        assert item["call_id"] == one.id or len(one.id) > 64
        assert isinstance(json.loads(str(item["arguments"])), dict)
        assert str(item.get("id", "fc_")).startswith("fc")
    assert not items or not isinstance(items[-1], dict) or items[-1].get("type") != "reasoning"
