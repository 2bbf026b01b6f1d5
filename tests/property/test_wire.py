"""Chat completions: no body makes the codec fail in its own way, and what was decoded survives the way back."""

from __future__ import annotations

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers.openai import build
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import AssistantMessage, ModelRequest, Quirk, Reply, Usage, UserMessage
from harness.schema.tool import ToolCall

CODEC = build()

#: Lone surrogates included: JSON can carry them as escapes.
texts = st.text(st.characters(exclude_categories=()), max_size=12)
leaves = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(texts, json_values, max_size=3)
argument_texts = (
    objects.map(canonical_json)
    | objects.map(lambda value: json.dumps(canonical_json(value)))
    | texts
    | st.sampled_from(["", " ", "null", "[1]", '"a"', '{"a":"x\ty"}', '{"a":', "{}{}"])
)
functions = st.fixed_dictionaries(
    {}, optional={"name": texts | leaves, "arguments": argument_texts | json_values, "extra": json_values}
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["call-1", "call-2", "", "  ", "made-0123456789abcdef-1"]) | leaves,
        "type": st.just("function") | leaves,
        "function": functions,
        "index": leaves,
        "extra_content": json_values,
        "name": texts,
        "arguments": argument_texts,
    },
)
parts = (
    st.fixed_dictionaries({"type": st.just("text"), "text": texts})
    | st.fixed_dictionaries({"type": st.just("thinking"), "thinking": texts | st.lists(objects, max_size=2)})
    | st.fixed_dictionaries({"type": st.just("refusal"), "refusal": texts})
    | json_values
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant") | leaves,
        "content": texts | st.lists(parts, max_size=3) | st.just("<tool_call>") | st.none(),
        "tool_calls": st.lists(entries, max_size=3) | st.none(),
        "function_call": functions | leaves,
        "refusal": texts | json_values,
        "reasoning_content": texts | json_values,
        "reasoning": texts | json_values,
        "vendor": json_values,
    },
)
words = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "function_call", "network_error", "odd"])
choices = st.fixed_dictionaries({"message": messages}, optional={"finish_reason": words | words | leaves})
counts = st.integers(0, 1000) | leaves
usages = st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": counts,
        "completion_tokens": counts,
        "total_tokens": counts,
        "prompt_tokens_details": st.fixed_dictionaries({}, optional={"cached_tokens": counts}) | leaves,
        "completion_tokens_details": st.fixed_dictionaries({}, optional={"reasoning_tokens": counts}) | leaves,
    },
)
bodies = st.fixed_dictionaries(
    {"choices": st.lists(choices, min_size=1, max_size=1) | st.lists(choices, min_size=1, max_size=2)},
    optional={
        "id": texts | st.just("made-fedcba9876543210"),
        "model": leaves,
        "usage": usages | leaves,
        "system_fingerprint": leaves,
    },
)


def _decoded(body: bytes, status: int = 200) -> Reply | None:
    """The reply, None for a named failure; any other exception fails the test."""
    try:
        return CODEC.decode_reply(WireResponse(status, {}, body))
    except ProviderError:
        return None


def _json_bytes(value: JsonValue) -> bytes:
    return json.dumps(value).encode()


@given(st.binary(max_size=64), st.integers(100, 599))
@example(b"", 200)
@example(b"\xff\xfe{", 200)
@example(b'{"choices":[{"message":{"content":NaN}}]}', 200)
@example(b'{"choices":[{"message":{"content":"a","x":1e999}}]}', 200)
@example(b"[" * 100_000, 200)
@example(b'{"error":' + b"[" * 300 + b"]" * 300 + b"}", 500)
@example(b'{"n":' + b"1" * 5000 + b"}", 429)
def test_any_bytes_are_a_reply_or_a_named_failure(body: bytes, status: int) -> None:
    reply = _decoded(body, status)
    assert reply is None


@given(json_values, st.integers(100, 599))
def test_any_json_is_a_reply_or_a_named_failure(body: JsonValue, status: int) -> None:
    assert _decoded(_json_bytes(body), status) is None


@settings(max_examples=400)
@given(bodies)
def test_what_was_decoded_comes_back_after_encoding(body: JsonValue) -> None:
    reply = _decoded(_json_bytes(body))
    if reply is not None:
        assert _decoded(CODEC.encode_reply(reply)) == reply


@settings(max_examples=200)
@given(bodies)
def test_every_decoded_call_can_go_back_into_a_history(body: JsonValue) -> None:
    reply = _decoded(_json_bytes(body))
    if reply is None:
        return
    history = (UserMessage(text="go"), AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque))
    sent = json.loads(CODEC.encode_request(ModelRequest(model="m", messages=history, tools=())))["messages"][1]
    assert sent["role"] == "assistant"
    assert [entry["id"] for entry in sent.get("tool_calls", [])] == [call.id for call in reply.calls]
    assert all(isinstance(json.loads(e["function"]["arguments"]), dict) for e in sent.get("tool_calls", []))
    assert all(call.id for call in reply.calls)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """Replies as a decoder gives them for well-formed bodies."""
    ids = draw(st.lists(st.from_regex(r"call_[a-z]{6}", fullmatch=True), max_size=3, unique=True))
    calls = []
    for id_ in ids:
        arguments = draw(st.dictionaries(texts, json_values, min_size=1, max_size=2))
        calls.append(ToolCall(id=id_, name=draw(texts), arguments_raw=canonical_json(arguments), arguments=arguments))
    into, out = draw(st.integers(0, 999)), draw(st.integers(0, 999))
    usage = Usage(input_tokens=into, output_tokens=out, cache_read_tokens=draw(st.none() | st.integers(0, into)))
    return Reply(
        text=draw(st.none() | st.text(st.characters(exclude_characters="<[{`f"), max_size=20)),
        calls=tuple(calls),
        finish="tool_calls" if calls else "stop",
        finish_word="tool_calls" if calls else "stop",
        usage=draw(st.sampled_from([None, usage])),
        model=draw(st.none() | st.text(min_size=1, max_size=9)),
        fingerprint=draw(st.none() | st.text(min_size=1, max_size=9)),
    )


@given(replies())
def test_a_reply_encodes_to_a_body_that_decodes_to_it(reply: Reply) -> None:
    assert _decoded(CODEC.encode_reply(reply)) == reply


@given(argument_texts)
def test_damaged_arguments_never_become_an_empty_object(sent: str) -> None:
    body = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "t", "arguments": sent}}]}}]}
    reply = _decoded(_json_bytes(json.loads(json.dumps(body))))
    assert reply is not None
    call = reply.calls[0]
    empty: Quirk = "empty_arguments"
    assert call.arguments_raw == sent
    assert (call.arguments is None) == (call.fault == "malformed_arguments")
    if call.arguments == {}:
        assert empty in reply.quirks or json.loads(sent) in ({}, "{}")
