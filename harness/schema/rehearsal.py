"""What a simulated provider plays: policies, faults, who asks, and what was served."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field

from harness.schema.base import OF_ITS_TYPE, Frozen, Plain, plain
from harness.schema.message import Usage
from harness.schema.name import ScenarioId

__all__ = [
    "MODELS_PATH",
    "MODELS_PATHS",
    "PLAYS",
    "REHEARSAL_HEADER",
    "SIMULATED_HEADER",
    "FaultKind",
    "FaultSpec",
    "PolicyFile",
    "RehearsedModel",
    "RehearsedPolicy",
    "RetryForm",
    "ServedCall",
    "Visit",
]

#: The request header that names the visit. Sent to loopback addresses only, and left out of recordings.
REHEARSAL_HEADER: Final = "x-harness-rehearsal"
#: The response header by which a rehearsal says that no real model answered; left out of recordings too.
SIMULATED_HEADER: Final = "x-harness-simulated"
#: Where below its base URL a server lists its models.
MODELS_PATH: Final = "/models"
#: The same for codecs whose base URL has no path of its own.
MODELS_PATHS: Final = {"anthropic": "/v1/models", "gemini": "/v1beta/models"}
#: The key under which a rehearsal adds the ids of the scenarios that a model plays to an entry of that list.
PLAYS: Final = "plays"

_VISIT: Final = re.compile(
    r"scenario=(?P<scenario>[a-z0-9][a-z0-9-]{0,63}/[a-z0-9][a-z0-9-]{0,127})"
    r";trial=(?P<trial>[0-9]{1,9});turn=(?P<turn>[0-9]{1,9});attempt=(?P<attempt>[0-9]{1,9})"
    r"(?:;again=(?P<again>[0-9]{1,9}))?",
    re.ASCII,
)
_Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,119}$")]
_ModelName = Annotated[str, Field(pattern=r"^[!-~]{1,200}$")]
_Milliseconds = Annotated[float, Field(ge=0, le=600_000)]


@plain
class Visit(Plain):
    """One attempt at one turn of one trial: all that a draw depends on besides the seed; the first four from 1.

    ``attempt`` is that of the episode. ``again`` counts the attempts at this turn that failed before in it; one that
    was cut off by a kill, of which nothing is known, is none of them.
    """

    scenario: ScenarioId
    trial: Annotated[int, Field(ge=1)]
    turn: Annotated[int, Field(ge=1)]
    attempt: Annotated[int, Field(ge=1)]
    again: Annotated[int, Field(ge=0)] = 0

    @property
    def header(self) -> str:
        """The value of ``REHEARSAL_HEADER``; ``again`` stands in it only where it is not 0."""
        again = f";again={self.again}" if self.again else ""
        return f"scenario={self.scenario};trial={self.trial};turn={self.turn};attempt={self.attempt}{again}"

    @classmethod
    def read(cls, header: str) -> Self | None:
        """The visit that a header names; None where it is not of that form."""
        found = _VISIT.fullmatch(header.strip())
        if found is None:
            return None
        trial, turn, attempt = (int(found[name]) for name in ("trial", "turn", "attempt"))
        if not trial * turn * attempt:
            return None
        again = int(found["again"] or 0)
        return cls(scenario=found["scenario"], trial=trial, turn=turn, attempt=attempt, again=again)


#: ``status``: an HTTP error. ``reset``: the connection breaks in the middle of the body. ``close``: it is closed there
#: in order. ``hang``: no answer at all. ``stall``: silence in the middle of the body. ``chunks``: a whole answer in
#: many small pieces. ``unfinished``: an orderly answer that lacks its end. ``html``: a web page with status 200.
#: ``error_body``: an error with status 200. ``error_event``: an error in the middle of a stream, and ``error_body``
#: where none was asked for. ``truncate``: half an answer that says so (``length``). ``no_usage``: a whole answer
#: without token counts.
FaultKind = Literal[
    "status",
    "reset",
    "close",
    "hang",
    "stall",
    "chunks",
    "unfinished",
    "html",
    "error_body",
    "error_event",
    "truncate",
    "no_usage",
]
#: How an answer says when to come back: ``retry-after`` in seconds or as a date, ``retry-after-ms``, a limit that is
#: used up and when it is full again (``x-ratelimit-...``), or the details of the error.
RetryForm = Literal["seconds", "date", "milliseconds", "reset", "details"]


class FaultSpec(Frozen):
    """What goes wrong, and when; exactly one of ``rate`` and ``at_turn`` is given.

    ``rate`` is the share of attempts that it hits; ``at_turn`` hits the first ``attempts`` attempts at that turn.
    ``status`` belongs to the kind ``status``, and may tell which error ``error_body`` and ``error_event`` mean;
    ``retry_after_s`` and its form belong to ``status``. ``seconds`` is how long a ``stall`` lasts; without it, until
    the client gives up.
    """

    kind: FaultKind
    rate: float | None = Field(default=None, gt=0, le=1)
    at_turn: int | None = Field(default=None, ge=1)
    attempts: int = Field(default=1, ge=1)
    status: int | None = Field(default=None, ge=400, le=599)
    retry_after_s: float | None = Field(default=None, ge=0, le=3600)
    retry_after_as: RetryForm = "seconds"
    seconds: float | None = Field(default=None, gt=0, le=600)


class RehearsedPolicy(Frozen):
    """One way to behave: ``script`` is ``reference``, ``right:NAME`` or ``wrong:CODE`` of the scenario that is played.

    ``weight`` is its share among the policies of a model that play a scenario. ``scenarios`` are ids or globs.
    ``latency_ms`` (one number, or lowest and highest) replaces that of the model.
    """

    script: Annotated[str, Field(pattern=r"^(reference|right:.+|wrong:.+)$")]
    weight: float = Field(default=1.0, gt=0)
    scenarios: tuple[str, ...] = ("*",)
    latency_ms: _Milliseconds | tuple[_Milliseconds, _Milliseconds] | None = None
    fault: tuple[FaultSpec, ...] = ()


class RehearsedModel(Frozen):
    """The policies that play under one model name, with faults and latency of all of them.

    ``draws`` keeps models apart: those with the same text meet the same draws in the same trial.
    """

    policies: tuple[_Name, ...] = Field(min_length=1)
    latency_ms: _Milliseconds | tuple[_Milliseconds, _Milliseconds] = 0.0
    fault: tuple[FaultSpec, ...] = ()
    draws: str = ""


class PolicyFile(Frozen):
    """``[policy.NAME]`` and ``[model.NAME]`` tables."""

    schema_: Annotated[Literal[1], OF_ITS_TYPE] = Field(alias="schema")
    policy: dict[_Name, RehearsedPolicy] = Field(min_length=1)
    model: dict[_ModelName, RehearsedModel] = Field(min_length=1)


class ServedCall(Frozen):
    """One request that was answered, or answered with a fault; no text of it. ``usage`` is what the answer tells."""

    dialect: str
    streamed: bool
    model: str
    visit: Visit
    policy: str
    fault: FaultKind | None
    latency_ms: float
    usage: Usage | None
