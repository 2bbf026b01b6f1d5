"""The request of ``generateContent``, and whole answers; their samples are in ``tests/data/wire/gemini``."""

from __future__ import annotations

import json

import pytest
from conversing import asks, call, told
from hypothesis import given
from hypothesis import strategies as st

from harness.config import check_settings, resolve
from harness.errors import ProviderError, UsageError
from harness.ports import WireResponse
from harness.providers.gemini import build
from harness.schema.base import JsonValue
from harness.schema.limits import COUNT_MAX
from harness.schema.message import (
    GenerationSettings,
    Message,
    ModelRequest,
    Reply,
    SystemMessage,
    UserMessage,
)
from harness.schema.tool import ToolCall, ToolSpec

Sent = dict[str, JsonValue]
TOOL = ToolSpec(name="ring", description="Rings.", parameters={"type": "object", "properties": {}})
GO = UserMessage(text="go")
ASKED: Sent = {"role": "user", "parts": [{"text": "go"}]}


def request(
    *messages: Message, model: str = "model-a", tools: tuple[ToolSpec, ...] = (), **more: object
) -> ModelRequest:
    return ModelRequest(model=model, messages=messages, tools=tools, settings=GenerationSettings.model_validate(more))


def sent(*messages: Message, model: str = "model-a", tools: tuple[ToolSpec, ...] = (), **more: object) -> Sent:
    body: Sent = json.loads(build().encode_request(request(*messages, model=model, tools=tools, **more)))
    return body


def contents(*messages: Message) -> list[JsonValue]:
    found = sent(*messages)["contents"]
    assert isinstance(found, list)
    return found


def use(id_: str | None = None, **given: JsonValue) -> Sent:
    named: Sent = {"name": "ring", "args": given}
    return {"functionCall": named if id_ is None else {**named, "id": id_}}


def result(id_: str | None = None, **response: JsonValue) -> Sent:
    named: Sent = {"name": "ring", "response": response}
    return {"functionResponse": named if id_ is None else {**named, "id": id_}}


def model(*parts: Sent) -> Sent:
    return {"role": "model", "parts": [*parts]}


def user(*parts: Sent) -> Sent:
    return {"role": "user", "parts": [*parts]}


def decode(body: JsonValue) -> Reply:
    return build().decode_reply(WireResponse(200, {}, json.dumps(body).encode()))


def answer(*parts: Sent, word: str = "STOP") -> Reply:
    return decode({"candidates": [{"content": model(*parts), "finishReason": word}]})


def test_the_whole_request_is_compact_sorted_json() -> None:
    asked = request(SystemMessage(text="rules"), GO, tools=(TOOL,), tool_choice="required", temperature=0.5)
    assert build().encode_request(asked).decode() == (
        '{"contents":[{"parts":[{"text":"go"}],"role":"user"}],"generationConfig":{"temperature":0.5},'
        '"systemInstruction":{"parts":[{"text":"rules"}]},'
        '"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"tools":[{"functionDeclarations":[{"description":"Rings.",'
        '"name":"ring","parametersJsonSchema":{"properties":{},"type":"object"}}]}]}'
    )


@pytest.mark.parametrize(
    ("name", "stream", "path"),
    [
        ("model-a", None, "/v1beta/models/model-a:generateContent"),
        ("model-a", True, "/v1beta/models/model-a:streamGenerateContent?alt=sse"),
        ("tunedModels/mine", False, "/v1beta/tunedModels/mine:generateContent"),
        ("a b?c", None, "/v1beta/models/a%20b%3Fc:generateContent"),
    ],
)
def test_the_model_and_whether_to_stream_stand_in_the_path(name: str, path: str, *, stream: bool | None) -> None:
    assert build().path(request(GO, model=name, stream=stream)) == path


def test_the_key_has_a_header_of_its_own() -> None:
    assert build().headers("k")["x-goog-api-key"] == "k"
    assert build().name == "gemini"


@pytest.mark.parametrize(
    ("name", "settings", "goes_out"),
    [
        (
            "model-a",
            {"max_output_tokens": 9, "temperature": 0.5, "top_p": 0.9, "seed": 1},
            {"maxOutputTokens": 9, "temperature": 0.5, "topP": 0.9, "seed": 1},
        ),
        ("gemini-3-pro", {"reasoning_effort": "low"}, {"thinkingConfig": {"thinkingLevel": "low"}}),
        ("gemini-2.5-pro", {"reasoning_effort": "low"}, {"thinkingConfig": {"thinkingBudget": 1024}}),
        ("models/gemini-2.5-pro", {"reasoning_effort": "high"}, {"thinkingConfig": {"thinkingBudget": 24576}}),
        ("gemini-3-pro", {"reasoning_effort": "none"}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ("gemini-3-pro", {"thinking": "disabled"}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ("gemini-3-pro", {"thinking": "auto"}, {"thinkingConfig": {"includeThoughts": True}}),
        (
            "gemini-2.5-flash",
            {"thinking": "enabled"},
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1}},
        ),
        (
            "gemini-20-pro",
            {"thinking": "enabled", "reasoning_effort": "medium"},
            {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "medium"}},
        ),
    ],
)
def test_settings_go_out_in_the_words_of_the_api(name: str, settings: dict[str, object], goes_out: Sent) -> None:
    asked = ModelRequest(model=name, messages=(GO,), tools=(), settings=GenerationSettings.model_validate(settings))
    assert json.loads(build().encode_request(asked)) == {"contents": [ASKED], "generationConfig": goes_out}


@pytest.mark.parametrize(("choice", "mode"), [("auto", "AUTO"), ("required", "ANY"), ("none", "NONE")])
def test_how_tools_are_chosen_is_a_mode_where_there_are_tools(choice: str, mode: str) -> None:
    config = sent(GO, tools=(TOOL,), tool_choice=choice)["toolConfig"]
    assert config == {"functionCallingConfig": {"mode": mode}}
    assert "toolConfig" not in sent(GO, tool_choice=choice)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"parallel_tool_calls": False}, "parallel_tool_calls"),
        ({"reasoning_effort": "none", "thinking": "auto"}, "leave one of thinking and reasoning_effort out"),
        ({"reasoning_effort": "low", "thinking": "disabled"}, "leave one of the two out"),
    ],
)
def test_settings_that_the_api_has_not_are_refused_before(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_settings(resolve("gemini"), GenerationSettings.model_validate(settings))


@pytest.mark.parametrize("settings", [{}, {"seed": 1}, {"thinking": "disabled", "reasoning_effort": "none"}])
def test_settings_that_the_api_has_are_taken(settings: dict[str, object]) -> None:
    check_settings(resolve("gemini"), GenerationSettings.model_validate(settings))


def test_a_schema_goes_out_as_it_is() -> None:
    parameters: Sent = {
        "$schema": "x",
        "additionalProperties": False,
        "properties": {"a": {"type": ["string", "null"]}},
    }
    body = sent(GO, tools=(ToolSpec(name="ring", description=" ", parameters=parameters),))
    schema = {"type": "object", "additionalProperties": False, "properties": {"a": {"type": ["string", "null"]}}}
    assert body["tools"] == [{"functionDeclarations": [{"name": "ring", "parametersJsonSchema": schema}]}]


def test_ids_that_were_given_go_back_in_call_order() -> None:
    """The kind of a017."""
    reply = answer(use("fc-1"), use("fc-2"))
    assert (reply.finish, reply.quirks) == ("tool_calls", ())
    answered = asks(*reply.calls, text=reply.text, opaque=reply.opaque)
    found = contents(GO, answered, told("fc-2", "2"), told("fc-1", "1", failed=True))
    assert found == [
        ASKED,
        model(use("fc-1"), use("fc-2")),
        user(result("fc-1", error="1"), result("fc-2", output="2")),
    ]


def test_ids_that_were_not_given_are_made_for_us_and_never_go_out() -> None:
    reply = answer(use(), use())
    first, second = (one.id for one in reply.calls)
    assert first != second
    assert (first.startswith("made-"), reply.quirks) == (True, ())
    assert answer(use(), use()) == reply
    found = contents(GO, asks(*reply.calls, opaque=reply.opaque), told(second, "2"), told(first, ""))
    assert found[1:] == [model(use(), use()), user(result(output=""), result(output="2"))]
    assert decode(json.loads(build().encode_reply(reply))) == reply


def test_an_id_that_we_made_goes_out_to_nobody() -> None:
    made = "made-0123456789abcdef-1"
    assert contents(GO, asks(call(made)), told(made, "1"))[1:] == [model(use()), user(result(output="1"))]
    reply = answer(use())
    assert (reply.opaque, decode(json.loads(build().encode_reply(reply)))) == (None, reply)


def test_a_signature_goes_back_on_its_part() -> None:
    """The kind of a039."""
    parts: list[Sent] = [
        {"text": "Which?", "thought": True},
        {**use(n=1), "thoughtSignature": "c2ln"},
        use(n=2),
        {"text": "", "thoughtSignature": "c2lo"},
        {"executableCode": {"code": "1"}},
    ]
    reply = answer(*parts)
    assert (reply.text, reply.reasoning) == ("", "Which?")
    assert contents(GO, asks(*reply.calls, text="", opaque=reply.opaque))[1] == model(*parts)


def test_what_would_be_refused_is_left_out_of_what_goes_back() -> None:
    opaque = model({"text": ""}, {"text": "", "thought": True}, {"text": "a", "thought": None}, {"functionCall": None})
    assert contents(GO, asks(text="a", opaque=opaque))[1] == model({"text": "a"})


@pytest.mark.parametrize("text", [None, ""])
def test_an_empty_answer_is_not_sent_back(text: str | None) -> None:
    """The kind of a091."""
    assert contents(GO, asks(text=text), UserMessage(text="on")) == [user({"text": "go"}, {"text": "on"})]


def test_words_beside_results_are_a_content_of_their_own() -> None:
    found = contents(GO, asks(call("a")), UserMessage(text="quick"), told("a", "1"), told("gone", "late"))
    assert found[2:] == [user(result("a", output="1")), user({"text": "quick"}, {"text": "late"})]


def test_a_call_without_a_result_is_answered() -> None:
    assert contents(GO, asks(call("a")), asks(text="b"))[2:] == [
        user(result("a", error="(no result)")),
        model({"text": "b"}),
    ]


def test_one_id_twice_in_a_turn_is_answered_in_order() -> None:
    found = contents(GO, asks(call("a"), call("a")), told("a", "1"), told("a", "2"))
    assert found[-1] == user(result("a", output="1"), result("a", output="2"))


def test_two_answers_in_a_row_are_one_content() -> None:
    assert contents(GO, asks(text="a"), asks(text="b"))[1:] == [model({"text": "a"}, {"text": "b"})]


def test_a_conversation_begins_with_a_user_and_holds_no_blank_text() -> None:
    stand_in = user({"text": "(no text)"})
    assert contents(UserMessage(text=" ")) == [stand_in]
    assert contents(asks(text="a")) == [stand_in, model({"text": "a"})]
    assert contents(GO, asks(text="a"), UserMessage(text=""))[-1] == stand_in


def test_rules_stand_apart_and_later_ones_in_their_place() -> None:
    body = sent(
        SystemMessage(text="one"), SystemMessage(text=""), SystemMessage(text="two"), GO, SystemMessage(text="c")
    )
    assert body["systemInstruction"] == {"parts": [{"text": "one\n\ntwo"}]}
    assert body["contents"] == [user({"text": "go"}, {"text": "c"})]


@pytest.mark.parametrize(
    "opaque",
    [
        {"role": "model", "parts": "x"},
        {"role": "model", "parts": []},
        {"role": "model", "parts": [{"text": 1}]},
        {"role": "assistant", "parts": [{"text": "x"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
        model(use("a")),
        [1],
    ],
)
def test_a_message_of_another_dialect_does_not_go_back(opaque: JsonValue) -> None:
    assert contents(GO, asks(text="mine", opaque=opaque))[1] == model({"text": "mine"})


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
def test_earlier_arguments_go_out_as_an_object(raw: str, arguments: Sent | None, goes_out: Sent) -> None:
    assert contents(GO, asks(call("a", raw, arguments)))[1] == model(use("a", **goes_out))


def test_a_call_without_a_name_goes_back_with_one_that_stands_for_it() -> None:
    """The API refuses a conversation with an empty name, in a call as in its result."""
    found = contents(GO, asks(*answer({"functionCall": {"args": {}}}).calls), UserMessage(text="go on"))
    assert "functionResponse" in json.dumps(found)
    assert json.dumps(found).count('"name": "unnamed"') == 2


def test_arguments_in_pieces_go_back_as_what_was_malformed() -> None:
    pieces: Sent = {"functionCall": {"id": "a", "name": "ring", "partialArgs": [1], "willContinue": True}}
    reply = answer(pieces)
    assert reply.calls[0].fault == "malformed_arguments"
    found = contents(GO, asks(*reply.calls, opaque=reply.opaque))[1]
    assert found == model(use("a", malformed_arguments="[1]"))


def test_an_answer_that_says_it_failed_tells_what_it_had_said() -> None:
    """The kind of a063."""
    body: Sent = {
        "candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}],
        "usageMetadata": {"promptTokenCount": 70, "totalTokenCount": 70},
    }
    with pytest.raises(ProviderError) as caught:
        decode(body)
    partial = caught.value.partial
    assert partial is not None
    assert partial.usage is not None
    assert (caught.value.category, caught.value.retryable) == ("malformed_tool_call", False)
    assert (partial.finish, partial.finish_word) == ("error", "MALFORMED_FUNCTION_CALL")
    assert (partial.usage.input_tokens, partial.usage.output_tokens) == (70, 0)


def test_an_answer_without_candidates_tells_what_was_counted() -> None:
    bodies: list[tuple[Sent, bool]] = [({"usageMetadata": {"promptTokenCount": 7}}, True), ({}, False)]
    for body, counted in bodies:
        with pytest.raises(ProviderError) as caught:
            decode(body)
        assert caught.value.category == "bad_response"
        assert (caught.value.partial is not None) == counted


def test_the_message_of_a_finish_is_no_refusal() -> None:
    body: Sent = {"candidates": [{"content": model(use("a")), "finishReason": "STOP", "finishMessage": "Calls."}]}
    assert decode(body).refusal is None


def test_a_field_that_was_changed_replaces_what_the_content_holds() -> None:
    parts: list[Sent] = [
        {"text": "old", "thought": True},
        {**use(), "thoughtSignature": "s"},
        {"text": "old"},
        {"text": "older"},
    ]
    changed = Reply(
        text="new",
        reasoning="newer",
        calls=(ToolCall(id="b", name="sing", arguments_raw='{"n":1}', arguments={"n": 1}), call("c")),
        finish="tool_calls",
        opaque=model(*parts),
    )
    got = decode(json.loads(build().encode_reply(changed)))
    assert (got.text, got.reasoning, got.calls, got.finish) == ("new", "newer", changed.calls, "tool_calls")
    assert "thoughtSignature" in json.dumps(got.opaque)
    alone = changed.model_copy(update={"text": None, "reasoning": None, "calls": ()})
    assert json.loads(build().encode_reply(alone))["candidates"][0]["content"] == model(*parts)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from(["ring", ""])},
    optional={"id": st.sampled_from(["a", "b", "", None]), "args": JSON, "partialArgs": JSON, "willContinue": JSON},
)
PARTS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"text": st.text(max_size=5)}, optional={"thought": st.booleans(), "thoughtSignature": st.just("s")}
        ),
        st.fixed_dictionaries({"functionCall": CALLS}, optional={"thoughtSignature": st.just("s")}),
        st.dictionaries(st.sampled_from(["x", "text", "thought", "functionCall"]), JSON, max_size=3),
    ),
    max_size=4,
)
WORDS = st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "OTHER", "tool_calls", "REFUSAL", "pause", "odd", None])
CANDIDATES = st.fixed_dictionaries(
    {"content": st.fixed_dictionaries({"parts": PARTS}) | st.none()},
    optional={"finishReason": WORDS, "index": st.integers(0, 2), "finishMessage": st.just("no")},
)
BODIES = st.fixed_dictionaries(
    {"candidates": st.lists(CANDIDATES, max_size=2)},
    optional={
        "responseId": st.just("resp-1"),
        "modelVersion": st.just("m"),
        "promptFeedback": st.fixed_dictionaries({"blockReason": st.sampled_from(["SAFETY", "OTHER", None])}),
        "usageMetadata": st.dictionaries(
            st.sampled_from(
                ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"]
            )
            | st.sampled_from(["totalTokenCount", "cachedContentTokenCount"]),
            st.integers(0, 9) | st.sampled_from([COUNT_MAX, 10**30]) | st.none(),
        ),
    },
)


@given(body=BODIES)
def test_a_reply_that_was_decoded_is_encoded_back(body: Sent) -> None:
    try:
        reply = decode(body)
    except ProviderError:
        return
    assert decode(json.loads(build().encode_reply(reply))) == reply
    assert build().decode_stream(WireResponse(200, {}, b"".join(build().encode_stream(reply)))) == reply
    half = reply.truncated()
    shown = decode(json.loads(build().encode_reply(half)))
    assert (shown.text, shown.calls, shown.finish) == (half.text, half.calls, half.finish)


@given(body=BODIES | JSON | st.binary(max_size=30))
def test_whatever_arrives_is_a_reply_or_a_named_failure(body: JsonValue | bytes) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    for read in (build().decode_reply, build().decode_stream):
        for framed in (data, b"data: " + data + b"\n\n"):
            try:
                reply = read(WireResponse(200, {}, framed))
            except ProviderError:
                continue
            build().encode_request(request(GO, asks(*reply.calls, text=reply.text, opaque=reply.opaque)))
