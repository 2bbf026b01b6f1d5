"""The one answer to one call: what the actor is shown, and what the journal and the trace keep."""

from __future__ import annotations

from harness.episode.hands import CallInHand, CallStop
from harness.episode.world import World
from harness.schema.base import digest_text
from harness.schema.observation import Observation
from harness.schema.record import CallResulted
from harness.schema.tool import ResultCode
from harness.schema.trace import TraceStep

__all__ = ["answer_call", "result_code", "shown_text"]


def answer_call(world: World, hand: CallInHand, stop: CallStop) -> None:
    """Record the one result of a call, and keep what it saw for checks of the scenario."""
    seen = hand.observation
    world.record(
        CallResulted(
            turn=hand.turn,
            call=hand.index,
            call_id=digest_text(hand.call.id),
            tool=hand.call.name if world.declared(hand.call.name) is not None else "",
            code=stop.code,
            executed=seen is not None and seen.ran,
            refused=seen.refused if seen else None,
            answer=hand.answer,
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
        )
    )


def result_code(seen: Observation) -> ResultCode:
    """The closed code of an observed call that no check stopped."""
    if seen.timed_out:
        return "timeout"
    if seen.ok:
        return "succeeded"
    return "denied_policy" if not seen.ran else "error_recoverable"


def shown_text(seen: Observation, *, limit: int) -> str:
    """What the actor is shown: at most ``limit`` characters, the mark that says how many are left out included."""
    if not seen.ran:
        return f"error: not run ({seen.refused})"
    text = seen.text
    if len(text) <= limit:
        return text
    room = limit - len(_mark(len(text), len(text)))
    head = room * 6 // 10
    tail = room - head
    return text[:head] + _mark(len(text) - room, len(text)) + text[len(text) - tail :]


def _mark(left_out: int, whole: int) -> str:
    return f"\n[{left_out} of {whole} characters are left out here; do not guess them]\n"
