"""What an episode's records add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from harness.schema.base import Digest
from harness.schema.command import CommandShape
from harness.schema.outcome import Outcome
from harness.schema.record import Opened, Purpose, TurnCommitted, UsageRow
from harness.schema.tool import ResultCode

__all__ = ["EpisodeState", "Operation", "StepState"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One external action and how far it got."""

    purpose: Purpose
    digest: Digest
    status: Literal["planned", "parked", "started", "succeeded", "failed", "unknown", "not_sent"]
    attempt: int = 0
    spool: Digest | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class StepState:
    """One declared call: how it was classified, and its one result (None while it has none)."""

    turn: int
    call: int
    kind: str | None = None
    code: str | None = None
    sets: tuple[str, ...] = ()
    shape: CommandShape | None = None
    command: Digest | None = None
    arguments: Digest | None = None
    tool: str = ""
    result: ResultCode | None = None
    executed: bool = False
    refused: str | None = None
    answer: Digest | None = None


@dataclass(frozen=True, slots=True)
class EpisodeState:
    """The fold of an episode's records.

    ``model_turns`` are dispatched main operations (one provably not sent gives its turn back, one that is made again
    after a kill or an outage takes no second, for neither is the model's doing); ``tool_calls`` are the
    calls of accepted batches; ``facts`` stand in the order they became true; ``counts`` say how often each kind was
    run; ``answers`` how often a person's answer was given to an actor that waited for one.
    """

    opened: Opened | None = None
    fingerprint: Digest | None = None
    turn: int = 0
    model_turns: int = 0
    tool_calls: int = 0
    calls_by_name: dict[str, int] = field(default_factory=dict)
    call_ids: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    steps: tuple[StepState, ...] = ()
    turns: tuple[TurnCommitted, ...] = ()
    operations: dict[str, Operation] = field(default_factory=dict)
    usage: tuple[UsageRow, ...] = ()
    outcome: Outcome | None = None
    waiting: Outcome | None = None
    answers: int = 0
    acknowledged: Digest | None = None

    @property
    def executed_calls(self) -> int:
        """Calls that touched the world."""
        return sum(step.executed for step in self.steps)

    @property
    def total_tokens(self) -> int | None:
        """Input and output tokens of all attempts; None as soon as one attempt's are unknown.

        One that the provider definitively refused brought nothing, and nothing is billed for it.
        """
        return self._sum_usage(uncached=False)

    @property
    def uncached_input_tokens(self) -> int | None:
        """Input tokens not read from a cache; None as soon as one attempt's are unknown."""
        return self._sum_usage(uncached=True)

    def _sum_usage(self, *, uncached: bool) -> int | None:
        total = 0
        for row in self.usage:
            if row.status == "not_sent" or (row.status == "failed" and row.usage is None):
                continue
            if row.usage is None or row.usage.input_tokens is None:
                return None
            other = row.usage.cache_read_tokens if uncached else row.usage.output_tokens
            if other is None:
                return None
            total += row.usage.input_tokens + (-other if uncached else other)
        return total
