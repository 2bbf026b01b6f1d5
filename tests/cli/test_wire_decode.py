"""Captured answers of every dialect explained, and one request to a live endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from chat_server import ChatServer, call, completion, serving, text
from pydantic import JsonValue

from harness import catalog
from harness.ports import Provider
from harness.schema.base import canonical_json
from harness.schema.message import Reply, Usage
from harness.schema.tool import ToolCall
from harness.schema.wire_file import API_CODECS

KEY = "sk-canary-0123456789"
TOOL: dict[str, JsonValue] = {"name": "run", "parameters": {"type": "object"}}
CALLED = Reply(
    text="Looking.",
    calls=(
        ToolCall(id="toolu_1", name="run", arguments_raw='{"a":1}', arguments={"a": 1}),
        ToolCall(id="toolu_2", name="walk", arguments_raw="{}", arguments={}),
    ),
    finish="tool_calls",
    usage=Usage(input_tokens=5, output_tokens=2),
)


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


def codec(api: str) -> Provider:
    made: Provider = catalog.module("providers", API_CODECS[api]).build()
    return made


def written(folder: Path, name: str, **fields: JsonValue) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"id": name, **fields}), encoding="utf-8")
    return str(path)


def whole(api: str, reply: Reply, **more: JsonValue) -> dict[str, JsonValue]:
    return {"api": api, "http": {"status": 200, "body_text": codec(api).encode_reply(reply).decode()}, **more}


there = [api for api, name in API_CODECS.items() if name in catalog.names("providers")]
every_api = pytest.mark.parametrize("api", there)


@every_api
def test_calls_are_told_with_what_becomes_of_them_and_answered_in_the_next_request(
    harness: Harness, tmp_path: Path, api: str
) -> None:
    context: JsonValue = {"tools": [TOOL], "tool_results": ["seen-by-run"], "pending_user_text": "and-hurry"}
    file = written(tmp_path, "mine", **whole(api, CALLED, context=context))

    code, out, err = harness("wire", "decode", file, "--format", "jsonl")

    told = json.loads(out)
    assert (code, err, told["id"], told["text"], told["finish"]) == (0, "", "mine", "Looking.", "tool_calls")
    run, walk = told["tool_calls"]
    assert (run["name"], run["arguments"], "fault" in run, "execute" in run) == ("run", {"a": 1}, False, False)
    assert (walk["fault"], walk["execute"]) == ("unknown_tool", False)
    assert told["usage"] == {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    sent = canonical_json(told["next_request"])
    assert sent.index("seen-by-run") < sent.index("unknown_tool") < sent.index("and-hurry")


@every_api
def test_after_the_last_word_nothing_would_be_sent(harness: Harness, tmp_path: Path, api: str) -> None:
    file = written(tmp_path, "last", **whole(api, Reply(text="Done.", finish="stop")))
    assert json.loads(harness("wire", "decode", file, "--format", "jsonl")[1])["next_request"] is None


@every_api
def test_a_stream_is_told_as_the_whole_answer_is(harness: Harness, tmp_path: Path, api: str) -> None:
    lines: list[JsonValue] = []
    for event in codec(api).encode_stream(CALLED):
        lines += event.decode().removesuffix("\n").split("\n")
    http: JsonValue = {"status": 200, "headers": {"Content-Type": "text/event-stream"}, "body_sse_lines": lines}
    files = [
        written(tmp_path, "a", **whole(api, CALLED)),
        written(tmp_path, "b", api=api, stream=True, http=http),
    ]
    _, out, _ = harness("wire", "decode", *files, "--format", "jsonl")
    one, other = (json.loads(line) for line in out.splitlines())
    for key in ("text", "finish", "usage", "error"):
        assert one[key] == other[key], key
    assert [call["arguments"] for call in one["tool_calls"]] == [call["arguments"] for call in other["tool_calls"]]


@every_api
def test_an_error_is_told_with_what_may_be_done_and_the_provider_s_own_words(
    harness: Harness, tmp_path: Path, api: str
) -> None:
    body = json.dumps({"error": {"message": "too many of you", "code": 429}})
    http: JsonValue = {"status": 429, "headers": {"Retry-After": "7"}, "body_text": body}
    file = written(tmp_path, "busy", api=api, http=http)

    error = json.loads(harness("wire", "decode", file, "--format", "jsonl")[1])["error"]
    assert (error["category"], error["retryable"], error["http_status"]) == ("rate_limited", True, 429)
    assert error["retry_after_s"] == 7
    assert "too many of you" in error["said"]

    shown = harness("wire", "decode", file)[1]
    assert "may be sent again, after 7 s" in shown
    assert "it says    too many of you" in shown


def test_answers_that_followed_are_told_too(harness: Harness, tmp_path: Path) -> None:
    api = "openai-chat"
    then: JsonValue = [
        {"status": 200, "body_text": codec(api).encode_reply(Reply(text="Bye.", finish="stop")).decode()}
    ]
    file = written(tmp_path, "two", **whole(api, CALLED, then=then))
    told = json.loads(harness("wire", "decode", file, "--format", "jsonl")[1])
    assert [one["text"] for one in told["then"]] == ["Bye."]
    assert "two, then 1" in harness("wire", "decode", file)[1]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is no JSON that can be read"),
        ("[]", "the whole: "),
        ('{"id": "x", "api": "telepathy", "http": {"status": 200, "body_text": ""}}', "api: "),
        ('{"id": "x", "api": "openai-chat", "http": {"status": 200}}', "http: "),
    ],
    ids=["broken", "list", "api", "no body"],
)
def test_a_file_that_cannot_be_used_is_one_line_and_the_others_are_told(
    harness: Harness, tmp_path: Path, content: str, told: str
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(content, encoding="utf-8")
    good = written(tmp_path, "good", **whole("openai-chat", Reply(text="Hi.", finish="stop")))

    code, out, err = harness("wire", "decode", str(bad), str(tmp_path / "none.json"), good, "--format", "jsonl")

    assert (code, json.loads(out)["id"]) == (4, "good")
    first, second = err.splitlines()
    assert first.startswith(f"harness: {bad}: {told}")
    assert str(tmp_path / "none.json") in second


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_API_KEY", KEY)
    with serving(lambda body: call("ls") if "tools" in body else text("hello")) as made:
        yield made


@pytest.mark.parametrize("name", ["made.yaml", "made.yml"])
def test_a_cassette_is_sent_to_the_command_that_reads_it(harness: Harness, tmp_path: Path, name: str) -> None:
    code, out, err = harness("wire", "decode", str(tmp_path / name))

    assert (code, out) == (4, "")
    assert f"harness wire import {tmp_path / name} --out DIR" in err


def test_a_probe_sends_one_request_and_explains_its_answer(
    harness: Harness, server: ChatServer, tmp_path: Path
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "exec_command", "parameters": {"type": "object"}}]), encoding="utf-8")
    actor = f"openai-compatible/m-1@{server.url}"

    words = ("--tools", str(tools), "--prompt", "go", "--max-output-tokens", "9", "--format", "json")
    code, out, err = harness("wire", "probe", actor, *words)

    told = json.loads(out)
    assert (code, err, told["attempts"], told["error"]) == (0, "", 1, None)
    assert [(one["name"], one["arguments"]) for one in told["tool_calls"]] == [("exec_command", {"cmd": "ls"})]
    (body,) = server.bodies
    assert (body["messages"], body["max_tokens"]) == ([{"role": "user", "content": "go"}], 9)
    assert server.keys == [f"Bearer {KEY}"]


def test_a_probe_tries_again_as_often_as_it_is_told_and_never_shows_the_key(
    harness: Harness, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.wiring.probing.backoff_s", lambda _: 0.0)
    server.answer = lambda _: (503, json.dumps({"error": {"message": f"busy, {KEY}"}}).encode())

    code, out, err = harness("wire", "probe", f"openai-compatible/m@{server.url}", "--retries", "2", "--format", "json")

    told = json.loads(out)
    assert (code, told["attempts"], len(server.bodies)) == (2, 3, 3)
    assert (told["error"]["category"], told["error"]["retryable"]) == ("server_error", True)
    assert any("busy" in text for text in told["error"]["said"])
    assert KEY not in out + err
    assert KEY not in harness("wire", "probe", f"openai-compatible/m@{server.url}")[1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_key_that_an_answer_repeats_is_not_shown(harness: Harness, server: ChatServer, form: str) -> None:
    server.answer = lambda _: (200, completion(text(f"your key is {KEY}, is it not?")))
    code, out, _ = harness("wire", "probe", f"openai-compatible/m@{server.url}", "--format", form)
    assert code == 0
    assert "your key is" in out
    assert KEY not in out


def test_a_probe_waits_for_no_provider_longer_than_an_attempt_may_take(harness: Harness, server: ChatServer) -> None:
    error = {
        "message": "later",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "86400s"}],
    }
    server.answer = lambda _: (429, json.dumps({"error": error}).encode())
    words = ("--retries", "3", "--deadline", "5", "--format", "json")
    code, out, _ = harness("wire", "probe", f"openai-compatible/m@{server.url}", *words)
    assert (code, json.loads(out)["attempts"], len(server.bodies)) == (2, 1, 1)
    assert json.loads(out)["error"]["retry_after_s"] == 86400


def test_a_time_that_is_none_is_one_line(harness: Harness, tmp_path: Path) -> None:
    http: JsonValue = {"status": 429, "body_text": "{}"}
    file = written(tmp_path, "late", api="openai-chat", http=http, context={"now": "tomorrow"})
    code, out, err = harness("wire", "decode", file)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith("harness: late: context/now: no time; allowed: ")


@pytest.mark.parametrize(("content", "told"), [("[", "is no JSON"), ('[{"parameters": {}}]', "0/name: ")])
def test_tools_that_cannot_be_read_are_one_line(
    harness: Harness, server: ChatServer, tmp_path: Path, content: str, told: str
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(content, encoding="utf-8")
    code, out, err = harness("wire", "probe", f"openai-compatible/m@{server.url}", "--tools", str(tools))
    assert (code, out, server.bodies) == (4, "", [])
    assert told in err
