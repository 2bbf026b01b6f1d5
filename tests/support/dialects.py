"""Requests and answers in each dialect that a rehearsal speaks, by its codec."""

from __future__ import annotations

import pytest
from rehearsing import CODECS, header, stage

from harness.errors import ProviderError
from harness.ports import Cut, WireResponse
from harness.rehearsal.performance import Performance
from harness.schema.base import JsonValue
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    Message,
    ModelRequest,
    Reply,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from harness.schema.tool import ToolCall, ToolSpec

__all__ = ["BOTH", "EVERY", "MEANT", "asked", "came", "decoded", "failure", "played", "request", "target"]

PROMPT = "Please run `toy ask plane` first."
TOOL = ToolSpec(name="exec", description="Runs.", parameters={"type": "object", "properties": {}})
#: What a reply means, whatever dialect it came in.
MEANT = {"text", "calls", "reasoning", "refusal", "finish", "usage", "quirks"}
EVERY = pytest.mark.parametrize("name", CODECS)
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def request(*answers: str, stream: bool = False, model: str = "m", prompt: str = PROMPT) -> ModelRequest:
    """A conversation that shows a prompt and these answers of a tool."""
    messages: list[Message] = [SystemMessage(text="Be brief."), UserMessage(text=prompt)]
    for number, answer in enumerate(answers):
        call = ToolCall(id=f"call-{number}", name="exec", arguments_raw='{"cmd":"x"}', arguments={"cmd": "x"})
        messages.append(AssistantMessage(text=None, calls=(call,)))
        messages.append(ToolMessage(call_id=call.id, name="exec", text=answer))
    settings = GenerationSettings(stream=True if stream else None, max_output_tokens=5)
    return ModelRequest(model=model, messages=tuple(messages), tools=(TOOL,), settings=settings)


def target(name: str, base: str, *, stream: bool = False, model: str = "m") -> str:
    """Where a request goes, its base URL's path before it."""
    return base + CODECS[name].path(request(stream=stream, model=model))


def asked(name: str, *answers: str, stream: bool = False, model: str = "m") -> tuple[str, bytes]:
    """Target and body of a request."""
    base = "/v1" if name.startswith("openai") else ""
    body = CODECS[name].encode_request(request(*answers, stream=stream, model=model))
    return target(name, base, stream=stream, model=model), body


def played(
    name: str, *answers: str, stream: bool = False, script: str = "reference", turn: int = 1, **policy: JsonValue
) -> Performance:
    """What a stage with one policy does for a request in that dialect."""
    to, body = asked(name, *answers, stream=stream)
    return stage(script, 0, **policy).perform(to, header(turn), body)


def came(play: Performance) -> WireResponse:
    """What a client has once the connection is over."""
    sent = play.pieces if play.breaks_at is None else play.pieces[: play.breaks_at]
    cut: Cut | None = None if play.breaks_at is None else "connection_lost"
    return WireResponse(play.status, play.headers, b"".join(sent), cut)


def decoded(name: str, response: WireResponse, *, stream: bool) -> Reply:
    """The reply in it. Raises ProviderError."""
    codec = CODECS[name]
    return codec.decode_stream(response) if stream else codec.decode_reply(response)


def failure(name: str, play: Performance, *, stream: bool) -> ProviderError:
    """The error that an answer comes to."""
    with pytest.raises(ProviderError) as caught:
        decoded(name, came(play), stream=stream)
    return caught.value
