"""Conversations in every dialect are told in the same words."""

from __future__ import annotations

import recorded as rec
from pydantic import JsonValue

from harness.schema.message import Reply
from harness.schema.recording import Exchange
from harness.schema.tool import ToolCall
from harness.schema.transcript import Passage
from harness.transcript import transcript

CALLED = Reply(
    text="Hm.",
    calls=(ToolCall(id="c1", name="look", arguments_raw='{"at":1}', arguments={"at": 1}),),
    reasoning="First look.",
    finish="tool_calls",
    finish_word="tool_use",
)
ASKED = [("system", "", "Be brief."), ("user", "", "Go.")]
SPOKEN = [
    ("model", "thinks", "First look."),
    ("model", "says", "Hm."),
    ("model", "calls look (c1)", '{"at": 1}'),
    ("provider", "finish tool_use", ""),
]


def told(*bodies: JsonValue, reply: Reply = CALLED) -> list[tuple[list[tuple[str, str, str]], ...]]:
    exchanges = [rec.exchange(number, body, {"odd": number}) for number, body in enumerate(bodies, start=1)]
    made = transcript(rec.recording(exchanges), "file", size=9, read=lambda _: reply)
    return [(words(turn.asked), words(turn.said)) for turn in made.turns]


def words(passages: tuple[Passage, ...]) -> list[tuple[str, str, str]]:
    return [(one.speaker, one.about, one.text) for one in passages]


def test_messages_of_blocks() -> None:
    go: JsonValue = {"role": "user", "content": "Go."}
    said: JsonValue = [
        {"type": "thinking", "thinking": "First look."},
        {"type": "text", "text": "Hm."},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}},
    ]
    result: JsonValue = [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a door"}]},
        {"type": "text", "text": "and hurry"},
    ]
    head: dict[str, JsonValue] = {
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [{"name": "look", "input_schema": {}}],
    }
    first, second = told(
        {**head, "messages": [go]},
        {**head, "messages": [go, {"role": "assistant", "content": said}, {"role": "user", "content": result}]},
    )
    assert first == ([("harness", "offers", "look"), *ASKED], SPOKEN)
    assert second[0] == [("tool", "result of c1", "a door"), ("user", "", "and hurry")]


def test_items_of_responses() -> None:
    go: JsonValue = {"role": "user", "content": "Go."}
    items: list[JsonValue] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "First look."}], "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at":1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a door"},
    ]
    head: dict[str, JsonValue] = {"instructions": "Be brief.", "tools": [{"type": "function", "name": "look"}]}
    first, second = told({**head, "input": [go]}, {**head, "input": [go, *items]})
    assert first == ([("harness", "offers", "look"), *ASKED], SPOKEN)
    assert second[0] == [("tool", "result of c1", "a door")]


def test_contents_of_parts() -> None:
    go: JsonValue = {"role": "user", "parts": [{"text": "Go."}]}
    said: JsonValue = {
        "role": "model",
        "parts": [
            {"text": "First look.", "thought": True},
            {"text": "Hm."},
            {"functionCall": {"id": "c1", "name": "look", "args": {"at": 1}}},
        ],
    }
    result: JsonValue = {
        "role": "user",
        "parts": [{"functionResponse": {"name": "look", "response": {"saw": "a door"}}}],
    }
    head: dict[str, JsonValue] = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
    }
    first, second = told({**head, "contents": [go]}, {**head, "contents": [go, said, result]})
    assert first == ([("harness", "offers", "look"), *ASKED], SPOKEN)
    assert second[0] == [("tool", "result of look", '{"saw": "a door"}')]


def test_a_reply_that_is_sent_back_changed_is_told_again_from_there_on() -> None:
    go: JsonValue = {"role": "user", "content": "Go."}
    other: JsonValue = [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 2}}]
    _, second = told({"messages": [go]}, {"messages": [go, {"role": "assistant", "content": other}]})
    assert second[0] == [("model", "calls look (c1)", '{"at": 2}')]


def test_a_made_id_is_not_shown_and_arguments_that_cannot_be_read_are_as_they_came() -> None:
    call = ToolCall(id="made-0123456789abcdef-1", name="look", arguments_raw='{"at', arguments=None, fault="truncated")
    ((_, said),) = told({"contents": []}, reply=Reply(text=None, calls=(call,), finish="length"))
    assert said == [("model", "calls look", '{"at'), ("provider", "finish length", "")]


def test_what_nobody_can_decode_is_given_as_it_is() -> None:
    def nothing(_: Exchange) -> None:
        return None

    made = transcript(rec.recording([rec.exchange(1, {"messages": []}, {"odd": 1})]), "file", size=9, read=nothing)
    assert words(made.turns[0].said) == [("provider", "HTTP 200", '{"odd": 1}')]
