"""The one answer to one call: what the actor is shown, and what the journal and the trace keep."""

from __future__ import annotations

from harness.episode.hands import CallInHand, CallStop
from harness.episode.progress import marks
from harness.episode.world import World
from harness.schema.base import digest_text
from harness.schema.observation import Observation
from harness.schema.record import CallResulted
from harness.schema.tool import ResultCode
from harness.schema.trace import TraceStep

__all__ = ["HINTED", "answer_call", "result_code", "result_text"]

#: Why a call was not run whose kind has a hint.
HINTED = "hinted"


def answer_call(world: World, hand: CallInHand, stop: CallStop) -> None:
    """Record the one result of a call, and keep what it saw for checks of the scenario."""
    seen = hand.observation
    world.record(
        CallResulted(
            turn=hand.turn,
            call=hand.index,
            call_id=digest_text(hand.call.id),
            tool=hand.call.name if world.declares(hand.call.name) else "",
            code=stop.code,
            executed=seen is not None and seen.ran,
            refused=seen.refused if seen else None,
            answer=hand.answer,
            source=stop.source,
            marks=marks(world, hand, stop),
            spilled=hand.spilled,
        )
    )
    before = hand.before or world.rule_state
    world.trace.append(
        TraceStep(
            command=hand.text,
            facts=tuple(sorted(before.facts)),
            counts=dict(before.counts),
            proposal=hand.proposal,
            observation=seen,
            judgement=hand.judgement,
            after=tuple(hand.after),
            turn=hand.turn,
            call=hand.index,
            tool=hand.call.name,
            arguments=hand.call.arguments,
            operation=hand.plane_operation,
            reached_plane=hand.reaches_plane and seen is not None and seen.ran,
            error=None if hand.error is None else hand.error.code,
            replayed=hand.replayed,
        )
    )


def result_code(seen: Observation) -> ResultCode:
    """The closed code of an observed call that no check stopped."""
    if seen.timed_out:
        return "timeout"
    if seen.ok:
        return "succeeded"
    return "denied_policy" if not seen.ran else "error_recoverable"


def result_text(hand: CallInHand, seen: Observation) -> str:
    """What the actor is told of an observed call: its result as far as it is shown, or why nothing ran."""
    if hand.shown is not None:
        return hand.shown
    if seen.refused == HINTED:
        return seen.text
    return f"error: not run ({seen.refused})"
