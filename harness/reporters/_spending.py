"""What a run cost, as far as that is known."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

from harness.schema.run import RunView

__all__ = ["cost_line"]

_MICRO = Decimal(1_000_000)


def cost_line(view: RunView) -> str | None:
    """One line; None where no live model was asked. What is not known is never taken for nothing."""
    live = {receipt.key for receipt in view.receipts if receipt.actor.kind == "live"}
    rows = [row for entry in view.log if entry.key in live for row in entry.attempts if row.status != "not_sent"]
    damaged = sum(entry.at_least for entry in view.log if entry.key in live)
    if not rows and not damaged:
        return None
    known = [row.cost_micro_usd for row in rows if row.cost_micro_usd is not None]
    unknown = len(rows) - len(known)
    calls = f"{len(rows)} model call{'' if len(rows) == 1 else 's'}"
    if damaged:
        calls = f">= {calls}: {damaged} journal{'' if damaged == 1 else 's'} damaged"
    if not known:
        return f"cost: unknown ({calls})"
    # rounded down: with something unknown it is a lower bound
    dollars = (sum(known, Decimal(0)) / _MICRO).quantize(Decimal("0.000001"), ROUND_FLOOR)
    if not unknown:
        return f"cost: {'>= ' if damaged else ''}${dollars} ({calls})"
    return f"cost: >= ${dollars} ({unknown} of {calls} of unknown cost)"
