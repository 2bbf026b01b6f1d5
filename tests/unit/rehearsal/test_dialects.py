"""The same conversation in each dialect: read alike, answered alike, refused and spoiled in its own form."""

from __future__ import annotations

import json

import pytest
from dialects import BOTH, EVERY, MEANT, asked, came, decoded, failure, played
from rehearsing import CODECS, header, policy_file, scenario, stage

from harness import catalog
from harness.config import resolve
from harness.errors import CatalogError, ProviderCategory
from harness.providers.openai import build
from harness.rehearsal.dialects import DIALECTS, Endpoints
from harness.rehearsal.stage import Stage
from harness.schema.base import JsonValue
from harness.schema.rehearsal import MODELS_PATH, MODELS_PATHS, PLAYS

PACKET = json.dumps({"target": "notes/größe.json"})
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


def test_every_codec_has_its_dialect_and_none_is_registered_twice() -> None:
    codecs = [catalog.module("providers", name).build() for name in catalog.names("providers")]
    assert {codec.name for codec in codecs} == set(BY_NAME)
    assert len(BY_NAME) == len(DIALECTS)


def test_a_codec_of_another_dialect_is_refused() -> None:
    with pytest.raises(CatalogError, match="unknown dialect of a rehearsal 'deepseek'"):
        Endpoints([build(resolve("deepseek"))])


@EVERY
@BOTH
def test_a_request_is_read_alike_whatever_dialect_it_comes_in(name: str, stream: bool) -> None:
    to, body = asked(name, "one two", "", PACKET, stream=stream)
    shown, chat = BY_NAME[name].read(to, body), BY_NAME["openai"].read(*asked("openai", "one two", "", PACKET))
    assert shown is not None
    assert chat is not None
    assert (shown.model, shown.prompt, shown.streamed, shown.counted) == ("m", chat.prompt, stream, True)
    # a dialect that takes no blank answer is sent something in its place
    assert (shown.answers[0], shown.answers[2]) == ("one two", PACKET)
    assert shown.answers[1] in {"", "(no output)", "(no result)"}
    assert abs(shown.words - chat.words) < 20


@EVERY
@BOTH
@pytest.mark.parametrize(("turn", "script"), [(1, "reference"), (2, "reference"), (1, "wrong:called")])
def test_an_answer_means_the_same_whatever_dialect_it_is_given_in(
    name: str, stream: bool, turn: int, script: str
) -> None:
    answers = [PACKET] * (turn - 1)
    play = played(name, *answers, stream=stream, turn=turn, script=script)
    plain = played("openai", *answers, turn=turn, script=script)
    got, wanted = decoded(name, came(play), stream=stream), decoded("openai", came(plain), stream=False)
    assert got.model_dump(include={"text", "calls"}) == wanted.model_dump(include={"text", "calls"})
    assert play.streamed is stream
    assert play.headers.get("content-type", "").startswith("text/event-stream") is stream
    assert play.call is not None
    assert (play.call.dialect, play.call.streamed) == (name, stream)
    told, counted = got.usage, play.call.usage
    assert told is not None
    assert counted is not None
    assert (told.input_tokens, told.output_tokens) == (counted.input_tokens, counted.output_tokens)


@EVERY
def test_a_stream_is_the_whole_answer(name: str) -> None:
    whole, stream = (decoded(name, came(played(name, stream=asks)), stream=asks) for asks in (False, True))
    assert stream.model_dump(include=MEANT) == whole.model_dump(include=MEANT)


def test_a_stream_of_chat_completions_counts_only_for_who_asks() -> None:
    to, body = asked("openai", stream=True)
    plain = json.loads(body)
    del plain["stream_options"]
    counted = stage().perform(to, header(), body)
    silent = stage().perform(to, header(), json.dumps(plain).encode())
    assert decoded("openai", came(counted), stream=True).usage is not None
    assert decoded("openai", came(silent), stream=True).usage is None
    assert silent.call is not None
    assert silent.call.usage is None


@EVERY
@BOTH
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_raw_answers_of_a_script_are_said_in_every_dialect(name: str, stream: bool, turn: int) -> None:
    script = "wrong:odd"
    play = played(name, stream=stream, script=script, turn=turn)
    if turn == 3:
        assert decoded(name, came(play), stream=stream).text in {"", None}
    else:
        told = failure(name, play, stream=stream)
        assert told.category == ("bad_response" if turn == 1 else "server_error")


@EVERY
@BOTH
def test_a_message_that_a_script_gives_raw_is_said_in_every_dialect(name: str, stream: bool) -> None:
    call: JsonValue = {"id": "mine", "type": "function", "function": {"name": "exec", "arguments": '{"cmd":"ls"}'}}
    message: JsonValue = {"role": "assistant", "content": "Look:", "reasoning_content": "hm", "tool_calls": [call]}
    whole: JsonValue = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    scripts: JsonValue = {"right": {"raw": [{"raw_message": message}, {"raw_response": whole}]}}
    file = policy_file({"m": {"script": "right:raw"}})
    made = Stage([scenario(script=scripts)], file, 0, Endpoints([*CODECS.values()]))
    to, body = asked(name, stream=stream)
    for turn in (1, 2):
        reply = decoded(name, came(made.perform(to, header(turn), body)), stream=stream)
        assert (reply.text, reply.calls[0].id, reply.calls[0].arguments) == ("Look:", "mine", {"cmd": "ls"})
        assert reply.reasoning == "hm"


@EVERY
@BOTH
def test_what_is_refused_is_refused_in_the_dialects_own_form(name: str, stream: bool) -> None:
    to, body = asked(name, stream=stream, model="nobody")
    unknown = failure(name, stage().perform(to, header(), body), stream=stream)
    assert (unknown.category, unknown.retryable) == ("model_not_found", False)
    to, body = asked(name, stream=stream)
    nameless = stage().perform(to, None, body)
    assert failure(name, nameless, stream=stream).category == "invalid_request"
    assert b"x-harness-rehearsal" in nameless.body
    assert stage().perform(to, header(), b"[]").status == 400


@EVERY
@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"model": 1, "messages": [], "input": []}', b'{"model": "m"}'],
    ids=["empty", "bytes", "array", "object", "deep", "model", "messages"],
)
def test_a_body_that_is_no_request_is_none(name: str, body: bytes) -> None:
    assert BY_NAME[name].read(asked(name)[0], body) is None


STATUSES: list[tuple[int, ProviderCategory]] = [
    (400, "invalid_request"),
    (401, "auth"),
    (403, "auth"),
    (429, "rate_limited"),
    (500, "server_error"),
    (503, "overloaded"),
]


@EVERY
@pytest.mark.parametrize(("status", "category"), STATUSES)
def test_an_error_is_decoded_as_what_it_is(name: str, status: int, category: ProviderCategory) -> None:
    play = played(name, fault=[{"kind": "status", "status": status, "rate": 1}])
    assert (play.status, failure(name, play, stream=False).category) == (status, category)


@EVERY
@BOTH
@pytest.mark.parametrize(
    ("status", "category"), [*STATUSES, (402, "quota_exhausted"), (404, "model_not_found"), (529, "overloaded")]
)
def test_an_error_that_calls_itself_a_success_is_the_one_that_was_declared(
    name: str, stream: bool, status: int, category: ProviderCategory
) -> None:
    for kind in ("error_body", "error_event"):
        play = played(name, stream=stream, fault=[{"kind": kind, "status": status, "rate": 1}])
        assert (play.status, play.streamed) == (200, stream and kind == "error_event")
        assert failure(name, play, stream=stream).category == category


@EVERY
@pytest.mark.parametrize(("form", "wait"), [("seconds", 7.5), ("milliseconds", 7.5), ("reset", 7.5), ("details", 7.5)])
def test_a_limit_says_when_to_come_back_in_each_form(name: str, form: str, wait: float) -> None:
    fault: dict[str, JsonValue] = {"kind": "status", "status": 429, "retry_after_s": wait, "retry_after_as": form}
    play = played(name, fault=[{**fault, "rate": 1}])
    told = failure(name, play, stream=False)
    assert (told.category, told.retry_after_s) == ("rate_limited", wait)
    assert len({"retry-after", "retry-after-ms", "x-ratelimit-reset-requests"} & play.headers.keys()) == (
        form != "details"
    )


def test_texts_of_other_clients_are_read_as_well() -> None:
    """Requests as no codec here writes them, and as the APIs take them."""
    responses = BY_NAME["openai-responses"].read("", b'{"model": "m", "input": "say it", "instructions": "a b"}')
    assert responses is not None
    assert (responses.prompt, responses.words) == ("say it", 4)
    parts: JsonValue = [{"type": "text", "text": "say "}, {"type": "image"}, {"type": "text", "text": "it"}]
    result: JsonValue = {"type": "tool_result", "content": [{"type": "text", "text": "done"}]}
    told: JsonValue = {
        "model": "m",
        "messages": [{"role": "user", "content": parts}, {"role": "user", "content": [result]}],
    }
    messages = BY_NAME["anthropic"].read("", json.dumps(told).encode())
    assert messages is not None
    assert (messages.prompt, messages.answers) == ("say it", ("done",))
    given: list[JsonValue] = [{"result": [1]}, {"x": "y"}, None]
    answers: list[JsonValue] = [{"name": "f", "response": one} for one in given]
    content: JsonValue = {"parts": [{"functionResponse": answer} for answer in answers]}
    gemini = BY_NAME["gemini"].read(
        "/v1beta/tunedModels/a%20b:generateContent", json.dumps({"contents": [content]}).encode()
    )
    assert gemini is not None
    assert (gemini.model, gemini.answers) == ("tunedModels/a b", ("[1]", '{"x":"y"}', "null"))


def test_a_stream_that_is_no_stream_of_events_is_not_spoken() -> None:
    _, body = asked("gemini", stream=True)
    assert stage().perform("/v1beta/models/m:streamGenerateContent", header(), body).status == 400


@EVERY
def test_models_are_listed_as_clients_of_the_dialect_expect_them(name: str) -> None:
    path = {"gemini": MODELS_PATHS["gemini"]}.get(name, f"/v1{MODELS_PATH}")
    headers = {"anthropic-version": "x"} if name == "anthropic" else {}
    listed = json.loads(stage().listing(path, headers).body)
    entries = listed["models" if name == "gemini" else "data"]
    names = [entry["name" if name == "gemini" else "id"] for entry in entries]
    assert names == (["models/m", "models/all"] if name == "gemini" else ["m", "all"])
    assert all(entry[PLAYS] == ["toy/ask-then-read"] for entry in entries)
    assert {"gemini": "models", "anthropic": "has_more"}.get(name, "object") in listed


def test_a_server_that_speaks_one_dialect_takes_no_other() -> None:
    endpoints = Endpoints([CODECS["anthropic"]])
    assert endpoints.bases == {"anthropic": ""}
    assert endpoints.at("/v1/chat/completions") is None
    assert endpoints.beside("/v1/chat/completions") is BY_NAME["anthropic"]
    assert endpoints.listing("/v1/models", {}) is BY_NAME["anthropic"]
    assert endpoints.chat is None
