"""T13 and T14 of a turn: the model call, and settling what came back (or did not)."""

from __future__ import annotations

import json
from typing import Literal, get_args

from harness.episode.admission import call_s, start
from harness.episode.endings import provider_ending
from harness.episode.hands import TurnInHand
from harness.episode.ledger import enter
from harness.episode.model_call import CallEnd, call_model
from harness.episode.world import World
from harness.errors import (
    OpeningRefusedError,
    ProviderCategory,
    ProviderError,
    ReplayMismatchError,
    ScriptExhaustedError,
)
from harness.ports import TurnContext
from harness.schema.base import digest_bytes
from harness.schema.message import Reply
from harness.schema.outcome import Outcome
from harness.schema.record import OpNotSent, OpReceipt, OpUnknown
from harness.schema.rehearsal import Visit
from harness.schema.run import AttemptRow

__all__ = ["ask"]

#: The owner of a call ends it at its deadline; the transport's own bound, this much later, only ends the thread.
GRACE_S = 1.0
#: How often a live call that its driver was killed in is made again.
REPEATS = 1
#: What the journal says of such a call.
_CUT_OFF = "interrupted"
_CATEGORIES: dict[str, ProviderCategory] = {name: name for name in get_args(ProviderCategory)}
_BEFORE = "so it ended before its driver was killed"


def ask(world: World, turn: TurnInHand) -> Outcome | None:
    """T13 and T14: call the actor on its own thread; settle what came back and its usage before anyone reads it.

    What an earlier driver got is taken from where it was kept. A call that it was killed in may have been paid for: a
    live one is made once more at most, and flagged (runner specification 2.7).
    """
    if turn.request is None:  # pragma: no cover  (T10 makes it)
        raise AssertionError(turn.operation)
    attempt = 1
    while True:
        known = _known(world, turn, attempt)
        if known is None and world.was_cut_off() and world.parts.actor.identity.kind == "live":
            known = CallEnd(gave_up=_CUT_OFF)
        end, seconds = (known, 0.0) if known is not None else _called(world, turn, attempt)
        if end.reply is not None:
            _settle(world, turn, attempt, end.reply, seconds)
            return None
        ending = _unanswered(world, turn, attempt, end, seconds)
        repeats = REPEATS if world.parts.job.options.cut_off_calls == "repeat" else 0
        if end.gave_up != _CUT_OFF or attempt > repeats:
            return ending
        attempt += 1
        world.flag("duplicate_risk")
        refused = start(world, turn, attempt)
        if refused is not None:
            return refused


def _called(world: World, turn: TurnInHand, attempt: int) -> tuple[CallEnd, float]:
    """The call, and the seconds that it took."""
    request, job = turn.request, world.parts.job
    if request is None:  # pragma: no cover  (T10 makes it)
        raise AssertionError(turn.operation)
    limit_s = call_s(world)
    context = TurnContext(
        turn=turn.number,
        deadline_s=limit_s + GRACE_S,
        cancelled=world.bounds.cancelled,
        substitute=lambda text: _filled(world, turn, text),
        visit=Visit(scenario=job.loaded.scenario.id, trial=job.trial, turn=turn.number, attempt=job.attempt),
    )

    def settle(reply: Reply) -> None:
        world.spool.put_reply(turn.operation, attempt, _bytes(reply))

    started = world.parts.clock.monotonic()
    end = call_model(world.parts.actor, request, context, world.bounds, limit_s=limit_s, settle=settle)
    return end, world.parts.clock.monotonic() - started


def _known(world: World, turn: TurnInHand, attempt: int) -> CallEnd | None:
    """How this attempt ended before the driver was killed; None where it is to be made now.

    An actor that costs nothing is asked again instead, so that it stands where it stood.
    """
    if world.parts.actor.identity.kind != "live":
        return None
    ahead = world.journal.ahead
    match ahead:
        case OpReceipt(operation=turn.operation, status="succeeded") | None:
            return _kept_reply(world, turn, attempt)
        case OpUnknown(operation=turn.operation):
            return CallEnd(gave_up=ahead.detail)
        case OpReceipt(operation=turn.operation) | OpNotSent(operation=turn.operation):
            category = _CATEGORIES.get(ahead.detail or "", "bad_response")
            return CallEnd(error=ProviderError(category, _BEFORE, sent=not isinstance(ahead, OpNotSent)))
        case _:
            return None


def _kept_reply(world: World, turn: TurnInHand, attempt: int) -> CallEnd | None:
    """The reply that an earlier driver got, whether it could still write a record of it or not."""
    if world.journal.ahead is None and not world.was_cut_off():
        return None
    data = world.spool.reply(turn.operation, attempt)
    if data is not None:
        world.flag("replayed_operations")
        return CallEnd(reply=Reply.model_validate_json(data))
    if world.journal.ahead is None:
        return None
    raise OpeningRefusedError("journal_integrity_mismatch", "a reply that it tells of is not kept")


def _filled(world: World, turn: TurnInHand, text: str) -> str:
    missing = world.values.missing(text)
    if missing:
        raise ScriptExhaustedError(turn.number - 1, f"the value {missing[0]!r} is not known yet")
    return world.values.fill(text)


def _bytes(reply: Reply) -> bytes:
    # json and not pydantic: a lone surrogate, which a reply can hold, has no UTF-8 form
    return json.dumps(reply.model_dump(), sort_keys=True).encode("ascii")


def _settle(world: World, turn: TurnInHand, attempt: int, reply: Reply, seconds: float) -> None:
    spool = digest_bytes(_bytes(reply))
    world.record(OpReceipt(operation=turn.operation, attempt=attempt, status="succeeded", spool=spool))
    row = AttemptRow(operation=turn.operation, attempt=attempt, status="completed", usage=None, seconds=seconds)
    enter(world, turn, row, reply)
    turn.reply = reply


def _unanswered(world: World, turn: TurnInHand, attempt: int, end: CallEnd, seconds: float) -> Outcome:
    """A call without a reply: a definitive failure, or nobody knows."""
    error = end.error
    provider = error if isinstance(error, ProviderError) else None
    status: Literal["unknown", "failed", "not_sent"] = "failed"
    if error is None:
        status = "unknown"
        world.record(OpUnknown(operation=turn.operation, attempt=attempt, detail=end.gave_up or "unknown"))
    elif provider is not None and not provider.sent:
        status = "not_sent"
        world.record(OpNotSent(operation=turn.operation, attempt=attempt, detail=provider.category))
    else:
        detail = provider.category if provider else _word(error)
        world.record(OpReceipt(operation=turn.operation, attempt=attempt, status="failed", detail=detail))
    row = AttemptRow(
        operation=turn.operation,
        attempt=attempt,
        status=status,
        usage=None,
        seconds=seconds,
        error=provider.category if provider else end.gave_up or _word(error),
        http_status=provider.http_status if provider else None,
    )
    enter(world, turn, row)
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
