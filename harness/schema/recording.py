"""Redacted exchanges of one episode with its provider, and what the control plane answered, as they are kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.actor import ActorIdentity, Provenance
from harness.schema.base import Digest, Frozen, JsonValue
from harness.schema.name import KindName, Pointer, ScenarioId
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import RedactedText

__all__ = [
    "Drift",
    "DriftCause",
    "Exchange",
    "PlaneAnswer",
    "Provenance",
    "RecordedRequest",
    "RecordedResponse",
    "Recording",
    "RecordingHeader",
    "RecordingLine",
    "Seal",
]


class RecordingHeader(Frozen):
    """First line. ``prompt`` and ``tools`` are digests after paths became placeholders.

    ``volatile`` are the pointers whose values were taken out of every plane answer and of every JSON text inside a
    request before anything was compared.
    """

    line: Literal["header"] = "header"
    format: Literal[1] = 1
    scenario: ScenarioId
    scenario_digest: Digest
    actor: ActorIdentity
    plane: PlaneIdentity
    trial: int
    prompt: Digest
    tools: Digest
    volatile: tuple[Pointer, ...] = Field(max_length=8)
    provenance: Provenance
    classifier_version: int


class RecordedRequest(Frozen):
    """What was asked. ``body`` is the JSON that was sent, or a text that was none; headers by allow-list."""

    method: str
    path: str
    headers: dict[str, str]
    body: JsonValue


class RecordedResponse(Frozen):
    """What came back. ``body`` is JSON where it was, else a text; ``encoding`` says which bytes a text stands for."""

    status: int
    headers: dict[str, str]
    body: JsonValue
    encoding: Literal["json", "utf-8", "base64"]


class Exchange(Frozen):
    """One request and its answer, in order. ``key`` is the digest of the request as it is compared."""

    line: Literal["exchange"] = "exchange"
    number: int
    key: Digest
    request: RecordedRequest
    response: RecordedResponse


class PlaneAnswer(Frozen):
    """What the control plane answered at a step (ordinal), without volatile values, paths as placeholders."""

    line: Literal["answer"] = "answer"
    step: int
    kind: KindName | None
    exit_code: int | None
    answer: JsonValue
    key: Digest


class Seal(Frozen):
    """Last line: how many lines stand before it, and the digest over their digests. Without it a file is partial."""

    line: Literal["seal"] = "seal"
    lines: int
    digest: Digest


RecordingLine = Annotated[RecordingHeader | Exchange | PlaneAnswer | Seal, Field(discriminator="line")]


class Recording(Frozen):
    """A whole recording. ``digest`` is its seal's."""

    header: RecordingHeader
    exchanges: tuple[Exchange, ...]
    answers: tuple[PlaneAnswer, ...]
    digest: Digest


#: What changed since a recording was made.
DriftCause = Literal[
    "scenario",
    "prompt",
    "tools",
    "plane_version",
    "plane_answer",
    "settings",
    "classifier",
    "request",
    "reply",
    "not_asked",
]


class Drift(Frozen):
    """One difference between a recording and now.

    ``step`` is the ordinal of the plane answer, ``exchange`` the number of the recorded request it is nearest to.
    ``pointer`` names the place in the request's body or in the plane's answer. What stands beside these is named by its
    place in the recorded line: ``/entry/request/method``, ``/entry/exit_code``. ``recorded`` and ``now`` are shapes or
    values short enough to be read, made by ``redaction``.
    """

    cause: DriftCause
    step: int | None = None
    exchange: int | None = None
    pointer: Pointer | None = None
    recorded: RedactedText | None = None
    now: RedactedText | None = None
