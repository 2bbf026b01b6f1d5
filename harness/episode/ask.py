"""T13 and T14 of a turn: the model call, and settling what came back (or did not)."""

from __future__ import annotations

from typing import Literal

from harness.episode.endings import provider_ending
from harness.episode.hands import TurnInHand
from harness.episode.model_call import CallEnd, call_model
from harness.episode.world import World
from harness.errors import ProviderError, ReplayMismatchError, ScriptExhaustedError
from harness.ports import TurnContext
from harness.schema.message import Reply
from harness.schema.outcome import Outcome
from harness.schema.record import OpNotSent, OpReceipt, OpUnknown, UsageRow
from harness.schema.run import AttemptRow

__all__ = ["ask"]


def ask(world: World, turn: TurnInHand) -> Outcome | None:
    """T13 and T14: call the actor on its own thread; settle what came back and its usage before anyone reads it."""
    if turn.request is None:  # pragma: no cover  (T10 makes it)
        raise AssertionError(turn.operation)
    limits = world.scenario.limits
    context = TurnContext(
        turn=turn.number,
        deadline_s=min(limits.model_call_s, max(world.bounds.left(), 0.0)),
        cancelled=world.bounds.cancelled,
        substitute=lambda text: _filled(world, turn, text),
    )
    started = world.parts.clock.monotonic()
    end = call_model(world.parts.actor, turn.request, context, world.bounds)
    seconds = world.parts.clock.monotonic() - started
    if end.reply is not None:
        _settle(world, turn, end.reply, seconds)
        return None
    return _unanswered(world, turn, end, seconds)


def _filled(world: World, turn: TurnInHand, text: str) -> str:
    missing = world.values.missing(text)
    if missing:
        raise ScriptExhaustedError(turn.number - 1, f"the value {missing[0]!r} is not known yet")
    return world.values.fill(text)


def _settle(world: World, turn: TurnInHand, reply: Reply, seconds: float) -> None:
    spool = world.spool.put(reply.model_dump_json().encode("utf-8", "surrogatepass"))
    world.record(OpReceipt(operation=turn.operation, attempt=1, status="succeeded", spool=spool))
    world.record(UsageRow(row=f"{turn.operation}:attempt:1", purpose="main", status="completed", usage=reply.usage))
    world.attempts.append(
        AttemptRow(
            operation=turn.operation,
            attempt=1,
            status="completed",
            usage=reply.usage,
            seconds=seconds,
            model=reply.model,
            fingerprint=reply.fingerprint,
        )
    )
    turn.reply = reply


def _unanswered(world: World, turn: TurnInHand, end: CallEnd, seconds: float) -> Outcome:
    """A call without a reply: a definitive failure, or nobody knows."""
    error = end.error
    provider = error if isinstance(error, ProviderError) else None
    status: Literal["unknown", "failed", "not_sent"] = "failed"
    if error is None:
        status = "unknown"
        world.record(OpUnknown(operation=turn.operation, attempt=1, detail=end.gave_up or "unknown"))
    elif provider is not None and not provider.sent:
        status = "not_sent"
        world.record(OpNotSent(operation=turn.operation, attempt=1))
    else:
        world.record(OpReceipt(operation=turn.operation, attempt=1, status="failed"))
    world.record(UsageRow(row=f"{turn.operation}:attempt:1", purpose="main", status=status, usage=None))
    world.attempts.append(
        AttemptRow(
            operation=turn.operation,
            attempt=1,
            status=status,
            usage=None,
            seconds=seconds,
            error=provider.category if provider else end.gave_up or _word(error),
            http_status=provider.http_status if provider else None,
        )
    )
    if provider is not None:
        return provider_ending(provider)
    if isinstance(error, ReplayMismatchError):
        return Outcome(status="failed", reason="replay_mismatch", detail=f"turn_{turn.number}")
    if error is not None:
        return Outcome(status="failed", reason="script_exhausted", detail=f"turn_{turn.number}")
    if end.gave_up == "cancelled":
        return world.bounds.cancellation() or Outcome(status="cancelled", reason="cancellation_requested")
    if end.gave_up == "deadline":
        return Outcome(status="limit_exceeded", reason="duration", detail="deadline")
    return Outcome(status="suspended", reason="reconciliation_required", detail="model_call")


def _word(error: Exception | None) -> str:
    return "replay_mismatch" if isinstance(error, ReplayMismatchError) else "script_exhausted"
