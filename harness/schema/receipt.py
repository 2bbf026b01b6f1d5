"""The redacted, deterministic record of one episode: facts only, no times, no texts."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final, Literal, NewType, TypeVar

from pydantic import AfterValidator, SerializerFunctionWrapHandler, model_serializer

from harness.schema.actor import ActorIdentity
from harness.schema.base import OF_ITS_TYPE, Digest, Frozen, Numerous, Plain, plain
from harness.schema.command import CommandShape
from harness.schema.evidence import Writer
from harness.schema.finding import FindingCheck
from harness.schema.message import FinishReason, Quirk
from harness.schema.name import Code, Fact, KindName, Pointer, ScenarioId
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.tool import ResultCode
from harness.schema.verdict import Cause, Verdict

__all__ = [
    "Boundary",
    "BoundaryChange",
    "Counters",
    "Finding",
    "Receipt",
    "RedactedText",
    "Step",
    "TurnSummary",
    "receipt_key",
]

#: A text that may be shown to anyone. Only ``harness.redaction`` makes one.
RedactedText = NewType("RedactedText", str)


_Value = TypeVar("_Value")


@lru_cache(4096)
def _one(value: _Value) -> _Value:
    return value


#: One object for all equal ones: a run has few scenarios, actors and planes, and its episodes end in few ways.
_SHARED: Final = AfterValidator(_one)


class Finding(Frozen):
    """One thing that was found wrong (or, on a pass, nothing).

    ``step`` is the ordinal of the step it belongs to. For answer checks ``pointer`` names the place, ``expected`` is
    from the scenario file and ``got`` is the value where it is a number, a boolean, null or a text that the scenario
    itself holds, else its shape. Of a classifier's finding ``got`` may tell calls instead, by
    kind and step, or a path. A ``drift`` tells what differs from a recording: ``expected`` is the recorded side,
    ``exchange`` the number of the recorded request, and only a drift can have one.
    """

    code: Code
    step: int | None = None
    check: FindingCheck | Literal["drift"]
    pointer: Pointer | None = None
    expected: RedactedText | None = None
    got: RedactedText | None = None
    exchange: int | None = None

    @model_serializer(mode="wrap")
    def _as_written(self, inner: SerializerFunctionWrapHandler) -> dict[str, object]:
        """No exchange is not written: most findings are no drift."""
        fields: dict[str, object] = inner(self)
        return fields if self.exchange is not None else {key: fields[key] for key in fields if key != "exchange"}


@plain
class Step(Plain):
    """One tool call, in order. ``kind`` is None only where the call could not be read at all.

    ``command_digest`` is over the stripped command, ``arguments_digest`` over the canonical arguments,
    ``answer_digest`` over a control plane's JSON answer without its volatile pointers; all three after workspace
    paths became placeholders. ``executed`` says whether anything ran.
    """

    ordinal: int
    turn: int
    tool: RedactedText
    kind: KindName | None
    code: Code | None = None
    result: ResultCode
    executed: bool
    refused: str | None = None
    command_digest: Digest | None = None
    arguments_digest: Digest | None = None
    answer_digest: Digest | None = None
    shape: Annotated[CommandShape | None, _SHARED] = None
    sets: tuple[Fact, ...] = ()


@plain
class TurnSummary(Plain):
    """One model turn: how it finished, whether it spoke, how many calls it made, what the decoder found odd."""

    turn: int
    finish: FinishReason | None
    said_text: bool
    calls: int
    quirks: tuple[Quirk, ...] = ()


@plain
class Counters(Plain):
    """How often."""

    model_turns: int
    tool_calls: int
    executed_calls: int
    refused_calls: int


class BoundaryChange(Frozen):
    """One change of the workspace, by whom, and whether the scenario allows it."""

    path: RedactedText
    change: Literal["added", "removed", "modified"]
    by: Writer
    allowed: bool


@plain
class Boundary(Plain):
    """What changed, from observation before and after each executed call. ``measured`` is False where it was not."""

    measured: bool
    changes: tuple[BoundaryChange, ...] = ()
    unexpected: int = 0


class Receipt(Numerous):
    """One episode. Its key is scenario digest, actor digest, plane (name, version, wheel), trial, attempt.

    ``definition_digest`` covers everything that was frozen at open, after workspace paths became placeholders.
    """

    schema_version: Annotated[Literal[1], OF_ITS_TYPE] = 1
    scenario: ScenarioId
    scenario_digest: Annotated[Digest, _SHARED]
    definition_digest: Annotated[Digest | None, _SHARED]
    classifier_version: int
    actor: Annotated[ActorIdentity, _SHARED]
    plane: Annotated[PlaneIdentity, _SHARED]
    trial: int
    attempt: int
    outcome: Annotated[Outcome, _SHARED]
    verdict: Verdict
    cause: Cause | None
    failure_code: Code | None
    findings: tuple[Finding, ...]
    facts: tuple[Fact, ...]
    steps: tuple[Step, ...]
    turns: tuple[Annotated[TurnSummary, _SHARED], ...]
    counters: Annotated[Counters, _SHARED]
    boundary: Annotated[Boundary, _SHARED]

    @property
    def key(self) -> str:
        """The join key of receipt and run log, one line."""
        return receipt_key(
            self.scenario, self.scenario_digest, self.actor, self.plane, trial=self.trial, attempt=self.attempt
        )

    @property
    def episode(self) -> str:
        """What all attempts at one episode have in common: the key of the first one."""
        return receipt_key(self.scenario, self.scenario_digest, self.actor, self.plane, trial=self.trial, attempt=1)


def receipt_key(
    scenario: str, scenario_digest: Digest, actor: ActorIdentity, plane: PlaneIdentity, *, trial: int, attempt: int
) -> str:
    """The key that the receipt of such an episode has: equal keys, equal questions."""
    which = plane.wheel_sha256 or plane.version
    return "|".join((scenario, scenario_digest, actor.digest, plane.ref, which, str(trial), str(attempt)))
