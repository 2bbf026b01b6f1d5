"""A request's digest is that of its whole, whatever of it was read before."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.episode.request_digest import RequestDigests
from harness.schema.base import JsonValue, digest_json
from harness.schema.message import AssistantMessage, GenerationSettings, Message, ModelRequest, ToolMessage, UserMessage
from harness.schema.tool import ToolCall, ToolSpec

TEXTS = st.text(st.sampled_from(["w", "/", "a", '"', "\\", "é", "\ud800", "{"]), max_size=6)
CALLS = st.builds(
    lambda name, raw: ToolCall(id="c", name=name, arguments_raw=raw, arguments={raw: [raw, 1]}), TEXTS, TEXTS
)
MESSAGES = st.one_of(
    TEXTS.map(lambda text: UserMessage(text=text)),
    st.builds(lambda text, call: AssistantMessage(text=text, calls=(call,), opaque={text: 1.5}), TEXTS, CALLS),
    TEXTS.map(lambda text: ToolMessage(call_id="c", name="exec", text=text)),
)


def hide(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.replace("/w", "{w}")
    if isinstance(value, list | tuple):
        return [hide(item) for item in value]
    if isinstance(value, dict):
        return {str(hide(key)): hide(item) for key, item in value.items()}
    return value


def request(messages: list[Message], text: str) -> ModelRequest:
    tool = ToolSpec(name="exec", description=text, parameters={"type": "object"})
    settings = GenerationSettings(temperature=0.5)
    return ModelRequest(model=text, messages=tuple(messages), tools=(tool,), settings=settings)


@given(st.lists(MESSAGES, max_size=5), TEXTS)
def test_a_growing_conversation_has_the_digests_of_its_wholes(messages: list[Message], text: str) -> None:
    digests = RequestDigests(hide)
    for length in range(len(messages) + 1):
        asked = request(messages[:length], text)
        assert digests.of(asked) == digest_json(hide(json.loads(json.dumps(asked.model_dump()))))


def test_a_message_is_read_once() -> None:
    read: list[JsonValue] = []

    def counting(value: JsonValue) -> JsonValue:
        read.append(value)
        return value

    digests = RequestDigests(counting)
    messages: list[Message] = []
    for number in range(4):
        messages.append(UserMessage(text=f"message {number}"))
        digests.of(request(messages, "x"))
    told = [value["text"] for value in read if isinstance(value, dict) and "text" in value]
    assert told == [f"message {number}" for number in range(4)]
