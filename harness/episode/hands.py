"""What is in hand while one turn and one call go through their checks."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.rules import RuleState
from harness.schema.command import ParsedCommand
from harness.schema.finding import Judgement, Proposal
from harness.schema.message import ModelRequest, Reply
from harness.schema.observation import Observation
from harness.schema.outcome import Outcome
from harness.schema.rules import KindSpec
from harness.schema.tool import ResultCode, ToolCall

__all__ = ["CallInHand", "CallStop", "TurnInHand"]


@dataclass(frozen=True, slots=True)
class CallStop:
    """The call is answered here with ``code`` and ``text``; ``ending`` ends the episode too."""

    code: ResultCode
    text: str
    ending: Outcome | None = None


@dataclass(slots=True)
class CallInHand:
    """One call on its way through the checks."""

    turn: int
    index: int
    call: ToolCall
    text: str | None = None
    parsed: ParsedCommand | None = None
    kind: KindSpec | None = None
    proposal: Proposal = field(default_factory=lambda: Proposal(kind=None))
    before: RuleState | None = None
    observation: Observation | None = None
    judgement: Judgement | None = None
    answer: str | None = None
    attempt: int = 1

    @property
    def operation(self) -> str:
        """The name of this call's operation in the journal."""
        return f"turn-{self.turn}/call-{self.index}"


@dataclass(slots=True)
class TurnInHand:
    """One turn on its way through the checks.

    ``is_over``: nothing more of it is asked, and the episode goes on. ``waits_for`` is the control call that is
    answered once somebody does.
    """

    number: int = 0
    request: ModelRequest | None = None
    reply: Reply | None = None
    results: list[CallStop] = field(default_factory=list)
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
