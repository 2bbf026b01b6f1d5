"""T19 of a turn: a call by which the actor says something about its own episode.

It uses no tool budget and leaves no tool row: it is an operation of its own, ``turn-N/control``, with one result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.control import read_claim, unsupported
from harness.episode.endings import invalid_reply
from harness.episode.hands import TurnInHand
from harness.episode.world import World
from harness.schema.base import canonical_json, digest_text
from harness.schema.control import BlockedClaim, ControlName, FinalizeClaim
from harness.schema.message import AssistantMessage, ToolMessage
from harness.schema.outcome import Outcome
from harness.schema.record import OpParked, OpPlanned, OpReceipt
from harness.schema.tool import ToolCall

__all__ = ["answer_control", "control_call"]

_MISSHAPEN = "error: this does not fit the declared parameters; the task is not over"
_UNSUPPORTED = "error: no call has succeeded yet, so this cannot be claimed: {parts}; say only what was done"


def control_call(world: World, turn: TurnInHand) -> Outcome | None:
    """T19: it is the only call of its reply, it fits its closed schema, and what it claims is held against evidence.

    A ``finalize`` that is refused is answered, and the episode goes on.
    """
    calls = turn.answer.calls
    named = [(name, call) for call in calls if (name := _offered(world, call)) is not None]
    if not named:
        return None
    if len(calls) > 1:
        return _mixed(world, [name for name, _ in named])
    name, call = named[0]
    claim = read_claim(name, call, argument_bytes=world.limits.argument_bytes)
    if claim is None and (name != "finalize" or world.scenario.strict.control == "fail"):
        return invalid_reply("control_shape")
    _plan(world, turn, name, call)
    turn.is_over = True
    if claim is None or isinstance(claim, FinalizeClaim):
        return _finalize(world, turn, claim)
    turn.waits_for = call
    if isinstance(claim, BlockedClaim):
        world.final_text = claim.text
    world.record(OpParked(operation=turn.control))
    return Outcome(status="suspended", reason="blocked" if name == "blocked" else "needs_user_input", detail=claim.code)


def answer_control(
    world: World, turn: TurnInHand, status: Literal["succeeded", "failed"], text: str, detail: str | None = None
) -> None:
    """The one result of a control call, for the journal and for the actor."""
    reply, call = turn.answer, turn.answer.calls[0]
    world.record(OpReceipt(operation=turn.control, attempt=1, status=status, detail=detail))
    world.messages.extend(
        (
            AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque),
            ToolMessage(call_id=call.id, name=call.name, text=text, failed=status == "failed"),
        )
    )


def _offered(world: World, call: ToolCall) -> ControlName | None:
    return next((name for name in world.scenario.control.offer if name == call.name), None)


def _mixed(world: World, names: Sequence[ControlName]) -> Outcome | None:
    """Beside other calls ``finalize`` is no tool, which C5 says to the actor; every other mix is the end."""
    if list(names) == ["finalize"] and world.scenario.strict.control == "observe":
        return None
    return invalid_reply("control_mixed")


def _plan(world: World, turn: TurnInHand, name: ControlName, call: ToolCall) -> None:
    digest = digest_text(world.placeholders.hide(f"{call.name}\0{call.arguments_raw}"))
    world.record(
        OpPlanned(
            operation=turn.control,
            purpose="control",
            digest=digest,
            tool=name,
            call_id=digest_text(call.id),
        )
    )


def _finalize(world: World, turn: TurnInHand, claim: FinalizeClaim | None) -> Outcome | None:
    if claim is None:
        answer_control(world, turn, "failed", _MISSHAPEN, "control_shape")
        return None
    executed = sum(step.executed and step.result == "succeeded" for step in world.state.steps)
    parts = unsupported(claim, executed=executed)
    if parts:
        answer_control(world, turn, "failed", _UNSUPPORTED.format(parts=", ".join(parts)), "unsupported_claim")
        return None
    answer_control(world, turn, "succeeded", "accepted")
    world.final_text = canonical_json(claim.model_dump(mode="json"))
    return Outcome(status="completed", reason="finalized", detail=claim.status)
