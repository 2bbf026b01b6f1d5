"""What the model calls of episodes cost, as far as anybody knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from harness.schema.run import RunLogEntry

__all__ = ["Paid", "paid"]


@dataclass(frozen=True, slots=True)
class Paid:
    """Of ``calls`` that were sent nobody knows what ``unknown`` of them cost; the others cost ``micro_usd``.

    That is in millionths of a US dollar. ``damaged`` journals may hide calls more.
    """

    calls: int
    unknown: int
    damaged: int
    micro_usd: Decimal

    @property
    def is_known(self) -> bool:
        """Whether the cost of one call is known at least."""
        return self.unknown < self.calls

    @property
    def at_least(self) -> bool:
        """Whether more may have been paid."""
        return self.unknown > 0 or self.damaged > 0


def paid(logs: Iterable[RunLogEntry]) -> Paid:
    """All calls that these rows of the run log tell of."""
    calls, damaged, known = 0, 0, list[Decimal]()
    for log in logs:
        sent = [call.cost_micro_usd for call in log.attempts if call.status != "not_sent"]
        calls += len(sent)
        damaged += log.at_least
        known += [cost for cost in sent if cost is not None]
    return Paid(calls, calls - len(known), damaged, sum(known, Decimal(0)))
