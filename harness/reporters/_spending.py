"""What a run cost, as far as that is known."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from harness.schema.base import JsonValue
from harness.schema.counting import counted
from harness.schema.money import dollars_of, told_usd
from harness.schema.paid import paid
from harness.schema.remembering import remembered
from harness.schema.run import RunView

__all__ = ["Cost", "cost_json", "cost_line", "cost_of"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Of all model calls that were sent; of ``unknown`` ones nobody knows it, ``beyond`` are of no episode told here.

    Of ``damaged`` journals nobody knows whether there were more.
    ``usd`` is rounded down to the millionth: with something unknown it is a lower bound. None where all that is known
    is that some cost nothing.
    """

    calls: int
    unknown: int
    beyond: int
    damaged: int
    usd: Decimal | None


@remembered(1)
def cost_of(view: RunView) -> Cost | None:
    """None where no live model was asked. What is not known is never taken for nothing."""
    live = {receipt.key for receipt in view.receipts if receipt.actor.kind == "live"}
    own, beyond = paid(entry for entry in view.log if entry.key in live), view.beyond
    calls, unknown = own.calls + beyond.calls, own.unknown + beyond.unknown
    if not calls and not own.damaged:
        return None
    dollars = dollars_of(own.micro_usd + beyond.micro_usd)
    return Cost(calls, unknown, beyond.calls, own.damaged, None if unknown and not dollars else dollars)


def cost_line(view: RunView) -> str | None:
    """One line; None where no live model was asked."""
    cost = cost_of(view)
    if cost is None:
        return None
    calls = f"{'>= ' if cost.damaged else ''}{counted(cost.calls, 'model call')}"
    damaged = f": {counted(cost.damaged, 'journal')} damaged" if cost.damaged else ""
    beyond = f"; {cost.beyond} in episodes without a receipt here" if cost.beyond else ""
    more = damaged + beyond
    if cost.usd is None:
        of_all = calls if cost.unknown in {0, cost.calls} else f"{cost.unknown} of {calls}"
        return f"cost: unknown ({of_all}{more})"
    if not cost.unknown:
        return f"cost: {told_usd(cost.usd, at_least=cost.damaged > 0)} ({calls}{more})"
    return f"cost: {told_usd(cost.usd, at_least=True)} ({cost.unknown} of {calls} of unknown cost{more})"


def cost_json(view: RunView) -> JsonValue:
    """The same for machines; null where no live model was asked. Dollars are a text, to the millionth."""
    cost = cost_of(view)
    if cost is None:
        return None
    return {
        "usd": None if cost.usd is None else str(cost.usd),
        "is_lower_bound": cost.unknown > 0 or cost.damaged > 0,
        "calls": cost.calls,
        "calls_of_unknown_cost": cost.unknown,
        "calls_without_a_receipt": cost.beyond,
    }
