"""The request of chat completions."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from harness.config import resolve
from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers.openai import build
from harness.schema.base import JsonValue
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    ModelRequest,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from harness.schema.tool import ToolCall, ToolSpec

TOOL = ToolSpec(
    name="count_books",
    description="Counts.",
    parameters={"type": "object", "properties": {"shelf": {"type": "integer"}}},
)
ALL = GenerationSettings(
    temperature=0.5,
    top_p=0.9,
    max_output_tokens=64,
    reasoning_effort="low",
    thinking="disabled",
    seed=7,
    tool_choice="required",
    parallel_tool_calls=False,
)


def sent(request: ModelRequest, provider: str = "openai") -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = json.loads(build(resolve(provider)).encode_request(request))
    return body


def asking(
    *messages: SystemMessage | UserMessage | AssistantMessage | ToolMessage,
    settings: GenerationSettings | None = None,
    tools: tuple[ToolSpec, ...] = (),
) -> ModelRequest:
    return ModelRequest(model="model-a", messages=messages, tools=tools, settings=settings or GenerationSettings())


def call(raw: str, arguments: dict[str, JsonValue] | None) -> ToolCall:
    return ToolCall(
        id="c1",
        name="count_books",
        arguments_raw=raw,
        arguments=arguments,
        fault=None if arguments is not None else "malformed_arguments",
    )


def test_the_whole_request_is_compact_sorted_json() -> None:
    request = asking(
        SystemMessage(text="rules"),
        UserMessage(text="Bücher?"),
        AssistantMessage(text=None, calls=(call('{"shelf": 4}', {"shelf": 4}),)),
        ToolMessage(call_id="c1", name="count_books", text="12"),
        tools=(TOOL,),
    )
    assert build().encode_request(request).decode("utf-8") == (
        '{"messages":[{"content":"rules","role":"system"},{"content":"Bücher?","role":"user"},'
        '{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\\"shelf\\": 4}",'
        '"name":"count_books"},"id":"c1","type":"function"}]},'
        '{"content":"12","role":"tool","tool_call_id":"c1"}],"model":"model-a","stream":false,'
        '"tools":[{"function":{"description":"Counts.","name":"count_books","parameters":'
        '{"properties":{"shelf":{"type":"integer"}},"type":"object"}},"type":"function"}]}'
    )


@pytest.mark.parametrize(
    ("provider", "tokens"),
    [("openai", "max_completion_tokens"), ("ark", "max_tokens"), ("openai-compatible", "max_tokens")],
)
def test_settings_go_out_under_the_names_of_the_provider(provider: str, tokens: str) -> None:
    body = sent(asking(UserMessage(text="go"), settings=ALL, tools=(TOOL,)), provider)
    assert {key: body[key] for key in body if key not in {"messages", "model", "stream", "tools"}} == {
        "temperature": 0.5,
        "top_p": 0.9,
        tokens: 64,
        "reasoning_effort": "low",
        "thinking": {"type": "disabled"},
        "seed": 7,
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }


def test_settings_that_are_not_given_are_not_sent() -> None:
    assert set(sent(asking(UserMessage(text="go"), tools=(TOOL,)))) == {"messages", "model", "stream", "tools"}


def test_nothing_speaks_of_tools_where_there_are_none() -> None:
    body = sent(asking(UserMessage(text="go"), settings=ALL))
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(body)


def test_a_message_of_the_provider_goes_back_as_it_came() -> None:
    opaque: JsonValue = {"role": "assistant", "content": None, "reasoning_content": "", "vendor": {"sig": [1]}}
    body = sent(asking(AssistantMessage(text="other", opaque=opaque)))
    assert body["messages"] == [opaque]


@pytest.mark.parametrize("opaque", [["of", "another", "dialect"], {"role": "model"}, "text"])
def test_a_message_of_another_dialect_does_not_go_back(opaque: JsonValue) -> None:
    body = sent(asking(AssistantMessage(text="mine", opaque=opaque)))
    assert body["messages"] == [{"role": "assistant", "content": "mine"}]


@pytest.mark.parametrize(
    ("raw", "arguments", "goes_out"),
    [
        ('{"shelf":  4}', {"shelf": 4}, '{"shelf":  4}'),
        ("", {}, "{}"),
        ('"{\\"shelf\\":4}"', {"shelf": 4}, '{"shelf":4}'),
        ('{"t":"a\nb"}', {"t": "a\nb"}, '{"t":"a\\nb"}'),
        ('{"shelf":', None, '{"malformed_arguments":"{\\"shelf\\":"}'),
    ],
    ids=["verbatim", "empty", "twice", "control", "damaged"],
)
def test_earlier_arguments_go_out_as_a_json_object(
    raw: str, arguments: dict[str, JsonValue] | None, goes_out: str
) -> None:
    body = sent(asking(AssistantMessage(text=None, calls=(call(raw, arguments),))))
    assert body["messages"] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "count_books", "arguments": goes_out}}
            ],
        }
    ]


def test_a_lone_surrogate_goes_out_as_an_escape() -> None:
    assert b'"a\\ud83d"' in build().encode_request(asking(UserMessage(text="a\ud83d")))


def test_the_name_is_that_of_the_preset() -> None:
    assert [build(resolve(name)).name for name in ("openai", "ark", "openai-compatible")] == [
        "openai",
        "ark",
        "openai-compatible",
    ]


def test_the_key_is_a_bearer_token() -> None:
    assert build().headers("k-1")["authorization"] == "Bearer k-1"


def test_a_date_to_wait_for_counts_from_the_given_time() -> None:
    response = WireResponse(429, {"retry-after": "Tue, 03 Mar 2026 10:00:30 GMT"}, b"")
    with pytest.raises(ProviderError) as caught:
        build().decode_reply(response, now=datetime(2026, 3, 3, 10, 0, 10, tzinfo=UTC))
    assert caught.value.retry_after_s == 20.0


def test_a_message_nested_too_deeply_is_a_bad_response() -> None:
    body = b'{"choices":[{"message":{"content":"a","vendor":' + b"[" * 300 + b"]" * 300 + b"}}]}"
    with pytest.raises(ProviderError, match="bad_response"):
        build().decode_reply(WireResponse(200, {}, body))


def test_ids_that_were_made_differ_between_two_bodies_and_not_between_two_readings() -> None:
    def made(number: int) -> str:
        body = {"id": f"cc-{number}", "choices": [{"message": {"tool_calls": [{"function": {"name": "a"}}]}}]}
        return build().decode_reply(WireResponse(200, {}, json.dumps(body).encode())).calls[0].id

    assert made(1) == made(1)
    assert made(1) != made(2)


def body_with_calls(count: int) -> bytes:
    function: JsonValue = {"name": "f", "arguments": "{}"}
    calls: list[JsonValue] = [{"id": f"c{number}", "type": "function", "function": function} for number in range(count)]
    message: JsonValue = {"role": "assistant", "content": None, "tool_calls": calls}
    return json.dumps({"choices": [{"finish_reason": "tool_calls", "message": message}]}).encode()


def test_many_calls_are_decoded_in_time_that_grows_with_their_number() -> None:
    codec = build(resolve("openai"))

    def spent(count: int) -> float:
        response = WireResponse(200, {}, body_with_calls(count))
        begun = time.process_time()
        assert len(codec.decode_reply(response).calls) == count
        return time.process_time() - begun

    few = min(spent(1_000) for _ in range(3))
    assert spent(16_000) < 16 * few * 6
