"""What every codec in ``providers/`` keeps, whichever dialect it speaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict, cast

import pytest

from harness import catalog
from harness.errors import ProviderError
from harness.ports import Provider, WireResponse
from harness.schema.base import JsonValue
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    ModelRequest,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.schema.tool import ToolCall, ToolSpec

SAMPLES = Path(__file__).parent.parent / "data" / "wire"
CANARY = "canary-7f3a"


class Sample(TypedDict, total=False):
    """One file of ``tests/data/wire``."""

    status: int
    headers: dict[str, str]
    body: JsonValue
    text: str
    expect: dict[str, JsonValue]


def codec(name: str) -> Provider:
    return cast("Provider", catalog.module("providers", name).build())


def samples() -> list[object]:
    found = sorted(SAMPLES.glob("*/*.json"))
    return [pytest.param(path.parent.name, path, id=f"{path.parent.name}/{path.stem}") for path in found]


def answer(path: Path) -> tuple[WireResponse, dict[str, JsonValue]]:
    sample: Sample = json.loads(path.read_text(encoding="utf-8"))
    body = sample["text"] if "text" in sample else json.dumps(sample["body"])
    return WireResponse(sample["status"], sample["headers"], body.encode()), sample["expect"]


def failure_text(provider: Provider, response: WireResponse) -> str:
    """What the error says; empty where there is a reply."""
    try:
        provider.decode_reply(response)
    except ProviderError as error:
        return str(error)
    return ""


every_codec = pytest.mark.parametrize("name", catalog.names("providers"))

TOOL = ToolSpec(name="run", description="Runs.", parameters={"type": "object", "properties": {}})
CALL = ToolCall(id="call-1", name="run", arguments_raw='{"a":1}', arguments={"a": 1})
REQUEST = ModelRequest(
    model="m",
    messages=(
        SystemMessage(text="rules"),
        UserMessage(text="Größe? \ud83d"),
        AssistantMessage(text=None, calls=(CALL,)),
        ToolMessage(call_id="call-1", name="run", text=""),
    ),
    tools=(TOOL,),
    settings=GenerationSettings(temperature=0.0, max_output_tokens=5),
)


@every_codec
def test_every_codec_has_samples(name: str) -> None:
    assert list((SAMPLES / name).glob("*.json"))


@every_codec
def test_a_key_is_in_the_headers_only_when_there_is_one(name: str) -> None:
    assert any(CANARY in value for value in codec(name).headers(CANARY).values())
    assert not any("authorization" in key.lower() or "key" in key.lower() for key in codec(name).headers(None))


@every_codec
def test_a_request_is_the_same_valid_json_each_time(name: str) -> None:
    first = codec(name).encode_request(REQUEST)
    assert first == codec(name).encode_request(REQUEST.model_copy())
    assert isinstance(json.loads(first.decode("utf-8")), dict)
    assert codec(name).path(REQUEST).startswith("/")


@every_codec
@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="hello", finish="stop", usage=Usage(input_tokens=1, output_tokens=2)),
        Reply(text=None, calls=(CALL,), finish="tool_calls", usage=Usage(input_tokens=0, output_tokens=0)),
        Reply(text="cut", finish="length"),
        Reply(text="", finish="content_filter"),
        Reply(text=None, refusal="no", finish="refusal"),
        Reply(text="a", reasoning="because", finish="stop"),
    ],
    ids=["text", "call", "length", "filter", "refusal", "reasoning"],
)
def test_a_made_reply_decodes_to_what_was_meant(name: str, reply: Reply) -> None:
    provider = codec(name)
    got = provider.decode_reply(WireResponse(200, {}, provider.encode_reply(reply)))
    meant = ("text", "calls", "reasoning", "refusal", "finish", "usage", "quirks")
    assert got.model_dump(include=set(meant)) == reply.model_dump(include=set(meant))
    assert provider.decode_reply(WireResponse(200, {}, provider.encode_reply(got))) == got


@pytest.mark.parametrize(("name", "path"), samples())
def test_a_sample_decodes_as_its_file_says(name: str, path: Path) -> None:
    response, expect = answer(path)
    provider = codec(name)
    if "error" in expect:
        with pytest.raises(ProviderError) as caught:
            provider.decode_reply(response)
        wanted = expect["error"]
        assert isinstance(wanted, dict)
        assert {key: getattr(caught.value, key) for key in wanted} == wanted
        return
    reply = provider.decode_reply(response)
    dumped = reply.model_dump(exclude_none=False)
    wanted = {"quirks": [], "calls": [], **expect}
    shown = {key: dumped[key] for key in wanted}
    if isinstance(shown.get("usage"), dict):
        shown["usage"] = {key: count for key, count in shown["usage"].items() if count is not None}
    assert json.loads(json.dumps(shown)) == wanted
    assert provider.decode_reply(WireResponse(200, {}, provider.encode_reply(reply))) == reply


@pytest.mark.parametrize(("name", "path"), samples())
def test_no_text_of_a_provider_is_in_an_error(name: str, path: Path) -> None:
    response, _expect = answer(path)
    body = response.body.replace(b"something", CANARY.encode()).replace(b'"x"', f'"{CANARY}"'.encode())
    text = failure_text(codec(name), WireResponse(response.status, response.headers, body))
    assert CANARY not in text
    assert "\n" not in text


@every_codec
@pytest.mark.parametrize("status", [200, 400, 404, 429, 500])
@pytest.mark.parametrize("body", [b"", b"\x00\xff", b"<html>", b"[" * 5000, b"null", b'{"error":[1]}', b'{"error":{}}'])
def test_odd_bytes_are_a_named_failure(name: str, status: int, body: bytes) -> None:
    with pytest.raises(ProviderError):
        codec(name).decode_reply(WireResponse(status, {}, body))
