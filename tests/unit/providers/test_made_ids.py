"""A call that came without an id is called the same however its answer is written: recordings write JSON anew."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from harness import catalog
from harness.ports import Provider, WireResponse

FUNCTION: dict[str, JsonValue] = {"name": "look", "arguments": '{"at": "Zoë"}'}
BODIES: dict[str, JsonValue] = {
    "openai": {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "só", "tool_calls": [{"function": FUNCTION}]},
                "finish_reason": "tool_calls",
            }
        ]
    },
    "openai_responses": {
        "object": "response",
        "status": "completed",
        "output": [{"type": "function_call", **FUNCTION}],
    },
    "anthropic": {
        "type": "message",
        "content": [{"type": "tool_use", "name": "look", "input": {"at": "Zoë"}}],
        "stop_reason": "tool_use",
    },
    "gemini": {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"name": "look", "args": {"at": "Zoë"}}}]}, "finishReason": "STOP"}
        ]
    },
}


def made_id(provider: str, body: str) -> str:
    codec: Provider = catalog.module("providers", provider).build()
    (call,) = codec.decode_reply(WireResponse(200, {}, body.encode())).calls
    return call.id


@pytest.mark.parametrize("provider", BODIES)
def test_spelling_and_white_space_change_no_made_id(provider: str) -> None:
    body = BODIES[provider]
    spelled = {json.dumps(body), json.dumps(body, indent=2, ensure_ascii=False), json.dumps(body, sort_keys=True)}
    assert len(spelled) == 3
    (made,) = {made_id(provider, text) for text in spelled}
    assert made.startswith("made-")


@pytest.mark.parametrize("provider", BODIES)
def test_an_answer_that_says_something_else_makes_another_id(provider: str) -> None:
    text = json.dumps(BODIES[provider], ensure_ascii=False)
    assert made_id(provider, text) != made_id(provider, text.replace("Zoë", "Zoe"))
