"""Records to state: pure, total over the closed union of kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from harness.journal.state import EpisodeState, Operation, StepState
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
    Suspended,
    TurnCommitted,
    TurnOpened,
    UsageRow,
)

__all__ = ["apply", "fold"]

#: Purposes whose dispatched attempts are model turns (runner specification 2.8).
TURN_PURPOSES = frozenset({"main", "prompt_too_long"})


def fold(records: Iterable[Record]) -> EpisodeState:
    """The state after all records."""
    state = EpisodeState()
    for record in records:
        state = apply(state, record.payload)
    return state


def apply(state: EpisodeState, payload: Payload) -> EpisodeState:  # noqa: PLR0911  (one return a kind reads best)
    """The state after one more record."""
    match payload:
        case OpPlanned() | OpParked() | OpStarted() | OpReceipt() | OpUnknown() | OpNotSent():
            return _operation(state, payload)
        case Classified():
            return _classified(state, payload)
        case CallResulted():
            return _resulted(state, payload)
        case UsageRow():
            return replace(state, usage=(*state.usage, payload))
        case LateUsage():
            return _late(state, payload)
        case InputDelivered():
            return replace(state, answers=state.answers + payload.input.startswith(ANSWER))
        case _:
            return _milestone(state, payload)


def _milestone(  # noqa: PLR0911  (one return a kind reads best)
    state: EpisodeState,
    payload: Opened
    | FixtureBound
    | TurnOpened
    | Projection
    | Compacted
    | Decided
    | Hooked
    | BudgetStop
    | TurnCommitted
    | Suspended
    | Resumed
    | Closed
    | Acknowledged,
) -> EpisodeState:
    match payload:
        case Opened():
            return replace(state, opened=payload)
        case FixtureBound():
            return replace(state, fingerprint=payload.fingerprint)
        case TurnOpened():
            return replace(state, turn=payload.turn, waiting=None)
        case TurnCommitted():
            fingerprint = payload.fingerprint or state.fingerprint
            others = tuple(turn for turn in state.turns if turn.turn != payload.turn)
            return replace(state, turns=(*others, payload), fingerprint=fingerprint)
        case Suspended():
            return replace(state, waiting=payload.outcome)
        case Resumed():
            return replace(state, waiting=None)
        case Closed():
            return replace(state, outcome=payload.outcome, waiting=None)
        case Acknowledged():
            return replace(state, acknowledged=payload.receipt)
        case Projection() | Compacted() | Decided() | Hooked() | BudgetStop():
            return state
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
        case OpParked():
            changed = replace(known, status="parked")
        case OpStarted():
            changed = replace(known, status="started", attempt=payload.attempt)
            # attempts at one call share its turn, which one that was not sent had given back
            dispatched = int(known.status in {"planned", "parked", "not_sent"})
        case OpReceipt():
            changed = replace(known, status=payload.status, spool=payload.spool)
        case OpUnknown():
            changed = replace(known, status="unknown")
        case _:
            changed = replace(known, status="not_sent")
            dispatched = -1
    turns = state.model_turns + (dispatched if known.purpose in TURN_PURPOSES else 0)
    return replace(state, operations={**state.operations, payload.operation: changed}, model_turns=turns)


def _planned(state: EpisodeState, payload: OpPlanned) -> EpisodeState:
    operation = Operation(purpose=payload.purpose, digest=payload.digest, status="planned", tool=payload.tool)
    state = replace(state, operations={**state.operations, payload.operation: operation})
    if payload.call_id is not None:
        state = replace(state, call_ids=state.call_ids | {payload.call_id})
    if payload.purpose != "tool":
        return state
    name = payload.tool or ""
    return replace(
        state,
        tool_calls=state.tool_calls + 1,
        calls_by_name={**state.calls_by_name, name: state.calls_by_name.get(name, 0) + 1},
    )


def _with_step(state: EpisodeState, step: StepState) -> EpisodeState:
    """The same state with this step in its place (turn and call name it), added where it is new."""
    place = (step.turn, step.call)
    steps = [other for other in state.steps if (other.turn, other.call) != place]
    steps.append(step)
    return replace(state, steps=tuple(sorted(steps, key=lambda s: (s.turn, s.call))))


def _step(state: EpisodeState, turn: int, call: int) -> StepState:
    return next((s for s in state.steps if (s.turn, s.call) == (turn, call)), StepState(turn=turn, call=call))


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
        return _with_step(state, changed)
    changed = replace(step, code=payload.code, sets=payload.sets)
    facts = (*state.facts, *(fact for fact in payload.sets if fact not in state.facts))
    return replace(_with_step(state, changed), facts=facts)


def _resulted(state: EpisodeState, payload: CallResulted) -> EpisodeState:
    before = _step(state, payload.turn, payload.call)
    step = replace(
        before,
        tool=payload.tool,
        result=payload.code,
        executed=payload.executed,
        refused=payload.refused,
        answer=payload.answer,
    )
    counts = state.counts
    if step.kind is not None and step.executed and not before.executed:
        counts = {**counts, step.kind: counts.get(step.kind, 0) + 1}
    return replace(_with_step(state, step), counts=counts)


def _late(state: EpisodeState, payload: LateUsage) -> EpisodeState:
    rows = tuple(
        row.model_copy(update={"usage": payload.usage}) if row.row == payload.row and row.usage is None else row
        for row in state.usage
    )
    return replace(state, usage=rows)
