"""What vcrpy itself wrote is imported, and answers the same requests again without a network."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from chat_server import call, completion, serving, text
from pydantic import JsonValue

from harness import catalog, recording
from harness.clock import SystemClock
from harness.errors import ReplayMismatchError
from harness.ports import Transport, TurnContext
from harness.recording import Dress
from harness.recording.transport import ReplayTransport
from harness.redaction import Scrubber
from harness.schema.message import AssistantMessage, Message, ModelRequest, Reply, ToolMessage, UserMessage
from harness.schema.recording import Recording
from harness.schema.rehearsal import Visit
from harness.schema.tool import ToolSpec
from harness.wiring.actors import Transports, live_spec, open_actor
from harness.wiring.decoding_recordings import explain_recording
from harness.wiring.importing import Importer
from harness.wiring.places import Settings, settings

vcr: ModuleType = pytest.importorskip("vcr")
KEY = "sk-canary-0123456789"
TOOLS = (ToolSpec(name="exec_command", description="Run.", parameters={"type": "object"}),)
CONTEXT = TurnContext(
    turn=1,
    deadline_s=30,
    cancelled=lambda: False,
    substitute=lambda text: text,
    visit=Visit(scenario="demo/first", trial=1, turn=1, attempt=1),
)


def answer(asked: dict[str, JsonValue]) -> dict[str, JsonValue]:
    messages = asked["messages"]
    assert isinstance(messages, list)
    return call("ls") if len(messages) == 1 else text("A dóor.")


def talk(place: Settings, address: str, transport: Transport) -> list[Reply]:
    """Two turns of our own client, which then lets go of its connections."""
    with closing(transport):
        return _turns(place, address, transport)


def _turns(place: Settings, address: str, transport: Transport) -> list[Reply]:
    spec = live_spec(place, f"openai-compatible/m-1@{address}", ())
    actor = open_actor(place, spec, Transports(place), transport)
    messages: list[Message] = [UserMessage(text="Look.")]
    replies = [actor.reply(ModelRequest(model="m-1", messages=tuple(messages), tools=TOOLS), CONTEXT)]
    messages.append(AssistantMessage(text=replies[0].text, calls=replies[0].calls, opaque=replies[0].opaque))
    messages.append(ToolMessage(call_id="call-1", name="exec_command", text="a door"))
    return [*replies, actor.reply(ModelRequest(model="m-1", messages=tuple(messages), tools=TOOLS), CONTEXT)]


def http(inner: httpx.BaseTransport | None = None) -> Transport:
    made: Transport = catalog.shared("providers", "http").HttpTransport(transport=inner, clock=SystemClock())
    return made


def imported(place: Settings, cassette: Path) -> tuple[Path, Recording]:
    (made,) = Importer(place, place.cwd / "kept").take(cassette).recordings
    return made.path, recording.load(made.path)


@pytest.mark.parametrize("serializer", ["yaml", "json"])
def test_our_own_client_is_answered_from_its_cassette_as_it_was(tmp_path: Path, serializer: str) -> None:
    place = settings({"HARNESS_API_KEY": KEY}, tmp_path)
    cassette = tmp_path / f"talk.{serializer}"
    with serving(answer) as server, vcr.use_cassette(str(cassette), serializer=serializer, record_mode="all"):
        live = talk(place, server.url, http(httpx.HTTPTransport()))
    assert KEY in cassette.read_text("utf-8")

    path, kept = imported(place, cassette)
    assert KEY not in path.read_text("utf-8")
    assert [found.reply for found in explain_recording(path)] == live
    replaying = ReplayTransport(kept, Dress(scrubber=Scrubber([KEY])))
    assert talk(place, "http://recording.invalid/v1", http(replaying)) == live
    with pytest.raises(ReplayMismatchError, match="more often than it was recorded"):
        talk(place, "http://recording.invalid/v1", http(replaying))


def test_compressed_answers_and_streams_are_read_as_vcrpy_writes_them(tmp_path: Path) -> None:
    codec = catalog.module("providers", "openai").build()
    events = b"".join(codec.encode_stream(Reply(text="In pieces.", finish="stop")))
    packed = gzip.compress(completion(text("Packed.")), mtime=0)
    bodies = [("content-encoding", "gzip", packed), ("content-type", "text/event-stream", events)]
    url = "https://api.openai.com/v1/chat/completions"
    asked = {"requests": [vcr.request.Request("POST", url, b'{"model":"m-1"}', {"x-api-key": KEY}) for _ in bodies]}
    came = [
        {"status": {"code": 200, "message": "OK"}, "headers": {name: [value]}, "body": {"string": body}}
        for name, value, body in bodies
    ]
    cassette = tmp_path / "talk.yaml"
    cassette.write_text(vcr.serialize.serialize({**asked, "responses": came}, vcr.serializers.yamlserializer), "utf-8")
    assert "!!binary" in cassette.read_text("utf-8")

    path, _ = imported(settings({}, tmp_path), cassette)
    replies = [found.reply for found in explain_recording(path)]
    assert [reply.text for reply in replies if reply is not None] == ["Packed.", "In pieces."]
