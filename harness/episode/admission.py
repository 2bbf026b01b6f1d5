"""T12 of a turn: may a model call be made now."""

from __future__ import annotations

from harness.episode.hands import TurnInHand
from harness.episode.world import World
from harness.schema.outcome import Outcome
from harness.schema.record import OpStarted

__all__ = ["admit"]


def admit(world: World, turn: TurnInHand) -> Outcome | None:
    """T12: too many calls that were given up are still in flight; else the turn is reserved and the call is started.

    A call that an earlier driver was admitted to was admitted.
    """
    excess = world.parts.detached.excess(world.parts.job.key) if world.journal.ahead is None else None
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
    world.record(OpStarted(operation=turn.operation, attempt=1))
    return None
