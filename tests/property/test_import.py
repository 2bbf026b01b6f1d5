"""Cassettes: no file makes an import fail in its own way, keys reach no file, and what was said is what is decoded."""

from __future__ import annotations

import json
import tempfile
from base64 import b64encode
from contextlib import suppress
from pathlib import Path

import pytest
from cassettes import CHAT, Interaction, exchange, written
from hypothesis import given
from hypothesis import strategies as st

from harness import catalog, recording
from harness.documents.yaml_values import YamlValue
from harness.errors import InputError, ProviderError
from harness.ports import Provider, WireResponse
from harness.recording.bodies import is_stream
from harness.schema.wire_file import API_CODECS
from harness.wiring.decoding import read_answer
from harness.wiring.decoding_recordings import explain_recording
from harness.wiring.importing import Imported, Importer
from harness.wiring.places import settings

KEY = "sk-canary-0123456789"
URLS = {
    "openai-chat": CHAT,
    "openai-responses": "https://api.openai.com/v1/responses",
    "anthropic": "https://api.anthropic.com/v1/messages",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models/m-1:generateContent",
}
apis = st.sampled_from(sorted(URLS))
texts = st.text(max_size=12)
leaves = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | texts
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
anything = st.recursive(
    leaves | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
sides = st.dictionaries(
    st.sampled_from(["method", "uri", "headers", "body", "parsed_body", "status", "status_code", "content"]),
    anything | st.sampled_from(["POST", *URLS.values(), 200, {"code": 200}, {"string": b"\x1f\x8b\x08"}]),
)


def take(folder: Path, *interactions: YamlValue) -> Imported:
    path = written(folder / "talk.yaml", *interactions)
    return Importer(settings({}, folder), folder / "kept").take(path)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | anything.map(repr).map(str.encode))
def test_no_bytes_make_it_fail_in_another_way(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "talk.yaml")
        path.write_bytes(data)
        with suppress(InputError):
            Importer(settings({}, Path(name)), Path(name, "kept")).take(path)


@given(st.lists(anything | st.fixed_dictionaries({"request": sides, "response": sides}), max_size=3))
def test_no_interaction_makes_it_fail_in_another_way(interactions: list[YamlValue]) -> None:
    with tempfile.TemporaryDirectory() as name, suppress(InputError, UnicodeEncodeError):
        take(Path(name), *interactions)


bodies = (
    json_values.map(json.dumps)
    | st.binary(max_size=30)
    | st.sampled_from(
        [
            '{"choices":[{"index":0,"message":{"content":"é","tool_calls":[{"function":{"name":"a"}}]}}]}',
            '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "a", "args": {"b": 1.50}}}]}}]}',
            '{"type":"message","content":[{"type":"tool_use","name":"a","input":{}}],"stop_reason":"tool_use"}',
            '{"object":"response","status":"completed","output":[{"type":"function_call","name":"a","arguments":"{"}]}',
            '{"a": 1, "a": 2}',
            '{"a": NaN}',
            '{"error": {"message": "no"}}',
            'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"index":0,"delta":',
            'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
            'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n',
            'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}\r\n\r\n',
        ]
    )
)


@given(apis, bodies, st.sampled_from(["application/json", "text/event-stream", ""]), st.sampled_from([200, 429]))
def test_what_is_decoded_from_a_recording_is_what_the_cassette_held(
    api: str, body: str | bytes, said: str, status: int
) -> None:
    data = body.encode() if isinstance(body, str) else body
    codec: Provider = catalog.module("providers", API_CODECS[api]).build()
    headers = {"content-type": said}
    meant = read_answer(codec, WireResponse(status, headers, data), stream=is_stream(headers, data))
    with tempfile.TemporaryDirectory() as name:
        found = take(Path(name), exchange(URLS[api], '{"model":"m-1"}', data, status=status, came=headers))
        if found.left_out:  # bytes that look compressed and are not
            assert data.startswith(b"\x1f\x8b")
            return
        (told,) = explain_recording(found.recordings[0].path)
    assert (told.reply, told.calls) == (meant.reply, meant.calls)
    assert kind_of(told.error) == kind_of(meant.error)


def kind_of(error: ProviderError | None) -> tuple[str, bool, str | None] | None:
    return None if error is None else (error.category, error.retryable, error.provider_code)


spelled = st.sampled_from(
    [
        lambda key: key,
        lambda key: "".join(f"%{ord(sign):02x}" for sign in key),
        lambda key: b64encode(f"me:{key}".encode()).decode(),
        lambda key: key.encode().hex(),
        lambda key: json.dumps({"inner": json.dumps({"key": key})}),
        lambda key: f"{key[:9]}\n{key[9:]}",
    ]
)
places = st.sampled_from(["authorization", "x-api-key", "x-goog-api-key", "query", "address"])


@given(spelled, places, apis, st.booleans())
def test_a_key_of_a_cassette_is_in_no_file_in_any_spelling(spell: object, place: str, api: str, parsed: bool) -> None:
    assert callable(spell)
    words = str(spell(KEY))
    url, sent = URLS[api], {}
    if place == "query":
        url += f"?key={KEY}"
    elif place == "address":
        url = url.replace("://", f"://me:{KEY}@")
    else:
        sent[place] = f"Bearer {KEY}"
    body: YamlValue = {"model": "m-1", "messages": [{"role": "user", "content": words}], words: 1}
    one: Interaction = exchange(url, json.dumps(body), json.dumps({"error": {"message": words}}), sent=sent, status=401)
    if parsed:
        request, response = one["request"], one["response"]
        assert isinstance(request, dict)
        assert isinstance(response, dict)
        one = {"request": {**request, "parsed_body": body}, "response": {**response, "parsed_body": [words]}}
    with tempfile.TemporaryDirectory() as name:
        found = take(Path(name), one)
        kept = b"".join(each.path.read_bytes() for each in found.recordings)
        assert found.exchanges == 1
        assert recording.load(found.recordings[0].path).exchanges
    for form in (KEY, KEY.encode().hex(), b64encode(KEY.encode()).decode()[:-4], KEY[9:]):
        assert form.encode() not in kept


@pytest.mark.parametrize("api", sorted(URLS))
def test_every_address_above_is_of_its_dialect(tmp_path: Path, api: str) -> None:
    (made,) = take(tmp_path, exchange(URLS[api], "{}", "{}")).recordings
    assert made.api == api
