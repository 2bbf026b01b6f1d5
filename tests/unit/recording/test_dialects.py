from __future__ import annotations

from pathlib import Path

import pytest
from cassettes import CHAT, exchange, written

from harness.documents.yaml_values import YamlValue
from harness.recording.bodies import is_stream
from harness.recording.cassette import Captured, read_cassette
from harness.recording.dialects import dialect_of, model_of

HOST = "https://host.example"
GEMINI = f"{HOST}/v1beta/models/gemini-x"


def captured(
    tmp_path: Path, url: str, asked: YamlValue = None, answered: YamlValue = None, method: str = "POST"
) -> Captured:
    (one,) = read_cassette(written(tmp_path / "a.yaml", exchange(url, asked, answered, method=method)))
    return one


@pytest.mark.parametrize(
    ("url", "api"),
    [
        (CHAT, "openai-chat"),
        (f"{HOST}/openai/v1/chat/completions/?a=b", "openai-chat"),
        (f"{HOST}/openai/deployments/d/chat/completions?api-version=2", "openai-chat"),
        (f"{HOST}/v1/responses", "openai-responses"),
        (f"{HOST}/v1/messages?beta=true", "anthropic"),
        (f"{GEMINI}:generateContent?key=k", "gemini"),
        (f"{GEMINI}:streamGenerateContent?alt=sse", "gemini"),
        (f"{HOST}/anthropic/v1/messages", "anthropic"),
        (f"{HOST}/v1/threads/t/messages", None),
        (f"{HOST}/channels/1/messages", None),
        (f"{HOST}/surveys/1/responses", None),
        (f"{HOST}/v1/messages/count_tokens", None),
        (f"{HOST}/v1/messages/batches", None),
        (f"{HOST}/v1/responses/resp_1/cancel", None),
        (f"{HOST}/v1/responses/input_tokens", None),
        (f"{HOST}/v1/embeddings", None),
        (f"{HOST}/v1/models", None),
        (f"{GEMINI}:countTokens", None),
        (f"{GEMINI}:batchGenerateContent", None),
        (f"{HOST}/download?next=/v1/chat/completions", None),
    ],
)
def test_the_end_of_the_path_tells_the_dialect(tmp_path: Path, url: str, api: str | None) -> None:
    assert dialect_of(captured(tmp_path, url, {"a": 1}, {"b": 2})) == api


@pytest.mark.parametrize(
    ("end", "asked", "api"),
    [
        ("responses", {"input": "Hi."}, "openai-responses"),
        ("responses/", {"answers": []}, None),
        ("messages", {"messages": []}, "anthropic"),
        ("messages", {"content": "Hi."}, None),
        ("messages", None, None),
    ],
)
def test_an_end_that_others_have_too_counts_where_the_request_fits(
    tmp_path: Path, end: str, asked: YamlValue, api: str | None
) -> None:
    assert dialect_of(captured(tmp_path, f"{HOST}/{end}", asked)) == api


@pytest.mark.parametrize(
    ("answered", "api"),
    [
        ({"object": "chat.completion", "choices": []}, "openai-chat"),
        ('data: {"object":"chat.completion.chunk","choices":[]}\n\ndata: [DONE]\n\n', "openai-chat"),
        ({"object": "response", "output": []}, "openai-responses"),
        ('event: response.created\ndata: {"type":"response.created"}\n\n', "openai-responses"),
        ({"type": "message", "content": []}, "anthropic"),
        ('event: message_start\ndata: {"type":"message_start"}\n\n', "anthropic"),
        ({"candidates": []}, "gemini"),
        ('data: {"candidates": []}\n\n', "gemini"),
        ({"object": "list", "data": []}, None),
        ({"type": 5}, None),
        (["candidates"], None),
        ("<html>", None),
    ],
)
def test_where_the_path_says_nothing_the_answer_tells(tmp_path: Path, answered: YamlValue, api: str | None) -> None:
    assert dialect_of(captured(tmp_path, f"{HOST}/gateway", {"a": 1}, answered)) == api


def test_only_calls_have_a_dialect_and_answers_that_are_fetched_later(tmp_path: Path) -> None:
    later = f"{HOST}/v1/responses/resp_0a1b"
    assert dialect_of(captured(tmp_path, later, method="GET")) == "openai-responses"
    assert dialect_of(captured(tmp_path, CHAT, method="GET")) is None
    assert dialect_of(captured(tmp_path, CHAT, method="OPTIONS")) is None
    assert dialect_of(captured(tmp_path, later, method="DELETE"), "openai-responses") is None
    assert dialect_of(captured(tmp_path, f"{HOST}/a", answered={"candidates": []}, method="GET")) is None


def test_a_given_dialect_goes_over_address_and_answer(tmp_path: Path) -> None:
    assert dialect_of(captured(tmp_path, CHAT, {"a": 1}), "anthropic") == "anthropic"
    assert dialect_of(captured(tmp_path, f"{HOST}/gateway", {"a": 1}), "gemini") == "gemini"
    assert dialect_of(captured(tmp_path, f"{HOST}/upload", "no JSON"), "gemini") is None
    assert dialect_of(captured(tmp_path, CHAT, "no JSON"), "gemini") == "openai-chat"


@pytest.mark.parametrize(
    ("url", "asked", "model"),
    [
        (CHAT, {"model": " gpt-x "}, "gpt-x"),
        (f"{GEMINI}:generateContent", {"contents": []}, "gemini-x"),
        (f"{HOST}/v1beta/models/tuned%2Fmine:generateContent", None, "tuned/mine"),
        (f"{HOST}/openai/deployments/mine/chat/completions", {"messages": []}, "mine"),
        (CHAT, {"model": 5}, None),
        (CHAT, {"model": " "}, None),
        (CHAT, "no JSON", None),
        (CHAT, None, None),
    ],
)
def test_the_model_is_what_was_asked_for(tmp_path: Path, url: str, asked: YamlValue, model: str | None) -> None:
    assert model_of(captured(tmp_path, url, asked)) == model


@pytest.mark.parametrize(
    ("said", "body", "streamed"),
    [
        ("text/event-stream; charset=utf-8", b"data: {}\n\n", True),
        ("Text/Event-Stream", b": comment\n\n", True),
        ("application/octet-stream", b"event: a\ndata: {}\n\n", True),
        ("", b"\n data: {}\n\n", True),
        ("text/event-stream", b'{"error": {}}', False),
        ("text/event-stream", b"", True),
        ("application/json", b"{}", False),
    ],
)
def test_a_stream_is_known_by_what_it_says_and_looks_like(said: str, body: bytes, streamed: bool) -> None:
    assert is_stream({"content-type": said}, body) is streamed
