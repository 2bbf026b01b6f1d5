"""What is in hand while one turn and one call go through their checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from harness.rules import RuleState
from harness.schema.base import Digest
from harness.schema.command import ParsedCommand
from harness.schema.finding import Judgement, Proposal
from harness.schema.following import FollowUp
from harness.schema.message import ModelRequest, Reply
from harness.schema.observation import Observation
from harness.schema.outcome import Outcome
from harness.schema.rules import KindSpec
from harness.schema.tool import ResultCode, ToolCall, TypedError

__all__ = ["CallInHand", "CallStop", "TurnInHand"]


@dataclass(frozen=True, slots=True)
class CallStop:
    """The call is answered here with ``code`` and ``text``; ``ending`` ends the episode too.

    ``source`` says which rule refused it, where one did.
    """

    code: ResultCode
    text: str
    ending: Outcome | None = None
    source: str | None = None


#: Of a call that was not read yet.
_NOTHING = Proposal(kind=None)


@dataclass(slots=True)
class CallInHand:
    """One call on its way through the checks.

    ``room`` is how many characters of its batch are its own; ``shown`` what the actor is shown of its result, None
    where there is none; ``spilled`` whether the whole of it is kept. ``after`` are the calls that the harness made
    itself then, with what they were answered. ``replayed``: it was made by an earlier driver.
    """

    turn: int
    index: int
    call: ToolCall
    text: str | None = None
    plane_operation: str | None = None
    parsed: ParsedCommand | None = None
    kind: KindSpec | None = None
    proposal: Proposal = _NOTHING
    before: RuleState | None = None
    observation: Observation | None = None
    judgement: Judgement | None = None
    after: list[tuple[FollowUp, Observation]] = field(default_factory=list)
    error: TypedError | None = None
    answer: str | None = None
    attempt: int = 1
    room: int = 0
    shown: str | None = None
    spilled: bool = False
    replayed: bool = False

    @property
    def operation(self) -> str:
        """The name of this call's operation in the journal."""
        return f"turn-{self.turn}/call-{self.index}"

    @property
    def reaches_plane(self) -> bool:
        """Whether it is a call of the control plane, by a command or as one of its operations."""
        kind = self.kind
        return self.plane_operation is not None or (kind is not None and (kind.is_call or kind.help is not None))


@dataclass(slots=True)
class TurnInHand:
    """One turn on its way through the checks.

    ``is_over``: nothing more of it is asked, and the episode goes on. ``waits_for`` is the control call that is
    answered once somebody does. ``digest`` and ``size`` (bytes) are those of the encoded request. The first
    ``admitted`` calls of its reply run.
    """

    number: int = 0
    request: ModelRequest | None = None
    digest: Digest = ""
    size: int = 0
    reply: Reply | None = None
    results: list[CallStop] = field(default_factory=list)
    prose: Literal["new", "alike"] | None = None
    admitted: int = 0
    is_over: bool = False
    waits_for: ToolCall | None = None

    @property
    def operation(self) -> str:
        """The name of this turn's model operation in the journal."""
        return f"turn-{self.number}/main"

    @property
    def control(self) -> str:
        """The name of this turn's control operation in the journal."""
        return f"turn-{self.number}/control"

    @property
    def answer(self) -> Reply:
        """The reply; there is one in every step after T13."""
        if self.reply is None:  # pragma: no cover  (T13 ends the turn where there is none)
            raise AssertionError(self.operation)
        return self.reply
