"""Ids of calls for servers that take nine letters or digits only."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import resolve
from harness.providers._chat.ids import short_ids
from harness.providers.openai import build
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, GenerationSettings, Message, ModelRequest, ToolMessage, UserMessage
from harness.schema.tool import ToolCall, ToolSpec

TAKEN = re.compile(r"[a-zA-Z0-9]{9}")
IDS = st.text(min_size=1, max_size=12) | st.from_regex(r"[a-zA-Z0-9]{9}", fullmatch=True)


def turns(ids: list[str]) -> list[Message]:
    """A turn whose calls have these ids, and their results."""
    calls = tuple(ToolCall(id=one, name="look", arguments_raw="{}", arguments={}) for one in ids)
    results = [ToolMessage(call_id=one, name="look", text="seen") for one in ids]
    return [UserMessage(text="go"), AssistantMessage(text=None, calls=calls), *results]


def sent(messages: list[Message], provider: str = "mistral", **settings: JsonValue) -> dict[str, JsonValue]:
    request = ModelRequest(
        model="m",
        messages=tuple(messages),
        tools=(ToolSpec(name="look", description="Looks.", parameters={"type": "object"}),),
        settings=GenerationSettings.model_validate(settings),
    )
    body: dict[str, JsonValue] = json.loads(build(resolve(provider)).encode_request(request))
    return body


def ids_in(messages: JsonValue) -> tuple[list[str], list[str]]:
    """Ids of calls and of results, in their order."""
    assert isinstance(messages, list)
    calls = [call["id"] for one in messages if isinstance(one, dict) for call in one.get("tool_calls", [])]  # type: ignore[index,union-attr,call-overload]
    results = [one["tool_call_id"] for one in messages if isinstance(one, dict) and "tool_call_id" in one]
    return [str(one) for one in calls], [str(one) for one in results]


@given(ids=st.lists(IDS, max_size=6))
def test_ids_of_another_provider_become_short_ones_alike_in_call_and_result_and_never_two_the_same(
    ids: list[str],
) -> None:
    # the kind of a021
    calls, results = ids_in(sent(turns(ids))["messages"])
    assert calls == results
    assert all(TAKEN.fullmatch(one) for one in calls)
    assert len(set(calls)) == len(set(ids))
    assert [one for one in calls if one in ids] == [one for one in ids if TAKEN.fullmatch(one)]
    assert sent(turns(ids)) == sent(turns(ids))


def test_an_id_stays_the_same_in_a_longer_conversation() -> None:
    first = turns(["call_7", "call_8"])
    before, _ = ids_in(sent(first)["messages"])
    after, _ = ids_in(sent([*first, *turns(["call_9"])])["messages"])
    assert after[:2] == before


def test_a_message_that_goes_back_as_it_came_gets_short_ids_too_and_stays_as_it_was() -> None:
    function: JsonValue = {"name": "look", "arguments": "{}"}
    opaque: JsonValue = {"role": "assistant", "vendor": [1], "tool_calls": [{"id": "call_7", "function": function}]}
    kept = json.dumps(opaque)
    body = sent([AssistantMessage(text=None, opaque=opaque), ToolMessage(call_id="call_7", name="look", text="")])
    calls, results = ids_in(body["messages"])
    assert calls == results
    assert TAKEN.fullmatch(calls[0])
    assert json.dumps(opaque) == kept


def test_an_id_that_is_taken_already_is_not_made_again() -> None:
    (made,), _ = ids_in(short_ids([{"tool_calls": [{"id": "call_7"}]}]))
    calls, _ = ids_in(short_ids([{"tool_calls": [{"id": "call_7"}, {"id": made}]}]))
    assert calls[1] == made
    assert calls[0] != made
    assert TAKEN.fullmatch(calls[0])


def test_different_ids_stay_different_where_their_digests_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Same:
        def __init__(self, _data: bytes) -> None: ...

        def digest(self) -> bytes:
            return b"\x07"

    monkeypatch.setattr("harness.providers._chat.ids.sha256", Same)
    calls, _ = ids_in(short_ids([{"tool_calls": [{"id": "call_7"}, {"id": "call_8"}, {"id": "call_9"}]}]))
    assert len(set(calls)) == 3


@pytest.mark.parametrize("message", [{"tool_calls": [{"id": None}, 3]}, {"tool_calls": "x"}, {"role": "user"}])
def test_what_has_no_ids_has_none_afterwards(message: JsonValue) -> None:
    calls: JsonValue = [{"id": None}, {}]
    assert short_ids([message]) == [
        {"tool_calls": calls} if isinstance(message, dict) and isinstance(message.get("tool_calls"), list) else message
    ]


@pytest.mark.parametrize("provider", ["openai", "deepseek", "openai-compatible"])
def test_other_providers_get_the_ids_as_they_are(provider: str) -> None:
    assert ids_in(sent(turns(["call_7"]), provider)["messages"]) == (["call_7"], ["call_7"])


def test_words_of_this_vendor_are_its_own() -> None:
    body = sent(turns([]), seed=4, tool_choice="required", stream=True)
    assert (body["random_seed"], body["tool_choice"], body["stream"]) == (4, "any", True)
    assert not {"seed", "stream_options"} & set(body)
