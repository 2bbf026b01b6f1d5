"""Redacted exchanges of one episode with its provider, and what the control plane answered, as they are kept."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from harness.schema.actor import ActorIdentity, Provenance
from harness.schema.base import OF_ITS_TYPE, Digest, Frozen, JsonValue
from harness.schema.name import KindName, Pointer, ScenarioId
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import RedactedText

__all__ = [
    "Drift",
    "Exchange",
    "PlaneAnswer",
    "Provenance",
    "RecordedRequest",
    "RecordedResponse",
    "Recording",
    "RecordingHeader",
    "RecordingLine",
    "RerecordSpec",
    "Seal",
    "Stale",
    "Wording",
]


class RecordingHeader(Frozen):
    """First line. ``prompt`` and ``tools`` are digests after paths became placeholders.

    ``volatile`` are the pointers whose values were taken out of every plane answer and of every JSON text inside a
    request before anything was compared. ``parts`` are short digests of the scenario's parts by their dotted keys;
    None in files that were written without them.

    What was imported is of no scenario and met no control plane: ``scenario`` is then ``imported/NAME``, and all that
    a scenario, a control plane and a judge say is None.
    """

    line: Literal["header"] = "header"
    format: Annotated[Literal[1], OF_ITS_TYPE] = 1
    scenario: ScenarioId
    scenario_digest: Digest | None
    actor: ActorIdentity
    plane: PlaneIdentity | None
    trial: int
    prompt: Digest | None
    tools: Digest | None
    volatile: tuple[Pointer, ...] = Field(max_length=32)
    provenance: Provenance
    classifier_version: int | None
    parts: dict[str, str] | None = None

    @model_validator(mode="after")
    def _is_of_a_scenario_or_imported(self) -> Self:
        of_scenario = (self.scenario_digest, self.plane, self.prompt, self.tools, self.classifier_version)
        if any((one is None) != (self.provenance == "imported") for one in of_scenario):
            raise ValueError("what is imported is of no scenario, and nothing else is")
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, inner: SerializerFunctionWrapHandler) -> dict[str, object]:
        """A file that was written without parts stays the same bytes."""
        fields: dict[str, object] = inner(self)
        return fields if self.parts is not None else {key: fields[key] for key in fields if key != "parts"}


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
Stale = Literal[
    "scenario",
    "prompt",
    "tools",
    "plane_version",
    "plane_answer",
    "settings",
    "classifier",
    "request",
    "extra_request",
    "reply",
    "not_asked",
]


class Wording(Frozen):
    """The first place where two texts differ, with what stands around it; both redacted as recordings are."""

    recorded: str
    now: str


class Drift(Frozen):
    """One difference between a recording and now; ``stale`` says of what, as codes of receipts do after ``stale_``.

    ``step`` is the ordinal of the plane answer, ``exchange`` the number of the recorded request it is nearest to.
    ``pointer`` names the place in the request's body or in the plane's answer. What stands beside these is named by its
    place in the recorded line: ``/entry/request/method``, ``/entry/exit_code``. ``recorded`` and ``now`` are shapes or
    values short enough to be read, made by ``redaction``. ``wording`` is never part of a receipt.
    """

    stale: Stale
    step: int | None = None
    exchange: int | None = None
    pointer: Pointer | None = None
    recorded: RedactedText | None = None
    now: RedactedText | None = None
    wording: Wording | None = None


class RerecordSpec(Frozen):
    """What ``harness record`` must be told to record an episode anew; ``into`` None is where it records anyway."""

    scenario: ScenarioId
    actor: str
    sets: tuple[str, ...] = ()
    simulated: bool = False
    into: str | None = None
