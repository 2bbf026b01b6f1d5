"""T13 and T14 of a turn: the model call, and settling what came back (or did not)."""

from __future__ import annotations

import json
import re
from typing import Literal

from harness.episode.endings import provider_ending
from harness.episode.hands import TurnInHand
from harness.episode.model_call import CallEnd, call_model
from harness.episode.world import World
from harness.errors import ProviderError, ReplayMismatchError, ScriptExhaustedError
from harness.ports import TurnContext
from harness.schema.base import digest_text
from harness.schema.message import Reply
from harness.schema.outcome import Outcome
from harness.schema.record import OpNotSent, OpReceipt, OpUnknown, UsageRow
from harness.schema.rehearsal import Visit
from harness.schema.run import AttemptRow

__all__ = ["ask"]

#: The owner of a call ends it at its deadline; the transport's own bound, this much later, only ends the thread.
GRACE_S = 1.0
#: What a provider adds to the name of a model to tell which version of it answers.
_VERSION = re.compile(r"(?:[-@:][0-9][0-9.-]{0,15})?")


def ask(world: World, turn: TurnInHand) -> Outcome | None:
    """T13 and T14: call the actor on its own thread; settle what came back and its usage before anyone reads it."""
    if turn.request is None:  # pragma: no cover  (T10 makes it)
        raise AssertionError(turn.operation)
    limits, job = world.scenario.limits, world.parts.job
    call_s = min(limits.model_call_s, max(world.bounds.left(), 0.0))
    context = TurnContext(
        turn=turn.number,
        deadline_s=call_s + GRACE_S,
        cancelled=world.bounds.cancelled,
        substitute=lambda text: _filled(world, turn, text),
        visit=Visit(scenario=job.loaded.scenario.id, trial=job.trial, turn=turn.number, attempt=job.attempt),
    )
    started = world.parts.clock.monotonic()
    end = call_model(world.parts.actor, turn.request, context, world.bounds, call_s)
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
    # json and not pydantic: a lone surrogate, which a reply can hold, has no UTF-8 form
    spool = world.spool.put(json.dumps(reply.model_dump(), sort_keys=True).encode("ascii"))
    world.record(OpReceipt(operation=turn.operation, attempt=1, status="succeeded", spool=spool))
    world.record(UsageRow(row=f"{turn.operation}:attempt:1", purpose="main", status="completed", usage=reply.usage))
    world.attempts.append(
        AttemptRow(
            operation=turn.operation,
            attempt=1,
            status="completed",
            usage=reply.usage,
            seconds=seconds,
            model=_resolved(turn.request.model if turn.request else "", reply.model),
            fingerprint=None if reply.fingerprint is None else digest_text(reply.fingerprint)[:19],
        )
    )
    turn.reply = reply


def _resolved(asked: str, answered: str | None) -> str | None:
    """The model that answered: by name where it is the one asked for or a version of it, else by digest.

    The provider chooses this text, so it may hold anything.
    """
    if answered is None:
        return None
    is_version = answered.startswith(asked) and _VERSION.fullmatch(answered.removeprefix(asked)) is not None
    return answered if is_version else digest_text(answered)[:19]


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
    stopped = world.bounds.cancellation()
    if stopped is not None:
        return stopped
    if provider is not None:
        world.problem = str(provider)
        return provider_ending(provider)
    if isinstance(error, ReplayMismatchError):
        return Outcome(status="failed", reason="replay_mismatch", detail=f"turn_{turn.number}")
    if error is not None:
        return Outcome(status="failed", reason="script_exhausted", detail=f"turn_{turn.number}")
    if end.gave_up == "deadline":
        return Outcome(status="limit_exceeded", reason="duration", detail="deadline")
    return Outcome(status="suspended", reason="reconciliation_required", detail="model_call")


def _word(error: Exception | None) -> str:
    return "replay_mismatch" if isinstance(error, ReplayMismatchError) else "script_exhausted"
