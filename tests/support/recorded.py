"""Recordings for tests: a header, exchanges, and clients over the transports under test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import httpx

from harness.recording import Dress, answer_key, dump, load, reseal
from harness.recording.transport import RecordingTransport, ReplayTransport
from harness.schema.actor import ActorIdentity
from harness.schema.base import JsonValue, digest_text
from harness.schema.message import GenerationSettings
from harness.schema.process import PlaneIdentity
from harness.schema.recording import Exchange, PlaneAnswer, RecordedRequest, Recording, RecordingHeader

URL = "https://api.example.test/v1/chat/completions"
PATH = "/v1/chat/completions"
ACTOR = ActorIdentity(
    ref="openai/gpt-x",
    kind="live",
    provider="openai",
    model="gpt-x",
    settings=GenerationSettings(temperature=0.5),
    digest=digest_text("actor"),
)

Answer = tuple[int, Mapping[str, str], bytes]


PLANE = PlaneIdentity(name="toy", version="1", wheel_sha256="0" * 64)


def header(volatile: Sequence[str] = (), trial: int = 1) -> RecordingHeader:
    return RecordingHeader(
        scenario="demo/first",
        scenario_digest=digest_text("scenario"),
        actor=ACTOR,
        plane=PLANE,
        trial=trial,
        prompt=digest_text("prompt"),
        tools=digest_text("tools"),
        volatile=tuple(volatile),
        provenance="simulated",
        classifier_version=1,
    )


def request(asked: JsonValue, dress: Dress | None = None) -> RecordedRequest:
    """One whose body is JSON."""
    import json

    made = dress or Dress()
    return made.request("POST", PATH, {"content-type": "application/json"}, json.dumps(asked).encode())


def exchange(number: int, asked: JsonValue, answered: JsonValue = "ok", *, dress: Dress | None = None) -> Exchange:
    """One whose request and answer are JSON."""
    import json

    made = dress or Dress()
    response = made.response(200, {"content-type": "application/json"}, json.dumps(answered).encode())
    return made.exchange(number, request(asked, made), response)


def answer(step: int, kind: str | None, exit_code: int | None, said: JsonValue) -> PlaneAnswer:
    """What a control plane answered, keyed."""
    return PlaneAnswer(step=step, kind=kind, exit_code=exit_code, answer=said, key=answer_key(kind, exit_code, said))


def recording(
    exchanges: Sequence[Exchange], answers: Sequence[PlaneAnswer] = (), volatile: Sequence[str] = ()
) -> Recording:
    """A sealed one."""
    return load(dump(header(volatile), exchanges, answers))


def resealed(made: Recording, exchanges: Sequence[Exchange]) -> Recording:
    """The recording with other exchanges, sealed anew."""
    return reseal(made.model_copy(update={"exchanges": tuple(exchanges)}))


def recorded(
    answers: Sequence[Answer],
    asked: Sequence[bytes],
    *,
    dress: Dress | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[Exchange]:
    """What a recording transport keeps of requests with the bodies ``asked``, answered in turn."""
    kept: list[Exchange] = []
    waiting = list(answers)

    def serve(_: httpx.Request) -> httpx.Response:
        status, fields, body = waiting.pop(0)
        return httpx.Response(status, headers=fields, content=body)

    transport = RecordingTransport(httpx.MockTransport(serve), kept.append, dress or Dress())
    with httpx.Client(transport=transport) as client:
        for body in asked:
            client.post(URL, content=body, headers={"content-type": "application/json", **(headers or {})})
    return kept


def replayed(made: Recording, dress: Dress | None = None) -> tuple[ReplayTransport, Callable[[JsonValue], str]]:
    """A replay, and a function that asks it and gives the body of the answer."""
    transport = ReplayTransport(made, dress or Dress())
    client = httpx.Client(transport=transport)

    def ask(body: JsonValue) -> str:
        return client.post(URL, json=body).text

    return transport, ask
