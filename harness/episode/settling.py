"""T14 of a turn: what came of an attempt at a model call, in the journal and in the ledger."""

from __future__ import annotations

from typing import Literal

from harness.episode.encoding import kept_json
from harness.episode.endings import provider_ending
from harness.episode.hands import TurnInHand
from harness.episode.ledger import answered, enter, priced, row_of
from harness.episode.model_call import CallEnd
from harness.episode.world import World
from harness.errors import OpeningRefusedError, ProviderError, ReplayMismatchError
from harness.schema.base import digest_bytes
from harness.schema.message import Reply, Usage
from harness.schema.outcome import Outcome
from harness.schema.record import LateUsage, OpNotSent, OpReceipt, OpUnknown
from harness.schema.remembering import remembered
from harness.schema.run import AttemptRow

__all__ = ["CUT_OFF", "account_late", "adopt", "bill", "billed_before", "fail", "reply_bytes", "row_of", "settle"]

#: What the journal says of a call whose reply broke off: it was made, so it is paid for, and nobody has it.
CUT_OFF = "reply_cut_off"

_Status = Literal["unknown", "failed", "not_sent"]


@remembered(16)
def reply_bytes(reply: Reply) -> bytes:
    """A reply as the spool keeps it."""
    return kept_json(reply.model_dump())


def settle(world: World, turn: TurnInHand, attempt: int, reply: Reply, seconds: float) -> None:
    """The call was answered: receipt and usage, before anybody reads the reply."""
    spool = digest_bytes(reply_bytes(reply))
    world.record(OpReceipt(operation=turn.operation, attempt=attempt, status="succeeded", spool=spool))
    row = AttemptRow(operation=turn.operation, attempt=attempt, status="completed", usage=None, seconds=seconds)
    enter(world, turn, row, reply, world.record)
    turn.reply = reply


def adopt(world: World, turn: TurnInHand, attempt: int, reply: Reply) -> None:
    """Somebody decided that a reply which came too late answers the call; it was paid for once."""
    row = row_of(turn.operation, attempt)
    _ = world.journal.ahead  # what was accounted for meanwhile counts
    is_known = any(one.row == row and one.usage is not None for one in world.state.usage)
    if not is_known and reply.usage is not None:
        world.record(LateUsage(row=row, usage=reply.usage))
    spool = digest_bytes(reply_bytes(reply))
    world.record(OpReceipt(operation=turn.operation, attempt=attempt, status="succeeded", spool=spool))
    seconds = world.attempts.pop().seconds
    told = AttemptRow(operation=turn.operation, attempt=attempt, status="completed", usage=None, seconds=seconds)
    world.attempts.append(answered(world, turn, told, reply))
    world.flag("late_usage")
    turn.reply = reply


def account_late(world: World | None) -> None:
    """Usage that came before the end, of a call that was given up: into the journal and the ledger."""
    if world is None:
        return
    for late in world.late.take():
        world.record(late)
        world.flag("late_usage")
        world.attempts = [
            priced(world, row, late.usage) if row_of(row.operation, row.attempt) == late.row else row
            for row in world.attempts
        ]


def bill(world: World) -> tuple[AttemptRow, ...]:
    """A row for each attempt; the usage of one that nobody waited for is what the journal learned of it later."""
    late = {row.row: row.usage for row in world.state.usage if row.usage is not None}
    named = ((row, late.get(row_of(row.operation, row.attempt))) for row in world.attempts)
    return tuple(row if usage is None or row.usage is not None else priced(world, row, usage) for row, usage in named)


def fail(world: World, turn: TurnInHand, attempt: int, end: CallEnd, seconds: float) -> Outcome:
    """The call was not answered: records and row, and the ending that this is where nobody asks again.

    What it was billed all the same, where that was told, is kept before the record that names it, so that whoever goes
    on after a kill enters the same.
    """
    status, word = _unanswered(end)
    usage = end.usage
    spool = None if usage is None else world.spool.put(usage.model_dump_json().encode("ascii"))
    # of a call that was withdrawn a cancelled episode tells too: else nobody knew that it was not made
    record = world.journal.append if end.error is None and not end.sent else world.record
    if status == "unknown":
        world.record(OpUnknown(operation=turn.operation, attempt=attempt, detail=word, spool=spool))
    elif status == "not_sent":
        record(OpNotSent(operation=turn.operation, attempt=attempt, detail=word))
    else:
        failed = OpReceipt(operation=turn.operation, attempt=attempt, status="failed", spool=spool, detail=word)
        world.record(failed)
    provider = end.error if isinstance(end.error, ProviderError) else None
    row = AttemptRow(
        operation=turn.operation,
        attempt=attempt,
        status=status,
        usage=usage,
        seconds=seconds,
        error=word,
        http_status=provider.http_status if provider else None,
    )
    enter(world, turn, row, None, record)
    return _ending(world, turn, end)


def billed_before(world: World, ahead: OpUnknown | OpReceipt) -> Usage | None:
    """What a failed call was billed, as an earlier driver kept it. Raises OpeningRefusedError where it is not kept."""
    if ahead.spool is None:
        return None
    try:
        return Usage.model_validate_json(world.spool.get(ahead.spool))
    except (KeyError, ValueError) as error:
        problem = "what a failed call was billed is not kept"
        raise OpeningRefusedError("journal_integrity_mismatch", problem) from error


def _unanswered(end: CallEnd) -> tuple[_Status, str]:
    """A definitive failure, nothing that was ever sent, or nobody knows; and the word for why."""
    error = end.error
    if error is None:
        return "unknown" if end.sent else "not_sent", end.gave_up or "unknown"
    if not isinstance(error, ProviderError):
        return "failed", "replay_mismatch" if isinstance(error, ReplayMismatchError) else "script_exhausted"
    if not error.sent:
        return "not_sent", error.category
    return "failed" if end.is_definite else "unknown", CUT_OFF if error.delivered else error.category


def _ending(world: World, turn: TurnInHand, end: CallEnd) -> Outcome:
    error = end.error
    stopped = world.bounds.cancellation()
    if stopped is not None:
        return stopped
    if isinstance(error, ProviderError) and not error.delivered:
        return provider_ending(error)
    if isinstance(error, ReplayMismatchError):
        return Outcome(status="failed", reason="replay_mismatch", detail=f"turn_{turn.number}")
    if error is not None and not isinstance(error, ProviderError):
        return Outcome(status="failed", reason="script_exhausted", detail=f"turn_{turn.number}")
    if end.gave_up == "deadline":
        return Outcome(status="limit_exceeded", reason="duration", detail="deadline")
    return Outcome(status="suspended", reason="reconciliation_required", detail="model_call")
