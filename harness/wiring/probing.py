"""One request to a live endpoint, and what its answer comes to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec

from pydantic import TypeAdapter

from harness.episode.retrying import backoff_s
from harness.errors import ProviderError
from harness.ports import Transport, TurnContext, WireResponse
from harness.redaction import Scrubber
from harness.schema.message import ModelRequest, UserMessage
from harness.schema.rehearsal import Visit
from harness.schema.tool import ToolSpec
from harness.schema.wire_file import DeclaredTool
from harness.wiring.actors import Transports, live_spec, open_actor
from harness.wiring.decoding import Explained, judged, read_as, words_of
from harness.wiring.network import http_transport, require_network
from harness.wiring.places import Settings

__all__ = ["Bounds", "Probed", "Question", "probe", "read_tools"]

_TOOLS: TypeAdapter[tuple[DeclaredTool, ...]] = TypeAdapter(tuple[DeclaredTool, ...])
_P = ParamSpec("_P")
_VISIT = Visit(scenario="wire/probe", trial=1, turn=1, attempt=1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of a probe: ``deadline_s`` for each attempt, ``read_s`` for the silence in it; at most ``retries`` more."""

    deadline_s: float
    read_s: float | None
    retries: int


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, the tools that are declared with it, and generation settings as ``NAME=VALUE`` texts."""

    prompt: str
    tools: tuple[ToolSpec, ...] = ()
    sets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Probed:
    """What came of a probe, after so many ``attempts``.

    A provider may have put the key into its answer: ``scrubber`` takes it out of what is shown.
    """

    found: Explained
    attempts: int
    scrubber: Scrubber


class _LookedAt:
    """A transport that keeps the last answer it read."""

    def __init__(self, inner: Transport) -> None:
        self.last: WireResponse | None = None
        self.send, self.close = self._keeping(inner.send), inner.close

    def _keeping(self, send: Callable[_P, WireResponse]) -> Callable[_P, WireResponse]:
        def keep(*args: _P.args, **kwargs: _P.kwargs) -> WireResponse:
            self.last = None
            self.last = send(*args, **kwargs)
            return self.last

        return keep


def read_tools(path: Path) -> tuple[ToolSpec, ...]:
    """The tools in a JSON file: a list of ``{"name", "parameters", "description"?}``. Raises UsageError."""
    return tuple(one.spec for one in read_as(path, _TOOLS, 'a list of {"name", "parameters"}'))


def probe(place: Settings, actor: str, question: Question, bounds: Bounds) -> Probed:
    """What the model of ``actor`` answers.

    An attempt is made again only where nothing of an answer had come and the failure may be over within the time that
    an attempt has. Raises InputError.
    """
    require_network(place)
    spec, tools = live_spec(place, actor, question.sets), question.tools
    http: Transport = http_transport(place, spec.identity.provider, read_s=bounds.read_s)
    looked = _LookedAt(http)
    asked = open_actor(place, spec, Transports(place), looked)
    model = spec.identity.model or ""
    request = ModelRequest(model=model, messages=(UserMessage(text=question.prompt),), tools=tools)
    context = TurnContext(
        turn=1, deadline_s=bounds.deadline_s, cancelled=lambda: False, substitute=lambda text: text, visit=_VISIT
    )
    scrubber = _scrubber(place, spec.key_env)
    attempt, waiting = 1, threading.Event()
    try:
        while True:
            try:
                reply = asked.reply(request, context)
            except ProviderError as error:
                pause_s = max(backoff_s(attempt), error.retry_after_s or 0.0)
                is_final = attempt > bounds.retries or not error.retryable or error.delivered
                if is_final or pause_s > bounds.deadline_s:
                    said = () if looked.last is None else words_of(looked.last.body.decode("utf-8", "replace"))
                    found = Explained(error.partial, error, judged(error.partial, error, tools), said, None)
                    return Probed(found, attempt, scrubber)
                waiting.wait(pause_s)
                attempt += 1
            else:
                return Probed(Explained(reply, None, judged(reply, None, tools), (), None), attempt, scrubber)
    finally:
        http.close()


def _scrubber(place: Settings, key_env: str | None) -> Scrubber:
    variable = key_env or ""
    key = place.environ.get(variable, "").strip()
    return Scrubber({variable: key} if key else {})
