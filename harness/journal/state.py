"""What an episode's records add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeVar

from harness.schema.base import Digest
from harness.schema.command import CommandShape
from harness.schema.message import Usage
from harness.schema.metric import COUNT_MAX, Metric
from harness.schema.outcome import Outcome
from harness.schema.record import Opened, Purpose, TurnCommitted, UsageRow
from harness.schema.tool import ResultCode

__all__ = ["EpisodeState", "Operation", "StepState", "changed"]


@dataclass(frozen=True)
class Operation:
    """One external action and how far it got."""

    purpose: Purpose
    digest: Digest
    status: Literal["planned", "parked", "started", "succeeded", "failed", "unknown", "not_sent"]
    attempt: int = 0
    spool: Digest | None = None
    tool: str | None = None


@dataclass(frozen=True)
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
    spilled: bool = False


@dataclass(frozen=True)
class EpisodeState:
    """The fold of an episode's records.

    ``model_turns`` are dispatched main operations (one provably not sent gives its turn back, one that is made again
    after a kill or an outage takes no second, for neither is the model's doing); ``tool_calls`` are the
    calls of accepted batches; ``facts`` stand in the order they became true; ``counts`` say how often each kind was
    run; ``active_ms`` and ``cost`` are as they were measured last, a cost that could not be known once stays unknown;
    ``exhausted`` is the first limit that was reached; ``answers`` how often a person's answer was given to an actor
    that waited for one.
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
    active_ms: int = 0
    cost: Metric | None = None
    exhausted: Outcome | None = None
    outcome: Outcome | None = None
    waiting: Outcome | None = None
    answers: int = 0
    acknowledged: Digest | None = None

    @property
    def executed_calls(self) -> int:
        """Calls that touched the world."""
        return sum(step.executed for step in self.steps)

    @property
    def total_tokens(self) -> Metric:
        """Input and output tokens of all attempts; unknown as soon as one attempt's are.

        One that the provider definitively refused brought nothing, and nothing is billed for it.
        """
        return self._sum_usage(uncached=False)

    @property
    def uncached_input_tokens(self) -> Metric:
        """Input tokens not read from a cache; unknown as soon as one attempt's are."""
        return self._sum_usage(uncached=True)

    def _sum_usage(self, *, uncached: bool) -> Metric:
        total = 0
        for row in self.usage:
            if row.status == "not_sent" or (row.status == "failed" and row.usage is None):
                continue
            count = _tokens(row.usage, uncached=uncached)
            if count is None or count < 0:
                return Metric(cause="usage_missing")
            total += count
            if total > COUNT_MAX:
                return Metric(cause="overflow")
        return Metric(value=total)


def _tokens(usage: Usage | None, *, uncached: bool) -> int | None:
    """What an attempt adds; negative where more was read from a cache than there was input."""
    if usage is None or usage.input_tokens is None:
        return None
    other = usage.cache_read_tokens if uncached else usage.output_tokens
    if other is None:
        return None
    if max(usage.input_tokens, other) > COUNT_MAX:
        return COUNT_MAX + 1  # how many there are is not known, so no difference is
    return usage.input_tokens + (-other if uncached else other)


_Value = TypeVar("_Value", EpisodeState, Operation, StepState)


def changed(value: _Value, **fields: object) -> _Value:
    """The same value with other ``fields``, as ``dataclasses.replace`` makes it; ``value`` stays as it is.

    An episode's state is changed at every record, and most of it stays: the fields are taken over as a whole and not
    one by one.
    """
    made = object.__new__(type(value))
    object.__setattr__(made, "__dict__", value.__dict__ | fields)
    return made
