"""Records to state: pure, total over the closed union of kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import assert_never

from harness.journal.state import EpisodeState, Operation, StepState
from harness.journal.state import changed as replace
from harness.schema.record import (
    ANSWER,
    Acknowledged,
    BudgetStop,
    CallResulted,
    Classified,
    Closed,
    Compacted,
    Decided,
    FixtureBound,
    Hooked,
    InputDelivered,
    LateUsage,
    Metered,
    Opened,
    OpNotSent,
    OpParked,
    OpPlanned,
    OpReceipt,
    OpStarted,
    OpUnknown,
    Payload,
    Projection,
    Record,
    Resumed,
    Spilled,
    Suspended,
    TurnCommitted,
    TurnOpened,
    UsageRow,
)

__all__ = ["apply", "fold"]

#: Purposes whose dispatched attempts are model turns (runner specification 2.8).
TURN_PURPOSES = frozenset({"main", "prompt_too_long"})
_OF_OPERATIONS = (OpPlanned, OpStarted, OpReceipt, OpParked, OpUnknown, OpNotSent)
_MEASURED = (LateUsage, Metered, BudgetStop, InputDelivered)


def fold(records: Iterable[Record]) -> EpisodeState:
    """The state after all records."""
    state = EpisodeState()
    for record in records:
        state = apply(state, record.payload)
    return state


def apply(state: EpisodeState, payload: Payload) -> EpisodeState:
    """The state after one more record."""
    if isinstance(payload, _OF_OPERATIONS):
        return _operation(state, payload)
    match payload:
        case Classified():
            return _classified(state, payload)
        case CallResulted():
            return _resulted(state, payload)
        case UsageRow():
            return replace(state, usage=(*state.usage, payload))
        case _:
            return _measured(state, payload) if isinstance(payload, _MEASURED) else _milestone(state, payload)


def _milestone(  # noqa: PLR0911  (one return a kind reads best)
    state: EpisodeState,
    payload: Opened
    | FixtureBound
    | TurnOpened
    | Projection
    | Spilled
    | Compacted
    | Decided
    | Hooked
    | TurnCommitted
    | Suspended
    | Resumed
    | Closed
    | Acknowledged,
) -> EpisodeState:
    match payload:
        case TurnOpened():
            return replace(state, turn=payload.turn, waiting=None)
        case Projection() | Spilled() | Compacted() | Decided() | Hooked():
            return state
        case TurnCommitted():
            fingerprint = payload.fingerprint or state.fingerprint
            others = tuple(turn for turn in state.turns if turn.turn != payload.turn)
            return replace(state, turns=(*others, payload), fingerprint=fingerprint)
        case Opened():
            return replace(state, opened=payload)
        case FixtureBound():
            return replace(state, fingerprint=payload.fingerprint)
        case Suspended():
            return replace(state, waiting=payload.outcome)
        case Resumed():
            return replace(state, waiting=None)
        case Closed():
            return replace(state, outcome=payload.outcome, waiting=None)
        case Acknowledged():
            return replace(state, acknowledged=payload.receipt)
        case _:
            assert_never(payload)


def _operation(
    state: EpisodeState, payload: OpPlanned | OpParked | OpStarted | OpReceipt | OpUnknown | OpNotSent
) -> EpisodeState:
    if isinstance(payload, OpPlanned):
        return _planned(state, payload)
    known = state.operations[payload.operation]
    dispatched = 0
    match payload:
        case OpStarted():
            changed = replace(known, status="started", attempt=payload.attempt)
            # attempts at one call share its turn, which one that was not sent had given back
            dispatched = int(known.status in {"planned", "parked", "not_sent"})
        case OpReceipt():
            changed = replace(known, status=payload.status, spool=payload.spool)
        case OpParked():
            changed = replace(known, status="parked")
        case OpUnknown():
            changed = replace(known, status="unknown", spool=payload.spool)
        case _:
            changed = replace(known, status="not_sent")
            dispatched = -1
    turns = state.model_turns + (dispatched if known.purpose in TURN_PURPOSES else 0)
    return replace(state, operations={**state.operations, payload.operation: changed}, model_turns=turns)


def _planned(state: EpisodeState, payload: OpPlanned) -> EpisodeState:
    operation = Operation(purpose=payload.purpose, digest=payload.digest, status="planned", tool=payload.tool)
    operations = {**state.operations, payload.operation: operation}
    call_ids = state.call_ids if payload.call_id is None else state.call_ids | {payload.call_id}
    if payload.purpose != "tool":
        return replace(state, operations=operations, call_ids=call_ids)
    name = payload.tool or ""
    return replace(
        state,
        operations=operations,
        call_ids=call_ids,
        tool_calls=state.tool_calls + 1,
        calls_by_name={**state.calls_by_name, name: state.calls_by_name.get(name, 0) + 1},
    )


def _with_step(steps: tuple[StepState, ...], step: StepState) -> tuple[StepState, ...]:
    """The steps with this one in its place (turn and call name it), added where it is new; nearly always the last."""
    place, last = (step.turn, step.call), _place_of_last(steps)
    if place > last:
        return (*steps, step)
    if place == last:
        return (*steps[:-1], step)
    others = [other for other in steps if (other.turn, other.call) != place]
    return tuple(sorted([*others, step], key=lambda s: (s.turn, s.call)))


def _place_of_last(steps: tuple[StepState, ...]) -> tuple[int, int]:
    return (steps[-1].turn, steps[-1].call) if steps else (0, 0)


_NO_STEP = StepState(turn=0, call=0)


def _step(state: EpisodeState, turn: int, call: int) -> StepState:
    for step in reversed(state.steps):
        if step.turn == turn and step.call == call:
            return step
    return replace(_NO_STEP, turn=turn, call=call)


def _classified(state: EpisodeState, payload: Classified) -> EpisodeState:
    step = _step(state, payload.turn, payload.call)
    if payload.point == "proposal":
        changed = replace(
            step,
            kind=payload.kind_name,
            code=payload.code,
            shape=payload.shape,
            command=payload.command,
            arguments=payload.arguments,
        )
        return replace(state, steps=_with_step(state.steps, changed))
    changed = replace(step, code=payload.code, sets=payload.sets)
    facts = (*state.facts, *(fact for fact in payload.sets if fact not in state.facts))
    return replace(state, steps=_with_step(state.steps, changed), facts=facts)


def _resulted(state: EpisodeState, payload: CallResulted) -> EpisodeState:
    before = _step(state, payload.turn, payload.call)
    step = replace(
        before,
        tool=payload.tool,
        result=payload.code,
        executed=payload.executed,
        refused=payload.refused,
        answer=payload.answer,
        spilled=payload.spilled,
    )
    counts = state.counts
    if step.kind is not None and step.executed and not before.executed:
        counts = {**counts, step.kind: counts.get(step.kind, 0) + 1}
    call_ids = state.call_ids | {payload.call_id}
    return replace(state, steps=_with_step(state.steps, step), counts=counts, call_ids=call_ids)


def _late(state: EpisodeState, payload: LateUsage) -> EpisodeState:
    rows = tuple(
        dataclasses.replace(row, usage=payload.usage) if row.row == payload.row and row.usage is None else row
        for row in state.usage
    )
    return replace(state, usage=rows)


def _measured(state: EpisodeState, payload: LateUsage | Metered | BudgetStop | InputDelivered) -> EpisodeState:
    """What was used, the first limit that was reached, and what was said from outside."""
    if isinstance(payload, InputDelivered):
        return replace(state, answers=state.answers + payload.input.startswith(ANSWER))
    if isinstance(payload, LateUsage):
        return _late(state, payload)
    if isinstance(payload, BudgetStop):
        return replace(state, exhausted=state.exhausted or payload.outcome)
    known = state.cost is None or state.cost.cause is None
    return replace(state, active_ms=payload.active_ms, cost=payload.cost if known else state.cost)
