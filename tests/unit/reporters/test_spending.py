"""What a run cost is told as far as it is known, and what is not known is told too."""

from __future__ import annotations

from decimal import Decimal

from harness.reporters._spending import cost_line
from harness.reporters.terminal import summary
from harness.schema.run import AttemptRow, RunView


def paid(view: RunView, *costs: Decimal | None, not_sent: int = 0) -> RunView:
    """The run with these model calls in an episode of a live model, and in one of a script."""
    rows = [
        AttemptRow(operation="o", attempt=1, status="completed", usage=None, seconds=0, cost_micro_usd=cost)
        for cost in costs
    ]
    rows += [AttemptRow(operation="o", attempt=1, status="not_sent", usage=None, seconds=0)] * not_sent
    live = next(receipt.key for receipt in view.receipts if receipt.actor.kind == "live")
    other = next(receipt.key for receipt in view.receipts if receipt.actor.kind != "live")
    log = tuple(
        entry.model_copy(update={"attempts": tuple(rows) if entry.key in {live, other} else ()}) for entry in view.log
    )
    return view.model_copy(update={"log": log})


def test_a_cost_that_is_known_is_told_to_the_millionth(view: RunView) -> None:
    assert cost_line(paid(view, Decimal("2219.2"), Decimal("2219.2"))) == "cost: $0.004438 (2 model calls)"
    assert cost_line(paid(view, Decimal(0), not_sent=1)) == "cost: $0.000000 (1 model call)"


def test_a_cost_that_is_known_in_part_is_a_lower_bound(view: RunView) -> None:
    told = paid(view, Decimal("2219.2"), Decimal("2219.2"), None, None)
    assert cost_line(told) == "cost: >= $0.004438 (2 of 4 model calls of unknown cost)"
    assert "cost: >= $0.004438 (2 of 4 model calls of unknown cost)" in summary(told, width=100, color=False)


def test_a_cost_that_nobody_knows_is_told_as_that(view: RunView) -> None:
    assert cost_line(paid(view, None, None, not_sent=3)) == "cost: unknown (2 model calls)"


def test_a_run_that_asked_no_live_model_says_nothing_of_a_cost(view: RunView) -> None:
    assert cost_line(paid(view, not_sent=2)) is None
