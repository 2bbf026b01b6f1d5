"""What each live actor of a run came to and cost, in one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from harness.reporters._rows import VERDICT_WORDS, Episode
from harness.schema.money import dollars_of, told_usd
from harness.schema.paid import paid
from harness.schema.run import RunLogEntry

__all__ = ["HEADINGS", "ActorRow", "actor_rows"]

HEADINGS: Final = ("actor", "episodes", "passed", "failed", "not judged", "pending", "cost", "median call")


@dataclass(frozen=True, slots=True)
class ActorRow:
    """Episodes by verdict, where of several attempts the last counts; cost and calls are of all attempts.

    ``cost`` is a text, with ``>=`` where some calls are of unknown cost; ``call_s`` the median seconds of an answered
    model call, None where none was.
    """

    actor: str
    verdicts: tuple[int, ...]
    cost: str
    call_s: float | None

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of the headings."""
        seconds = "" if self.call_s is None else f"{self.call_s:.2f} s"
        counts = (f"{count:,}" for count in (sum(self.verdicts), *self.verdicts))
        return (self.actor, *counts, self.cost, seconds)


def actor_rows(rows: tuple[Episode, ...]) -> tuple[ActorRow, ...]:
    """One row for each live actor, of several versions of a control plane one for each; none where none played."""
    live = [row for row in rows if row.receipt.actor.kind == "live"]
    refs = dict.fromkeys(row.who for row in live)
    return tuple(_row(ref, [row for row in live if row.who == ref]) for ref in refs)


def _row(ref: str, rows: list[Episode]) -> ActorRow:
    last = [row.receipt.verdict for row in rows if not row.followed]
    logs = [row.log for row in rows if row.log is not None]
    seconds = [call.seconds for log in logs for call in log.attempts if call.status == "completed" and call.seconds]
    return ActorRow(
        ref, tuple(last.count(verdict) for verdict in VERDICT_WORDS), _cost(logs), median(seconds) if seconds else None
    )


def _cost(logs: Sequence[RunLogEntry]) -> str:
    of_all = paid(logs)
    dollars = dollars_of(of_all.micro_usd)
    if of_all.at_least and not dollars:
        return "unknown"
    return told_usd(dollars, at_least=of_all.at_least)
