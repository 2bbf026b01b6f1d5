"""Cassettes become recordings: whose they are, what is in them, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cassettes import CHAT, Interaction, exchange, written

from harness import catalog, recording
from harness.documents.yaml_values import YamlValue
from harness.errors import RecordingError, StoreError, UsageError
from harness.ports import Provider
from harness.redaction import MASK
from harness.schema.base import JsonValue
from harness.schema.message import Reply, Usage
from harness.schema.recording import Recording
from harness.schema.tool import ToolCall
from harness.schema.wire_file import API_CODECS
from harness.wiring.decoding_recordings import explain_recording
from harness.wiring.importing import Imported, Importer
from harness.wiring.places import load_scenario, settings
from harness.wiring.recordings import recorded_specs

KEY = "sk-canary-0123456789"
URLS = {
    "openai-chat": "https://llm.example/v1/chat/completions",
    "openai-responses": "https://llm.example/v1/responses",
    "anthropic": "https://llm.example/v1/messages",
    "gemini": "https://llm.example/v1beta/models/m-1:generateContent",
}
CALLED = Reply(
    text="Looking.",
    calls=(ToolCall(id="toolu_1", name="run", arguments_raw='{"a":1}', arguments={"a": 1}),),
    finish="tool_calls",
    usage=Usage(input_tokens=5, output_tokens=2),
)
EVENTS = {"content-type": "text/event-stream"}


def codec(api: str) -> Provider:
    made: Provider = catalog.module("providers", API_CODECS[api]).build()
    return made


def importer(
    tmp_path: Path, environ: dict[str, str] | None = None, *, replace: bool = False, api: str | None = None
) -> Importer:
    place = settings(environ or {}, tmp_path)
    return Importer(place, tmp_path / "out", replace=replace, api=api)


def imported(
    tmp_path: Path,
    *interactions: Interaction,
    name: str = "talk.yaml",
    replace: bool = False,
    api: str | None = None,
) -> Imported:
    return importer(tmp_path, replace=replace, api=api).take(written(tmp_path / name, *interactions))


def loaded(found: Imported) -> Recording:
    (made,) = found.recordings
    return recording.load(made.path)


def everything(folder: Path) -> bytes:
    return b"".join(str(path).encode() + path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def calling(api: str, reply: Reply = CALLED, *, stream: bool = False, model: str = "m-1") -> Interaction:
    asked: JsonValue = {"model": model, "messages": []}
    if stream:
        return exchange(URLS[api], json.dumps(asked), b"".join(codec(api).encode_stream(reply)).decode(), came=EVENTS)
    return exchange(URLS[api], json.dumps(asked), codec(api).encode_reply(reply).decode())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", API_CODECS)
def test_an_answer_is_decoded_from_the_recording_as_from_the_cassette(tmp_path: Path, api: str, stream: bool) -> None:
    found = imported(tmp_path, calling(api, stream=stream))
    (made,) = found.recordings
    assert (made.api, made.model, made.exchanges, made.is_new, found.left_out) == (api, "m-1", 1, True, ())
    (told,) = explain_recording(made.path)
    assert told.error is None
    assert told.reply is not None
    assert (told.reply.text, told.reply.finish, told.reply.usage) == (CALLED.text, "tool_calls", CALLED.usage)
    assert [(call.call.name, call.call.arguments, call.executes) for call in told.calls] == [("run", {"a": 1}, True)]


def test_a_stream_is_kept_with_each_text_in_one_event(tmp_path: Path) -> None:
    pieces = [f"Your key is {KEY[:9]}", f"{KEY[9:]}.", ""]
    choices = [
        {"index": 0, "delta": {"content": piece}, "finish_reason": None if piece else "stop"} for piece in pieces
    ]
    events = "".join(f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices) + "data: [DONE]\n\n"
    one = exchange(URLS["openai-chat"], '{"model": "m-1"}', events, came=EVENTS, sent={"x-api-key": KEY})
    (kept,) = loaded(imported(tmp_path, one)).exchanges
    body = recording.body_bytes(kept.response)
    assert f"Your key is {MASK}.".encode() in body


def test_an_exchange_is_kept_as_our_own_are(tmp_path: Path) -> None:
    asked: YamlValue = {"model": "m-1", "messages": [{"role": "user", "content": "Zoë"}]}
    sent = {"Content-Type": "application/json", "User-Agent": "someone"}
    came = {"Content-Type": "application/json", "Retry-After": "3", "X-Request-Id": "r"}
    one = exchange(f"{CHAT}?a=b", asked, {"choices": []}, sent=sent, came=came, status=429)
    (kept,) = loaded(imported(tmp_path, one)).exchanges
    assert (kept.request.method, kept.request.path) == ("POST", "/v1/chat/completions")
    assert (kept.request.headers, kept.request.body) == ({"content-type": "application/json"}, asked)
    assert (kept.response.status, kept.response.body) == (429, {"choices": []})
    assert kept.response.headers == {"content-type": "application/json", "retry-after": "3"}


def test_the_header_says_that_it_is_of_no_scenario(tmp_path: Path) -> None:
    header = loaded(imported(tmp_path, calling("anthropic"))).header
    assert (header.provenance, header.scenario.partition("/")[0]) == ("imported", "imported")
    nothing = (header.scenario_digest, header.plane, header.prompt, header.tools, header.classifier_version)
    assert nothing == (None,) * 5
    assert (header.actor.ref, header.actor.settings) == ("anthropic/m-1", None)


def test_no_scenario_can_be_played_with_it(tmp_path: Path) -> None:
    (made,) = imported(tmp_path, calling("anthropic")).recordings
    place = settings({}, tmp_path)
    loaded_one = load_scenario(place, "registry/reports-blocked-honestly")
    with pytest.raises(RecordingError, match=r"was imported and is of no scenario, so none can be played with it"):
        recorded_specs(place, loaded_one, str(made.path))


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        (CHAT, "openai"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.groq.com/openai/v1/chat/completions", "groq"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("https://api.deepseek.com/responses", "openai-responses"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://llm.example/v1/messages", "anthropic"),
        ("http://127.0.0.1:8000/v1/chat/completions", "openai-compatible"),
        ("https://[broken/v1/chat/completions", "openai-compatible"),
    ],
)
def test_the_provider_is_the_one_whose_address_it_is(tmp_path: Path, url: str, provider: str) -> None:
    (made,) = imported(tmp_path, exchange(url, {"model": "m-1", "input": "Hi."}, {})).recordings
    assert made.provider == provider


def test_each_model_has_its_own_recording_and_one_that_is_not_named_goes_with_the_call_before(tmp_path: Path) -> None:
    url = "https://api.openai.com/v1/responses"
    found = imported(
        tmp_path,
        exchange(url, {"model": "big"}, {"n": 1}),
        exchange(f"{url}/resp_1", answered={"n": 2}, method="GET"),
        exchange(url, {"model": "small"}, {"n": 3}),
        exchange(url, {"model": "big"}, {"n": 4}),
        exchange("https://llm.example/v1/messages", None, {"n": 5}),
    )
    kept = {one.model: [each.response.body for each in recording.load(one.path).exchanges] for one in found.recordings}
    assert kept == {"big": [{"n": 1}, {"n": 2}, {"n": 4}], "small": [{"n": 3}], "unnamed": [{"n": 5}]}
    assert found.exchanges == 5


def test_what_is_no_call_of_a_model_is_named_and_left_out(tmp_path: Path) -> None:
    embed = exchange(f"https://a.example/v1/embeddings?key={KEY}", {"model": "e"}, {"data": []})
    found = imported(
        tmp_path,
        embed,
        exchange(CHAT, method="OPTIONS"),
        calling("openai-chat"),
        embed,
        exchange(CHAT, {"model": "m-1"}, b"\x00\xff", came={"content-encoding": "compress"}),
    )
    assert [(one.number, one.what, one.why) for one in found.left_out] == [
        (1, "POST /v1/embeddings", "no call of a model"),
        (2, "OPTIONS /v1/chat/completions", "no call of a model"),
        (4, "POST /v1/embeddings", "no call of a model"),
        (5, "POST /v1/chat/completions", "its body is compressed (compress), which is not read"),
    ]
    assert found.reasons["POST /v1/embeddings", "no call of a model"] == 2
    assert found.exchanges == 1


def test_a_given_dialect_is_that_of_every_call(tmp_path: Path) -> None:
    found = imported(tmp_path, exchange("https://gate.example/ask", {"model": "m-1"}, {}), api="anthropic")
    (made,) = found.recordings
    assert (made.api, made.provider) == ("anthropic", "anthropic")


def test_to_import_twice_changes_nothing_and_nothing_is_written_over_unasked(tmp_path: Path) -> None:
    (made,) = imported(tmp_path, calling("gemini")).recordings
    before = made.path.read_bytes()
    (again,) = imported(tmp_path, calling("gemini")).recordings
    assert (again.path, again.is_new) == (made.path, False)
    made.path.write_bytes(b"mine")
    with pytest.raises(StoreError, match="there is a recording already"):
        imported(tmp_path, calling("gemini"))
    assert made.path.read_bytes() == b"mine"
    (replaced,) = imported(tmp_path, calling("gemini"), replace=True).recordings
    assert (replaced.is_new, made.path.read_bytes()) == (True, before)


def test_cassettes_of_one_name_and_of_other_content_lie_apart(tmp_path: Path) -> None:
    replies = CALLED, Reply(text="Else.", finish="stop")
    found = [imported(tmp_path, calling("gemini", reply), name="Test_A[x].yaml") for reply in replies]
    one, other = (each.recordings[0].path.parent for each in found)
    assert one != other
    assert one.name.startswith("test-a-x-")
    assert one.name[:-8] == other.name[:-8]


def test_a_name_of_no_letters_is_called_cassette(tmp_path: Path) -> None:
    (made,) = imported(tmp_path, calling("gemini"), name="日本.yaml").recordings
    assert made.path.parent.name.startswith("cassette-")


@pytest.mark.parametrize("name", ["talk.yaml", "talk.json"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_keys_that_stand_in_a_cassette_are_in_no_file(tmp_path: Path, name: str, stream: bool) -> None:
    said = Reply(text=f"Your key is {KEY}.", finish="stop")
    one = calling("openai-chat", said, stream=stream, model=f"m-{KEY}")
    sent: YamlValue = {
        "Authorization": [f"Bearer {KEY}"],
        "X-Api-Key": ["an-other-canary"],
        "Cookie": ["s=cookie-canary"],
    }
    one["request"] = {**dict_of(one["request"]), "headers": sent, "uri": f"{URLS['openai-chat']}?key=query-canary"}
    body: YamlValue = {
        "model": f"m-{KEY}",
        "messages": [{"content": "an-other-canary, cookie-canary and query-canary"}],
    }
    error = exchange(URLS["openai-chat"], body, {"error": {"message": f"bad key {KEY}"}}, status=401)
    found = importer(tmp_path).take(written(tmp_path / name, one, error))
    kept = everything(tmp_path / "out")
    assert found.exchanges == 2
    assert MASK.encode() in kept
    for canary in (KEY, "an-other-canary", "cookie-canary", "query-canary"):
        assert canary.encode() not in kept


def test_keys_of_the_environment_are_in_no_file_and_no_name(tmp_path: Path) -> None:
    path = written(tmp_path / f"{KEY}.yaml", calling("anthropic", Reply(text=KEY, finish="stop")))
    importer(tmp_path, {"ANTHROPIC_API_KEY": KEY}).take(path)
    assert KEY.encode() not in everything(tmp_path / "out")


def test_a_key_that_is_an_ordinary_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    one = exchange(URLS["anthropic"], {"model": "m-1"}, {}, sent={"x-api-key": "anthropic"})
    with pytest.raises(UsageError, match="is an ordinary text that recordings hold anyway"):
        imported(tmp_path, one)
    assert not (tmp_path / "out").exists()


def test_what_is_no_cassette_is_told_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "talk.yaml"
    path.write_text("a: 1\na: 2\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"talk\.yaml: line 2: the key 'a' is given twice"):
        importer(tmp_path).take(path)
    path.write_text("[" * 200, encoding="utf-8")
    with pytest.raises(UsageError, match=r"talk\.yaml: "):
        importer(tmp_path).take(path)


def dict_of(value: object) -> Interaction:
    assert isinstance(value, dict)
    return value
