"""An episode whose driver may not, or can not, write into its journal: what it leaves, and what it is known to cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from harness.episode.close import close
from harness.episode.durable import JOURNAL, SPOOL, DurableEpisode, DurablePlace
from harness.episode.ledger import paid_before, row_of, told_again
from harness.episode.parts import EpisodeParts
from harness.episode.world import World
from harness.errors import OpeningRefusedError, StorageError
from harness.journal import (
    EpisodeState,
    Journal,
    as_kept,
    asked,
    fold,
    intact,
    journal_damage,
    kept_attempts,
    kept_reply,
)
from harness.schema.message import Reply, Usage
from harness.schema.outcome import Outcome
from harness.schema.receipt import Receipt
from harness.schema.record import UsageRow
from harness.schema.run import AttemptRow, RecoveryClass

__all__ = ["Played", "could_not_write", "lost_records", "refused", "unwritten"]

#: Attempts at one model call that are looked for where the journal does not tell of them.
_ATTEMPTS = 32
#: Refusals after which the same driver, or the next one, goes on as if nothing had been.
_PASSING = frozenset({"lease_held", "lease_lost", "key_conflict"})
#: Refusals by what lies on disk, as long as nobody puts that right.
_DAMAGE = frozenset({"journal_integrity_mismatch", "journal_version_unsupported"})
_LASTING = _DAMAGE | {"fixture_mismatch", "definition_mismatch"}


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that is over, or left as it is; ``world`` is None where it was not built, or not here.

    ``at_least``: its ``ledger`` is a lower bound of what was paid for.
    """

    receipt: Receipt
    world: World | None = None
    problem: str | None = None
    ledger: tuple[AttemptRow, ...] = ()
    resumable: bool = False
    recovery: RecoveryClass | None = None
    at_least: bool = False


def refused(
    parts: EpisodeParts, error: OpeningRefusedError, journal: Journal, durable: DurableEpisode | None
) -> Played:
    """What a driver leaves that may not go on with the episode.

    It stays on disk as it is, for whoever puts that right or lets it be played anew; one whose time is over is played
    anew in any case.
    """
    outcome = Outcome(status="rejected", reason=error.reason, detail=error.detail)
    played = unwritten(parts, outcome, str(error), paid=(journal, durable))
    if parts.durable is None or error.reason == "deadline_passed_before_start":
        return played
    lasting = error.reason in _LASTING or (durable is None and error.reason not in _PASSING)
    played = replace(played, resumable=True, recovery="reconciliation_required" if lasting else "resume_eligible")
    if not lasting:
        return played
    is_bound = error.reason in _DAMAGE or journal_damage(parts.durable.folder / JOURNAL) is not None
    return replace(played, ledger=_known(parts, parts.durable, played.ledger), at_least=is_bound)


def could_not_write(
    parts: EpisodeParts, error: StorageError, journal: Journal, durable: DurableEpisode | None
) -> Played:
    """What a driver leaves whose disk is full or read-only: once that is put right, it is gone on with."""
    played = unwritten(parts, Outcome(status="failed", reason="storage_error"), str(error), paid=(journal, durable))
    return played if parts.durable is None else replace(played, resumable=True, recovery="resume_eligible")


def unwritten(
    parts: EpisodeParts,
    outcome: Outcome,
    problem: str,
    *,
    paid: tuple[Journal, DurableEpisode | None] | None = None,
) -> Played:
    """The receipt of an episode without a world.

    What its journal holds of model calls, this driver's and those before, was ``paid`` for all the same.
    """
    ledger: tuple[AttemptRow, ...] = ()
    if paid is not None:
        journal, durable = paid
        stored = fold(() if durable is None else durable.stored)
        ledger = paid_before(max(stored, journal.state, key=lambda one: len(one.usage)), parts.job.actor.price)
    return Played(close(parts, Journal(), None, outcome), problem=problem, ledger=ledger)


def lost_records(parts: EpisodeParts, durable: DurableEpisode) -> str | None:
    """What is wrong with a journal that was emptied or cut; None where nothing shows that it was.

    A call is in the journal before it is made: an answer that is kept, or an attempt that the run's account has
    settled, is never the first to tell of one. Only what was reserved may be, for one call that was not made yet.
    """
    place = parts.durable
    if place is None:
        return None
    if not durable.stored:
        if kept_attempts(place.folder / SPOOL) or any(_of_turn(parts, place, 1, most=1)):
            return "its journal is gone or empty, though a model was asked in it"
        return None
    told = asked(record.payload for record in durable.stored)
    if kept_attempts(place.folder / SPOOL) <= told and not _settled(parts, fold(durable.stored).turn + 1) - told:
        return None
    return "its journal was cut: a model was asked more often than it tells"


def _settled(parts: EpisodeParts, turns: int) -> frozenset[tuple[str, int]]:
    """Attempts of these first ``turns`` that the run's account has settled, and not with nothing: they were made."""
    if parts.quota is None:
        return frozenset()
    attempts = [(f"turn-{turn}/main", attempt) for turn in range(1, turns + 1) for attempt in range(1, _ATTEMPTS + 1)]
    entries = ((one, parts.quota.before(row_of(*one))) for one in attempts)
    made = (one for one, entry in entries if entry is not None and entry.event == "settled" and entry.micro_usd != 0)
    return frozenset(made)


def _known(parts: EpisodeParts, place: DurablePlace, told: tuple[AttemptRow, ...]) -> tuple[AttemptRow, ...]:
    """The bill as far as it can be told: by the records before the damage, the kept replies, and the run's account."""
    before: EpisodeState = fold(intact(place.folder / JOURNAL))
    rows = {(row.operation, row.attempt): row for row in (*paid_before(before, parts.job.actor.price), *told)}
    for turn in count(1):
        found = tuple(_of_turn(parts, place, turn))
        if not found and turn > before.turn:
            break
        for row in found:
            known = rows.get((row.operation, row.attempt))
            if known is None or (known.status == "unknown" and known.cost_micro_usd is None):
                rows[row.operation, row.attempt] = row
    return tuple(rows.values())


def _usage(data: bytes) -> Usage | None:
    """That of a kept reply; None where another version wrote it, which is as much as unknown."""
    try:
        return as_kept(Reply, data, "a reply").usage
    except OpeningRefusedError:
        return None


def _of_turn(parts: EpisodeParts, place: DurablePlace, turn: int, *, most: int = _ATTEMPTS) -> Iterator[AttemptRow]:
    """Attempts of a turn that a reply is kept of, or that the run's account knows."""
    operation, price = f"turn-{turn}/main", parts.job.actor.price
    for attempt in range(1, most + 1):
        data = kept_reply(place.folder / SPOOL, operation, attempt)
        if data is not None:
            row = UsageRow(row=row_of(operation, attempt), purpose="main", status="completed", usage=_usage(data))
            yield told_again(row, price)
            continue
        entry = None if parts.quota is None else parts.quota.before(row_of(operation, attempt))
        if entry is not None:
            cost = entry.micro_usd if entry.event == "settled" else None
            yield AttemptRow(
                operation=operation, attempt=attempt, status="unknown", usage=None, seconds=0.0, cost_micro_usd=cost
            )
