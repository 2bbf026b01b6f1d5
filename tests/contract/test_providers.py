"""What every codec in ``providers/`` keeps, whichever dialect it speaks."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TypedDict, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import catalog, meter
from harness.config import PRESETS, resolve
from harness.errors import ProviderError
from harness.ports import Cut, Provider, WireResponse
from harness.providers._wire.events import event_bytes
from harness.schema.base import JsonValue
from harness.schema.limits import COUNT_MAX
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
from harness.schema.price import Price
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
    """The codec of that name, or that of a preset as it wants it."""
    preset = resolve(name.removeprefix("preset ")) if name.startswith("preset ") else None
    module = catalog.module("providers", name if preset is None else preset.codec)
    return cast("Provider", module.build() if preset is None else module.build(preset))


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


NAMES = (*catalog.names("providers"), *(f"preset {preset.name}" for preset in PRESETS))
every_codec = pytest.mark.parametrize("name", catalog.names("providers"))
every_provider = pytest.mark.parametrize("name", NAMES)

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
STREAMED = replace(REQUEST, settings=GenerationSettings(max_output_tokens=5, stream=True))
REPLIES = {
    "text": Reply(text="hello", finish="stop", usage=Usage(input_tokens=1, output_tokens=2)),
    "call": Reply(text=None, calls=(CALL,), finish="tool_calls", usage=Usage(input_tokens=0, output_tokens=0)),
    "length": Reply(text="cut", finish="length"),
    "filter": Reply(text="", finish="content_filter"),
    "refusal": Reply(text=None, refusal="no", finish="refusal"),
    "reasoning": Reply(text="a", reasoning="because", finish="stop"),
}
every_reply = pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
MEANT = {"text", "calls", "reasoning", "refusal", "finish", "usage", "quirks"}


def streamed(provider: Provider, body: bytes, cut: Cut | None = None) -> Reply | tuple[object, ...]:
    """What a stream comes to: the reply, or what is known of the failure."""
    try:
        return provider.decode_stream(WireResponse(200, {}, body, cut))
    except ProviderError as error:
        return (error.category, error.retryable, error.delivered, error.provider_code, error.partial)


def ends_at(provider: Provider, pieces: list[bytes]) -> int | None:
    """How many bytes a watcher was told when it said yes; None where it never did."""
    is_over, told = provider.stream_end(), 0
    for piece in pieces:
        told += len(piece)
        if is_over(piece):
            return told
    return None


@every_codec
def test_every_codec_has_samples(name: str) -> None:
    assert list((SAMPLES / name).glob("*.json"))


@every_provider
def test_a_key_is_in_the_headers_only_when_there_is_one(name: str) -> None:
    assert any(CANARY in value for value in codec(name).headers(CANARY).values())
    assert not any("authorization" in key.lower() or "key" in key.lower() for key in codec(name).headers(None))


@every_provider
def test_a_request_is_the_same_valid_json_each_time(name: str) -> None:
    first = codec(name).encode_request(REQUEST)
    assert first == codec(name).encode_request(replace(REQUEST))
    assert isinstance(json.loads(first.decode("utf-8")), dict)
    assert codec(name).path(REQUEST).startswith("/")


@every_provider
@every_reply
def test_a_made_reply_decodes_to_what_was_meant(name: str, reply: Reply) -> None:
    provider = codec(name)
    got = provider.decode_reply(WireResponse(200, {}, provider.encode_reply(reply)))
    assert got.model_dump(include=MEANT) == reply.model_dump(include=MEANT)
    assert provider.decode_reply(WireResponse(200, {}, provider.encode_reply(got))) == got


@every_provider
@pytest.mark.parametrize("digits", [10**16, 10**30, 10**4000], ids=["just beyond", "beyond", "far beyond"])
def test_a_count_that_is_beyond_what_can_be_counted_is_told_as_that(name: str, digits: int) -> None:
    provider, made = codec(name), Reply(text="a", finish="stop", usage=Usage(input_tokens=711, output_tokens=922))
    for body, decode in (
        (provider.encode_reply(made), provider.decode_reply),
        (b"".join(provider.encode_stream(made)), provider.decode_stream),
    ):
        said = body.replace(b"711", str(digits).encode("ascii")).replace(b"922", str(digits + 1).encode("ascii"))
        reply = decode(WireResponse(200, {}, said))
        assert reply.usage == Usage(input_tokens=COUNT_MAX + 1, output_tokens=COUNT_MAX + 1)
        assert provider.decode_reply(WireResponse(200, {}, provider.encode_reply(reply))).usage == reply.usage
        assert meter.cost(reply.usage, Price(input=Decimal(1), output=Decimal(1), source="test")) is None


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
        said = expect.get("partial")
        if isinstance(said, dict):
            assert caught.value.partial is not None
            partial = json.loads(caught.value.partial.model_dump_json(exclude_none=True))
            assert {key: partial.get(key) for key in said} == said
        return
    reply = provider.decode_reply(response)
    dumped = reply.model_dump(exclude_none=False)
    wanted = {"quirks": [], "calls": [], **expect}
    shown = {key: dumped[key] for key in wanted}
    if isinstance(shown.get("usage"), dict):
        shown["usage"] = {key: count for key, count in shown["usage"].items() if count is not None}
    assert json.loads(json.dumps(shown)) == wanted
    assert provider.decode_reply(WireResponse(200, {}, provider.encode_reply(reply))) == reply
    assert streamed(provider, b"".join(provider.encode_stream(reply))) == reply


@pytest.mark.parametrize(("name", "path"), samples())
def test_no_text_of_a_provider_is_in_an_error(name: str, path: Path) -> None:
    response, _expect = answer(path)
    body = response.body.replace(b"something", CANARY.encode()).replace(b'"x"', f'"{CANARY}"'.encode())
    text = failure_text(codec(name), WireResponse(response.status, response.headers, body))
    assert CANARY not in text
    assert "\n" not in text


def spoiled(value: JsonValue, odd: JsonValue) -> list[JsonValue]:
    """The value again and again, each time with something odd in the place of another of its parts."""
    found = [odd]
    if isinstance(value, dict):
        found += [{**value, key: one} for key in value for one in spoiled(value[key], odd)]
    elif isinstance(value, list):
        found += [[*value[:at], one, *value[at + 1 :]] for at, part in enumerate(value) for one in spoiled(part, odd)]
    return found


@every_codec
@pytest.mark.parametrize("odd", [[{}], 7], ids=["list", "number"])
def test_a_part_of_another_type_is_read_past_or_a_named_failure(name: str, odd: JsonValue) -> None:
    provider = codec(name)
    for path in sorted((SAMPLES / name).glob("*.json")):
        sample: Sample = json.loads(path.read_text(encoding="utf-8"))
        for body in spoiled(sample.get("body"), odd):
            response = WireResponse(sample["status"], {}, json.dumps(body).encode())
            with suppress(ProviderError):
                reply = provider.decode_reply(response)
                streamed(provider, b"".join(provider.encode_stream(reply)))


@every_codec
@pytest.mark.parametrize("status", [200, 400, 404, 429, 500])
@pytest.mark.parametrize("body", [b"", b"\x00\xff", b"<html>", b"[" * 5000, b"null", b'{"error":[1]}', b'{"error":{}}'])
def test_odd_bytes_are_a_named_failure(name: str, status: int, body: bytes) -> None:
    with pytest.raises(ProviderError):
        codec(name).decode_reply(WireResponse(status, {}, body))


@every_provider
def test_a_request_for_a_stream_is_the_same_request_but_for_the_stream(name: str) -> None:
    provider = codec(name)
    plain = replace(STREAMED, settings=GenerationSettings(max_output_tokens=5))
    asked, whole = (json.loads(provider.encode_request(one)) for one in (STREAMED, plain))
    told = ("stream", "stream_options")
    assert {key: asked[key] for key in asked if key not in told} == {
        key: whole[key] for key in whole if key not in told
    }
    asks = asked.get("stream") is True or provider.path(STREAMED) != provider.path(plain)
    assert asks
    assert whole.get("stream") is not True


@every_provider
@every_reply
def test_a_made_stream_decodes_to_what_the_whole_answer_does(name: str, reply: Reply) -> None:
    provider = codec(name)
    got = streamed(provider, b"".join(provider.encode_stream(reply)))
    assert isinstance(got, Reply)
    assert got.model_dump(include=MEANT) == reply.model_dump(include=MEANT)
    assert streamed(provider, b"".join(provider.encode_stream(got))) == got


@every_codec
@every_reply
def test_a_stream_is_over_at_the_same_byte_however_it_is_cut(name: str, reply: Reply) -> None:
    provider = codec(name)
    events = provider.encode_stream(reply)
    body = b"".join(events)
    single = ends_at(provider, [body[at : at + 1] for at in range(len(body))])
    assert single is None or len(b"".join(events[:-1])) < single <= len(body)
    for size in (2, 7, 64):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        found = ends_at(provider, pieces)
        assert (found is None) == (single is None)
        assert single is None or found == min(-(-single // size) * size, len(body))


@every_codec
@every_reply
@pytest.mark.parametrize("cut", [None, "connection_lost", "timeout", "cancelled"])
def test_a_stream_that_breaks_off_anywhere_is_a_reply_or_tells_how_and_coalesced_the_same(
    name: str, reply: Reply, cut: Cut | None
) -> None:
    provider = codec(name)
    events = provider.encode_stream(reply)
    categories = {None: "stream_incomplete", "timeout": "timeout"}
    for kept in range(len(events) + 1):
        body = b"".join(events[:kept])
        found = streamed(provider, body, cut)
        assert streamed(provider, provider.coalesce(body), cut) == found
        if isinstance(found, Reply):
            assert found == streamed(provider, b"".join(events)) or found.usage is None
        elif kept or cut is not None:
            assert found[0] == categories.get(cut, "connection_lost")
            assert found[1] is (cut != "cancelled")
        else:
            assert found[:2] == ("bad_response", False)


@every_codec
@pytest.mark.parametrize("status", [200, 400, 404, 429, 500])
@pytest.mark.parametrize(
    "body", [b"", b"\x00\xff", b"<html>", b"[" * 5000, b"null", b"{}", b'{"error":[1]}', b"data: x\n\n"]
)
def test_odd_bytes_where_a_stream_was_asked_for_are_a_named_failure(name: str, status: int, body: bytes) -> None:
    with pytest.raises(ProviderError):
        codec(name).decode_stream(WireResponse(status, {}, body))


@every_codec
@pytest.mark.parametrize("cut", [None, "timeout"])
@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[1]", b"plain\n\ntext", b"data: {}", b": c\n\n", b'{"error":{"status":"UNAVAILABLE"}}'],
)
def test_what_is_no_stream_says_the_same_when_it_is_coalesced(name: str, body: bytes, cut: Cut | None) -> None:
    """An error that came whole where a stream was asked for is recorded, and must be the same error in the replay."""
    provider = codec(name)
    said = []
    for sent in (body, provider.coalesce(body)):
        with pytest.raises(ProviderError) as caught:
            provider.decode_stream(WireResponse(200, {}, sent, cut))
        said.append((str(caught.value), caught.value.retryable, caught.value.delivered))
    assert said[0] == said[1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@every_codec
@given(sent=st.binary(max_size=60) | st.lists(JSON, max_size=4).map(lambda each: b"".join(map(event_bytes, each))))
def test_no_bytes_make_a_decoder_of_streams_raise_anything_else(name: str, sent: bytes) -> None:
    provider = codec(name)
    found = streamed(provider, sent)
    assert streamed(provider, provider.coalesce(sent)) == found
    assert ends_at(provider, [sent]) in {None, len(sent)}


@every_codec
@given(sent=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_make_a_decoder_of_whole_answers_raise_anything_else(name: str, sent: bytes) -> None:
    assert "\n" not in failure_text(codec(name), WireResponse(200, {}, sent))
