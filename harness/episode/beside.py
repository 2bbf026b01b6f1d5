"""An episode on disk while nobody drives it: what may be added to its journal from outside of the loop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from harness import meter
from harness.clock import new_token
from harness.episode.durable import DurableEpisode, DurablePlace
from harness.episode.parts import EpisodeParts
from harness.errors import EpisodeError
from harness.ports import Clock
from harness.schema.record import LateUsage
from harness.schema.run import LateRow

__all__ = ["late_sink", "opened_beside"]

_log = logging.getLogger(__name__)


@contextmanager
def opened_beside(place: DurablePlace, clock: Clock) -> Iterator[DurableEpisode]:
    """An episode that exists, under a lease of its own.

    Raises OpeningRefusedError where a driver has it or it cannot be read, StorageError where it cannot be written.
    """
    durable = DurableEpisode(replace(place, token=new_token(), expects="begun"), clock)
    try:
        yield durable
    finally:
        durable.close()


def late_sink(parts: EpisodeParts) -> Callable[[LateUsage], None]:
    """Where late usage of an episode goes once its driver has left it: the run's ledger, whatever it is.

    The journal of one that is suspended learns of it as well; that of a closed one stays as it is.
    """

    def keep(late: LateUsage) -> None:
        operation, _, attempt = late.row.rpartition(":attempt:")
        parts.late_row(
            LateRow(
                key=parts.job.key,
                operation=operation,
                attempt=int(attempt),
                usage=late.usage,
                cost_micro_usd=meter.cost(late.usage, parts.job.actor.price),
                inconsistent=meter.is_inconsistent(late.usage),
            )
        )
        if parts.durable is not None:
            _into_journal(parts.durable, parts.clock, late)

    return keep


def _into_journal(place: DurablePlace, clock: Clock, late: LateUsage) -> None:
    try:
        with opened_beside(place, clock) as durable:
            state = durable.journal.settled
            waits = any(row.row == late.row and row.usage is None for row in state.usage)
            if state.waiting is not None and waits:
                durable.journal.append_beside(late)
    except EpisodeError as error:
        # whoever has it finds the reply where it was put
        _log.info("late usage is not in the journal: %s", type(error).__name__)
