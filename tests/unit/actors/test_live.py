"""A live actor: one attempt through codec and network."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import httpx
import pytest
import respx

from harness.actors.live import SecretKey, build
from harness.errors import ProviderError, UsageError
from harness.ports import TurnContext, WireResponse
from harness.providers._http import HttpTransport
from harness.providers.openai import build as codec
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.message import GenerationSettings, ModelRequest, Reply, UserMessage
from harness.schema.rehearsal import Visit

URL = "https://provider.test/v1"
IDENTITY = ActorIdentity(
    ref="openai/model-a",
    kind="live",
    provider="openai",
    model="model-a",
    settings=GenerationSettings(temperature=0.25),
    digest="sha256:0",
)
SPEC = ActorSpec(identity=IDENTITY, base_url=URL + "/", key_env="OPENAI_API_KEY")
REQUEST = ModelRequest(model="", messages=(UserMessage(text="go"),), tools=())
VISIT = Visit(scenario="pack/name", trial=1, turn=1, attempt=1)
CONTEXT = TurnContext(turn=1, deadline_s=5.0, cancelled=lambda: False, substitute=lambda text: text, visit=VISIT)
BODY = {"model": "model-a-2026", "choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]}


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport(transport=httpx.HTTPTransport())
    yield made
    made.close()


def test_the_reply_of_the_provider_is_the_reply(transport: HttpTransport) -> None:
    actor = build(SPEC, codec(), transport.send, SecretKey("canary", "OPENAI_API_KEY"))
    with respx.mock() as mocked:
        route = mocked.post(URL + "/chat/completions").mock(return_value=httpx.Response(200, json=BODY))
        reply = actor.reply(REQUEST, CONTEXT)
    actor.close()
    request = route.calls.last.request
    assert (reply.text, reply.model, reply.finish, reply.usage) == ("Done.", "model-a-2026", "stop", None)
    assert request.headers["authorization"] == "Bearer canary"
    assert json.loads(request.content)["model"] == "model-a"
    assert json.loads(request.content)["temperature"] == 0.25
    assert actor.identity is IDENTITY


KEY = "sk-canary-0123456789abcdef"
ARGUMENTS = json.dumps({"cmd": f"echo {KEY}", "list": [KEY, {KEY: 1}]})


@pytest.mark.parametrize("form", [KEY, b64encode(KEY.encode()).decode(), KEY.encode().hex(), KEY[:9] + "\\n" + KEY[9:]])
def test_a_key_that_the_provider_repeats_is_in_no_part_of_the_reply(transport: HttpTransport, form: str) -> None:
    call = {"id": form, "type": "function", "function": {"name": form, "arguments": ARGUMENTS.replace(KEY, form)}}
    message = {
        "odd\ud800": 1,
        "content": f"It is {form}. \ud800",
        "reasoning_content": form,
        "tool_calls": [call],
        "refusal": None,
    }
    choice = {"message": message, "finish_reason": "tool_calls"}
    body = {"model": form, "system_fingerprint": form, "choices": [choice]}
    actor = build(SPEC, codec(), transport.send, SecretKey(KEY, "OPENAI_API_KEY"))
    with respx.mock() as mocked:
        mocked.post(URL + "/chat/completions").mock(
            return_value=httpx.Response(200, content=json.dumps(body).encode("ascii"))
        )
        reply = actor.reply(REQUEST, CONTEXT)
    kept = json.dumps(reply.model_dump(mode="json")).encode("ascii")
    SecretGuard([KEY]).check(kept)
    assert form.encode() not in kept
    assert (reply.text, reply.finish) == ("It is [mask]. \ud800", "tool_calls")
    assert isinstance(reply.opaque, dict)
    assert "odd\ud800" in reply.opaque
    (one,) = reply.calls
    assert json.loads(one.arguments_raw) == one.arguments == {"cmd": "echo [mask]", "list": ["[mask]", {"[mask]": 1}]}


def test_a_reply_without_the_key_is_as_the_provider_sent_it(transport: HttpTransport) -> None:
    said = 'Authorization: Bearer of-nobody, https://user:pass@example.test {"a":  1}'
    choice = {"message": {"content": said}, "finish_reason": "stop"}
    actor = build(SPEC, codec(), transport.send, SecretKey(KEY, "OPENAI_API_KEY"))
    with respx.mock() as mocked:
        mocked.post(URL + "/chat/completions").mock(return_value=httpx.Response(200, json={"choices": [choice]}))
        assert actor.reply(REQUEST, CONTEXT).text == said


def test_no_key_means_no_credentials(transport: HttpTransport) -> None:
    with respx.mock() as mocked:
        route = mocked.post(URL + "/chat/completions").mock(return_value=httpx.Response(200, json=BODY))
        build(SPEC, codec(), transport.send).reply(REQUEST, CONTEXT)
    assert "authorization" not in route.calls.last.request.headers


def test_a_failure_of_the_provider_is_raised_and_asked_once(transport: HttpTransport) -> None:
    with respx.mock() as mocked:
        route = mocked.post(URL + "/chat/completions").mock(return_value=httpx.Response(503, text="<html>"))
        with pytest.raises(ProviderError) as caught:
            build(SPEC, codec(), transport.send).reply(REQUEST, CONTEXT)
    assert (caught.value.category, caught.value.retryable, route.call_count) == ("server_error", True, 1)


class Listener:
    """Remembers how calls ended."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, str | None, str | None]] = []

    def begun(self) -> int:
        return len(self.calls)

    def ended(self, begun: int, headers: Mapping[str, str], failure: ProviderError | None) -> None:
        self.calls.append((begun, headers.get("x-left"), None if failure is None else failure.category))


def test_how_each_call_ends_is_told_with_the_headers_of_its_answer(transport: HttpTransport) -> None:
    listener = Listener()
    actor = build(SPEC, codec(), transport.send, hearing=listener)
    answers: list[httpx.Response | Exception | type[Exception]] = [
        httpx.Response(200, json=BODY, headers={"X-Left": "3"}),
        httpx.Response(429, json={"error": {"message": "slow down"}}),
        httpx.ConnectError("refused"),
    ]
    with respx.mock() as mocked:
        mocked.post(URL + "/chat/completions").mock(side_effect=answers)
        assert actor.reply(REQUEST, CONTEXT).text == "Done."
        for _ in range(2):
            with pytest.raises(ProviderError):
                actor.reply(REQUEST, CONTEXT)
    assert listener.calls == [(0, "3", None), (1, None, "rate_limited"), (2, None, "connection_lost")]


@pytest.mark.parametrize(
    ("setting", "context", "streams"), [(None, True, True), (True, False, True), (None, False, False)]
)
def test_an_answer_is_asked_for_as_a_stream_where_settings_or_context_say_so(
    setting: bool | None, context: bool, streams: bool
) -> None:
    identity = IDENTITY.model_copy(update={"settings": GenerationSettings(stream=setting)})
    watched: list[bool] = []
    sent: list[dict[str, object]] = []
    wire = codec()
    said = Reply(text="Done.", finish="stop")

    def send(
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        sent.append(json.loads(body))
        watched.append(is_over is not None)
        return WireResponse(200, {}, b"".join(wire.encode_stream(said)) if is_over else wire.encode_reply(said))

    actor = build(SPEC.model_copy(update={"identity": identity}), wire, send)
    reply = actor.reply(REQUEST, replace(CONTEXT, streamed=context))
    assert (reply.text, watched, sent[0]["stream"]) == ("Done.", [streams], streams)
    assert actor.identity.settings == GenerationSettings(stream=setting)


def test_deadline_and_cancellation_reach_the_network() -> None:
    seen: list[object] = []

    def send(
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        seen.extend((url, deadline_s, cancelled(), is_over))
        return WireResponse(200, {}, json.dumps(BODY).encode())

    context = TurnContext(turn=2, deadline_s=1.5, cancelled=lambda: True, substitute=lambda text: text, visit=VISIT)
    build(SPEC, codec(), send).reply(REQUEST, context)
    assert seen == [URL + "/chat/completions", 1.5, True, None]


@pytest.mark.parametrize(
    "spec",
    [
        SPEC.model_copy(update={"base_url": None}),
        SPEC.model_copy(update={"identity": IDENTITY.model_copy(update={"model": None})}),
    ],
    ids=["address", "model"],
)
def test_a_spec_without_address_or_model_is_refused(spec: ActorSpec, transport: HttpTransport) -> None:
    with pytest.raises(UsageError, match="needs a model and an address"):
        build(spec, codec(), transport.send)
