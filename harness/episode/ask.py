"""T13 of a turn: the model call and its attempts."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from harness.episode.admission import call_s, start
from harness.episode.hands import TurnInHand
from harness.episode.keeping_pace import leave
from harness.episode.model_call import CallEnd, GaveUp, ModelCall, call_at_once, call_model
from harness.episode.retrying import Retries
from harness.episode.settling import CUT_OFF, adopt, billed_before, fail, reply_bytes, row_of, settle
from harness.episode.world import World
from harness.errors import RETRYABLE, OpeningRefusedError, ProviderCategory, ProviderError, ScriptExhaustedError
from harness.journal import as_kept
from harness.ports import TurnContext
from harness.schema.made_ids import set_apart
from harness.schema.message import Reply, Usage
from harness.schema.outcome import Outcome
from harness.schema.record import Decided, OpNotSent, OpReceipt, OpStarted, OpUnknown
from harness.schema.rehearsal import Visit
from harness.schema.run import DECIDED

__all__ = ["ask"]

#: The owner of a call ends it at its deadline. The transport's own bound is this much later, in seconds: a reply that
#: comes in between is kept, for it is paid for.
GRACE_S = 30.0
#: How often a live call that its driver was killed in is made again unasked.
REPEATS = 1

_CATEGORIES: dict[str, ProviderCategory] = {name: name for name in get_args(ProviderCategory)}
_GAVE_UP: dict[str, GaveUp] = {name: name for name in get_args(GaveUp)}
_BEFORE = "it ended so when an earlier process asked; it is not sent again"


def ask(world: World, turn: TurnInHand) -> Outcome | None:
    """T13 and T14: call the actor, on its own thread where it may wait; settle what came and its usage, then read it.

    What an earlier driver got is taken from where it was kept. A call that it was killed in may have been paid for: a
    live one is made once more at most, and flagged (runner specification 2.7). One that failed in a way that may be
    over soon is made again within its bounds. All attempts are one operation and one turn.
    """
    retries, repeats, failed = Retries(world), 0, 0
    allowed = REPEATS if world.parts.job.options.cut_off_calls == "repeat" else 0
    attempt = 1
    while True:
        known = _known(world, turn, attempt)
        if known is None and world.was_cut_off() and _is_live(world):
            known = CallEnd(gave_up="interrupted")
        before = world.measured_before(row_of(turn.operation, attempt))
        end, seconds = (known, before) if known is not None else _called(world, turn, attempt, failed)
        if end.reply is not None:
            settle(world, turn, attempt, end.reply, seconds)
            return None
        ending = fail(world, turn, attempt, end, seconds)
        following = OpStarted(operation=turn.operation, attempt=attempt + 1)
        decided = world.journal.decided(turn.operation) if ending.status == "suspended" else None
        if decided is not None:
            stop = _as_decided(world, turn, attempt, decided)
            if stop is not None or turn.reply is not None:
                return stop
        elif not _is_made_again(world, following, end, retries, failed, may_repeat=repeats < allowed):
            ending = world.bounds.cancellation() or ending
            if isinstance(end.error, ProviderError) and ending.status != "cancelled":
                world.problem = str(end.error)
            return ending
        repeats += end.gave_up == "interrupted"
        failed += end.error is not None
        attempt += 1
        refused = start(world, turn, attempt)
        if refused is not None:
            return refused


def _is_live(world: World) -> bool:
    return world.parts.actor.identity.kind == "live"


def _is_made_again(
    world: World, following: OpStarted, end: CallEnd, retries: Retries, failed: int, *, may_repeat: bool
) -> bool:
    """Whether the ``following`` attempt is made; where an earlier driver decided that, as it did.

    ``failed`` attempts did before this one: one that was cut off, of which nothing is known, uses up none of them.
    """
    if world.journal.ahead is not None:
        again = world.journal.ahead == following
    elif world.bounds.latched:
        again = False
    elif end.error is None:
        withdrawn = end.gave_up == "cancelled" and not end.sent  # by an earlier driver
        again = withdrawn or (end.gave_up == "interrupted" and may_repeat)
    else:
        again = isinstance(end.error, ProviderError) and retries.allow(failed + 1, end.error)
    if again and _may_be_paid_for(end):
        world.flag("duplicate_risk")
    return again


def _may_be_paid_for(end: CallEnd) -> bool:
    """Whether a provider may have worked on a call of which nothing is known."""
    if end.error is None:
        return end.sent
    return isinstance(end.error, ProviderError) and end.error.sent and not end.is_definite


def _as_decided(world: World, turn: TurnInHand, attempt: int, decided: Decided) -> Outcome | None:
    """Do what somebody decided about a call whose outcome is unknown; None: it is made again, or it has its reply."""
    match decided.decision:
        case "abort":
            return Outcome(status="failed", reason="operator_abort")
        case "record_failure":
            world.record(OpReceipt(operation=turn.operation, attempt=attempt, status="failed", detail=DECIDED))
            world.attempts.append(replace(world.attempts.pop(), error=DECIDED))
            return Outcome(status="failed", reason="model_error", detail="transport")
        case "replay_success":
            adopt(world, turn, attempt, _kept(world, turn, attempt))
        case _:
            world.flag("duplicate_risk")
    return None


def _called(world: World, turn: TurnInHand, attempt: int, failed: int) -> tuple[CallEnd, float]:
    """The call, after so many that ``failed``, and the seconds that it took."""
    request, job, parts = turn.request, world.parts.job, world.parts
    if request is None:  # pragma: no cover  (T10 makes it)
        raise AssertionError(turn.operation)
    limit_s = call_s(world)
    context = TurnContext(
        turn=turn.number,
        deadline_s=limit_s + GRACE_S,
        cancelled=world.bounds.cancelled,
        substitute=lambda text: _filled(world, turn, text),
        visit=Visit(
            scenario=job.loaded.scenario.id, trial=job.trial, turn=turn.number, attempt=job.attempt, again=failed
        ),
        tries=attempt,
    )

    used = world.state.call_ids

    def settled() -> Reply:
        reply = set_apart(parts.actor.reply(request, context), used, turn.number)
        world.late.keep_text(lambda: _keep(world, turn, attempt, reply))
        return reply

    def late(usage: Usage) -> None:
        parts.late.hand_over(lambda: world.late.add(row_of(turn.operation, attempt), usage))

    call = ModelCall(settled, detached=parts.detached, scope=world.key, late=late)
    started = parts.clock.monotonic()
    make = call_at_once if getattr(parts.actor, "is_immediate", False) else call_model
    try:
        end = make(call, world.bounds, limit_s=limit_s)
    finally:
        leave(world)
    seconds = parts.clock.monotonic() - started
    if world.durable is not None:
        world.durable.times.keep("attempt", seconds, row_of(turn.operation, attempt))
    return end, seconds


def _keep(world: World, turn: TurnInHand, attempt: int, reply: Reply) -> None:
    world.spool.put_reply(turn.operation, attempt, reply_bytes(reply))


def _known(world: World, turn: TurnInHand, attempt: int) -> CallEnd | None:
    """How this attempt ended before the driver was killed; None where it is to be made now.

    An actor that costs nothing is asked again instead, so that it stands where it stood.
    """
    if not _is_live(world):
        return None
    ahead = world.journal.ahead
    match ahead:
        case OpReceipt(operation=turn.operation, status="succeeded") | None:
            return _kept_reply(world, turn, attempt)
        case (
            OpUnknown(operation=turn.operation)
            | OpReceipt(operation=turn.operation)
            | OpNotSent(operation=turn.operation)
        ):
            return _failed_before(world, ahead)
        case _:
            return None


def _failed_before(world: World, ahead: OpUnknown | OpReceipt | OpNotSent) -> CallEnd:
    usage = None if isinstance(ahead, OpNotSent) else billed_before(world, ahead)
    partial = None if usage is None else Reply(text=None, finish=None, usage=usage)
    word, sent = ahead.detail or "", not isinstance(ahead, OpNotSent)
    if word in _GAVE_UP:
        return CallEnd(gave_up=_GAVE_UP[word], sent=sent)
    if word == CUT_OFF:
        return CallEnd(error=ProviderError("connection_lost", _BEFORE, delivered=True, partial=partial))
    category = _CATEGORIES.get(word, "bad_response")
    error = ProviderError(category, _BEFORE, retryable=category in RETRYABLE, sent=sent, partial=partial)
    return CallEnd(error=error, sent=sent, is_definite=isinstance(ahead, OpReceipt))


def _kept_reply(world: World, turn: TurnInHand, attempt: int) -> CallEnd | None:
    """The reply that an earlier driver got, whether it could still write a record of it or not."""
    if world.journal.ahead is None and not world.was_cut_off():
        return None
    if world.journal.ahead is None and world.spool.reply(turn.operation, attempt) is None:
        return None
    reply = _kept(world, turn, attempt)
    world.flag("replayed_operations")
    return CallEnd(reply=reply)


def _kept(world: World, turn: TurnInHand, attempt: int) -> Reply:
    data = world.spool.reply(turn.operation, attempt)
    if data is None:
        raise OpeningRefusedError("journal_integrity_mismatch", "a reply that it tells of is not kept")
    return as_kept(Reply, data, "a reply")


def _filled(world: World, turn: TurnInHand, text: str) -> str:
    missing = world.values.missing(text)
    if missing:
        raise ScriptExhaustedError(turn.number - 1, f"the value {missing[0]!r} is not known yet")
    return world.values.fill(text)
