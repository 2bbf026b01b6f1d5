"""T12 of a turn: may a model call be made now. Who waits for the host's quota is not at work."""

from __future__ import annotations

from collections.abc import Callable

from harness.episode.hands import TurnInHand
from harness.episode.keeping_pace import enter, leave
from harness.episode.ledger import row_of
from harness.episode.world import World
from harness.ports import Quota
from harness.schema.message import ModelRequest
from harness.schema.outcome import Outcome
from harness.schema.record import OpStarted

__all__ = ["admit", "call_s", "start"]


def admit(world: World, turn: TurnInHand) -> Outcome | None:
    """T12: the host's quota, and not too many calls that were given up in flight; then the call is started.

    A call that an earlier driver was admitted to was admitted.
    """
    excess = world.parts.detached.excess(world.key) if world.journal.ahead is None else None
    if excess is not None:
        limit, observed = excess
        return Outcome(
            status="limit_exceeded",
            reason="detached_calls",
            limit=limit,
            observed=observed,
            attempted=1,
            overshoot=observed + 1 - limit,
        )
    return start(world, turn, 1)


def start(world: World, turn: TurnInHand, attempt: int) -> Outcome | None:
    """Start an attempt, or the ending that this is refused with; one that was started before was admitted then."""
    quota, request = world.parts.quota, turn.request
    is_new = world.journal.ahead is None
    if quota is not None and request is not None and is_new:
        _foretell(world, quota, row_of(turn.operation, attempt), request)
    refused = enter(world) if is_new else None
    if refused is not None:
        return refused
    if quota is not None and request is not None and is_new:
        row = row_of(turn.operation, attempt)
        with world.stopwatch.idle():
            within = quota.reserve(row, request, seconds=call_s(world), stopped=lambda: _is_over(world))
        if not within:
            leave(world)
            refused = Outcome(status="limit_exceeded", reason="quota_refused")
            return world.bounds.cancellation() or world.bounds.passed() or refused
    world.record(OpStarted(operation=turn.operation, attempt=attempt))
    known = world.state.operations.get(turn.operation)
    if known is not None and known.attempt == attempt:
        return None
    # it was cancelled between the two: a call that the journal does not know of is not made
    if quota is not None:
        quota.settle(row_of(turn.operation, attempt), None, billed=False)
    return world.bounds.cancellation()


def _foretell(world: World, quota: Quota, attempt: str, request: ModelRequest) -> None:
    foretold: Callable[[str, ModelRequest, Callable[[], float]], None] | None = getattr(quota, "foretold", None)
    if foretold is not None:
        foretold(attempt, request, lambda: call_s(world))


def call_s(world: World) -> float:
    """How long a model call may take now, in seconds."""
    return min(world.limits.model_call_s, max(world.bounds.left(), 0.0))


def _is_over(world: World) -> bool:
    return world.bounds.cancelled() or world.bounds.passed() is not None
