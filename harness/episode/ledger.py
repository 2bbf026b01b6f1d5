"""One row for each dispatched model attempt: in the journal, in the run log with its cost, and at the run's ceiling."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from harness import meter
from harness.episode.hands import TurnInHand
from harness.episode.world import World
from harness.errors import AccountingError
from harness.journal import EpisodeState
from harness.schema.base import digest_text
from harness.schema.message import Reply, Usage
from harness.schema.price import Price
from harness.schema.record import Payload, UsageRow
from harness.schema.run import AttemptRow

__all__ = ["answered", "enter", "paid_before", "priced", "row_of", "told_again"]

NO_TIMES: Final[Mapping[str, float]] = {}
#: What a provider adds to the name of a model to tell which version of it answers.
_VERSION = re.compile(r"(?:[-@:][0-9][0-9.-]{0,15})?")


def row_of(operation: str, attempt: int) -> str:
    """The name of an attempt's row."""
    return f"{operation}:attempt:{attempt}"


def enter(
    world: World, turn: TurnInHand, row: AttemptRow, reply: Reply | None, record: Callable[[Payload], object]
) -> None:
    """Enter an attempt that is over; ``row`` tells of it without its cost and what answered, which ``reply`` tells.

    The usage of one that failed, where it was told, stands in ``row``. Raises AccountingError where it is entered
    already: what was paid once would count twice.
    """
    usage = row.usage if reply is None else reply.usage
    name = row_of(row.operation, row.attempt)
    if any(known.row == name for known in world.state.usage):
        raise AccountingError(f"attempt {name} is entered twice")
    record(UsageRow(row=name, purpose="main", status=row.status, usage=usage))
    world.attempts.append(priced(world, row, usage) if reply is None else answered(world, turn, row, reply))
    if world.parts.quota is not None:
        billed = row.status != "not_sent" and not _was_turned_away(row, usage)
        world.parts.quota.settle(name, usage, billed=billed)


def priced(world: World, row: AttemptRow, usage: Usage | None) -> AttemptRow:
    """The row with this usage and what it cost."""
    return replace(
        row,
        usage=usage,
        cost_micro_usd=_cost(world, row, usage),
        inconsistent=meter.is_inconsistent(usage),
    )


def _cost(world: World, row: AttemptRow, usage: Usage | None) -> Decimal | None:
    """None where it is unknown, and of what was not sent: that is no call."""
    if row.status == "not_sent":
        return None
    return Decimal(0) if _was_turned_away(row, usage) else meter.cost(usage, world.parts.job.actor.price)


def _was_turned_away(row: AttemptRow, usage: Usage | None) -> bool:
    """Whether a provider answered that it did not run the request, and told no usage all the same."""
    return row.status == "failed" and usage is None and row.error in meter.UNBILLED


def answered(world: World, turn: TurnInHand, row: AttemptRow, reply: Reply) -> AttemptRow:
    """The row with what answered, its usage and what that cost."""
    usage, fingerprint = reply.usage, reply.fingerprint
    return AttemptRow(
        operation=row.operation,
        attempt=row.attempt,
        status="completed",
        usage=usage,
        seconds=row.seconds,
        model=_resolved(turn.request.model if turn.request else "", reply.model),
        fingerprint=None if fingerprint is None else digest_text(fingerprint)[:19],
        cost_micro_usd=meter.cost(usage, world.parts.job.actor.price),
        inconsistent=meter.is_inconsistent(usage),
    )


def told_again(row: UsageRow, price: Price | None, times: Mapping[str, float] = NO_TIMES) -> AttemptRow:
    """What the journal still tells of an attempt: its tokens; how long it took where ``times`` tell that by its row."""
    operation, _, attempt = row.row.rpartition(":attempt:")
    return AttemptRow(
        operation=operation,
        attempt=int(attempt),
        status=row.status,
        usage=row.usage,
        seconds=times.get(row.row, 0.0),
        cost_micro_usd=meter.cost(row.usage, price),
        inconsistent=meter.is_inconsistent(row.usage),
    )


def paid_before(state: EpisodeState, price: Price | None) -> tuple[AttemptRow, ...]:
    """The bill of an episode that is not gone on with; a call that was out when it stopped is of unknown outcome."""
    rows = [told_again(row, price) for row in state.usage]
    entered = {(row.operation, row.attempt) for row in rows}
    out = (
        AttemptRow(operation=name, attempt=one.attempt, status="unknown", usage=None, seconds=0.0)
        for name, one in state.operations.items()
        if one.purpose == "main" and one.status == "started" and (name, one.attempt) not in entered
    )
    return (*rows, *out)


def _resolved(asked: str, answered: str | None) -> str | None:
    """The model that answered: by name where it is the one asked for or a version of it, else by digest.

    The provider chooses this text, so it may hold anything.
    """
    if answered is None:
        return None
    is_version = answered.startswith(asked) and _VERSION.fullmatch(answered.removeprefix(asked)) is not None
    return answered if is_version else digest_text(answered)[:19]
