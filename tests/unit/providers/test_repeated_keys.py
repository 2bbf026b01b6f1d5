"""A key that stands twice: in the arguments of a call nobody knows what was meant, elsewhere it is told."""

from __future__ import annotations

import json

import pytest

from harness import catalog
from harness.ports import Provider, WireResponse
from harness.providers._wire.strict_json import Repeating, read_json, spelled
from harness.recording import Dress, body_bytes
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, ModelRequest, Reply, UserMessage

TWICE = '{"cmd":"ls","cmd":"rm"}'
DEEP = '{"a":[{"b":1,"b":1}]}'

#: Dialect -> an answer; ARGS stands for arguments as a value, TEXT for the same as a text, ODD for another key.
WHOLE = {
    "openai": (
        '{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"A",ODD"tool_calls":[{"id":"x",'
        '"type":"function","function":{"name":"run","arguments":TEXT}}]},"finish_reason":"tool_calls"}]}'
    ),
    "openai_responses": (
        '{"id":"r","object":"response","status":"completed","output":[{"type":"message","role":"assistant",ODD'
        '"content":[{"type":"output_text","text":"A"}]},'
        '{"type":"function_call","call_id":"x","name":"run","arguments":TEXT}]}'
    ),
    "anthropic": (
        '{"id":"m","type":"message","role":"assistant","content":[{"type":"text",ODD"text":"A"},'
        '{"type":"tool_use","id":"x","name":"run","input":ARGS}],"stop_reason":"tool_use"}'
    ),
    "gemini": (
        '{"responseId":"g","candidates":[{"index":0,"content":{"role":"model","parts":[{ODD"text":"A"},'
        '{"functionCall":{"id":"x","name":"run","args":ARGS}}]},"finishReason":"STOP"}]}'
    ),
}
STREAMED = {
    "openai": (
        '{"id":"c","choices":[{"index":0,"delta":{"role":"assistant",ODD"content":"A"}}]}',
        '{"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"run","arguments":TEXT}}]}}]}',
        '{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
        "[DONE]",
    ),
    "openai_responses": (
        '{"type":"response.output_item.added","output_index":0,ODD"item":{"type":"message","content":[]}}',
        '{"type":"response.output_text.delta","output_index":0,"content_index":0,ODD"delta":"A"}',
        f'{{"type":"response.completed","response":{WHOLE["openai_responses"].replace("ODD", "")}}}',
    ),
    "anthropic": (
        '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[]}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta",ODD"text":"A"}}',
        '{"type":"content_block_stop","index":0}',
        '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x","name":"run","input":{}}}',
        '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":TEXT}}',
        '{"type":"content_block_stop","index":1}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
        '{"type":"message_stop"}',
    ),
    "gemini": (WHOLE["gemini"],),
}
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
EVERY = pytest.mark.parametrize("name", WHOLE)


def codec(name: str) -> Provider:
    made: Provider = catalog.module("providers", name).build()
    return made


def sent(name: str, arguments: str, odd: str = "", *, stream: bool) -> bytes:
    def filled(text: str) -> str:
        return text.replace("TEXT", json.dumps(arguments)).replace("ARGS", arguments).replace("ODD", odd)

    if not stream:
        return filled(WHOLE[name]).encode()
    return b"".join(f"data: {filled(event)}\n\n".encode() for event in STREAMED[name])


def read(name: str, body: bytes, *, stream: bool) -> Reply:
    response = WireResponse(200, {}, body)
    return codec(name).decode_stream(response) if stream else codec(name).decode_reply(response)


def echo(body: JsonValue) -> JsonValue:
    """The arguments of the one call in a request."""
    if isinstance(body, list):
        return next((found for one in body if (found := echo(one)) is not None), None)
    if not isinstance(body, dict):
        return None
    here = (body[key] for key in ("arguments", "input", "args") if key in body and "name" in body)
    return next(here, None) or echo(list(body.values()))


@EVERY
@BOTH
@pytest.mark.parametrize("arguments", [TWICE, DEEP])
def test_arguments_with_a_key_twice_are_malformed_and_kept_as_they_came(
    name: str, arguments: str, *, stream: bool
) -> None:
    reply = read(name, sent(name, arguments, stream=stream), stream=stream)
    (call,) = reply.calls
    assert (call.fault, call.arguments, call.arguments_raw) == ("malformed_arguments", None, arguments)
    assert (reply.text, reply.finish, reply.quirks) == ("A", "tool_calls", ("repeated_keys",))
    again = AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque)
    asked = ModelRequest(model="m", messages=(UserMessage(text="go"), again), tools=())
    echoed = echo(json.loads(codec(name).encode_request(asked)))
    assert (json.loads(echoed) if isinstance(echoed, str) else echoed) == {"malformed_arguments": arguments}


@EVERY
@BOTH
def test_a_key_that_is_there_twice_elsewhere_is_reported_and_the_last_one_counts(name: str, *, stream: bool) -> None:
    reply = read(name, sent(name, '{"cmd":"ls"}', '"odd":1,"odd":2,', stream=stream), stream=stream)
    assert (reply.text, reply.calls[0].arguments, reply.quirks) == ("A", {"cmd": "ls"}, ("repeated_keys",))
    assert read(name, sent(name, '{"cmd":"ls"}', '"odd":2,', stream=stream), stream=stream).quirks == ()


@EVERY
@BOTH
@pytest.mark.parametrize("odd", ["", '"odd":1,"odd":2,'])
def test_what_was_recorded_is_read_as_it_was_live(name: str, odd: str, *, stream: bool) -> None:
    body = sent(name, TWICE, odd, stream=stream)
    kept = Dress().response(200, {}, codec(name).coalesce(body) if stream else body)
    assert read(name, body_bytes(kept), stream=stream) == read(name, body, stream=stream)


@EVERY
@BOTH
def test_a_reply_with_such_arguments_is_written_so_that_it_is_read_again(name: str, *, stream: bool) -> None:
    reply = read(name, sent(name, TWICE, stream=stream), stream=stream)
    written = b"".join(codec(name).encode_stream(reply)) if stream else codec(name).encode_reply(reply)
    again = read(name, written, stream=stream)
    assert (again.calls, again.quirks) == (reply.calls, reply.quirks)


@pytest.mark.parametrize("text", [TWICE, DEEP, '[{"a":1,"a":{"b":[]}}]', '{"é":"x","é":null,"b":{"c":1.5}}'])
def test_an_object_with_a_key_twice_can_be_spelled_as_it_was(text: str) -> None:
    value = read_json(text)
    assert spelled(value) == text
    assert isinstance(value[0] if isinstance(value, list) else value, Repeating)


def test_an_object_without_is_a_plain_one() -> None:
    value: JsonValue = read_json('{"a":{"b":[{}]}}')
    assert (type(value), value) == (dict, {"a": {"b": [{}]}})
