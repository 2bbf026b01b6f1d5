"""What a run cost is told as far as it is known, and what is not known is told too."""

from __future__ import annotations

from decimal import Decimal

from report_pages import without_script

from harness.reporters._spending import cost_json, cost_line
from harness.reporters.html import HtmlReporter
from harness.reporters.junit import JunitReporter
from harness.reporters.markdown import MarkdownReporter
from harness.reporters.terminal import summary
from harness.schema.run import AttemptRow, RunView
from harness.schema.spending import Beyond


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


def test_a_cost_that_is_known_is_told_with_three_digits(view: RunView) -> None:
    assert cost_line(paid(view, Decimal("2219.2"), Decimal("2219.2"))) == "cost: $0.00443 (2 model calls)"
    assert cost_line(paid(view, Decimal(0), not_sent=1)) == "cost: $0 (1 model call)"


def test_a_cost_of_very_many_digits_is_told_with_all_of_them(view: RunView) -> None:
    assert cost_line(paid(view, Decimal(10) ** 40)) == f"cost: ${10**34:,}.00 (1 model call)"


def test_a_cost_that_is_known_in_part_is_a_lower_bound(view: RunView) -> None:
    told = paid(view, Decimal("2219.2"), Decimal("2219.2"), None, None)
    assert cost_line(told) == "cost: >= $0.00443 (2 of 4 model calls of unknown cost)"
    assert "cost: >= $0.00443 (2 of 4 model calls of unknown cost)" in summary(told, width=100, color=False)


def test_of_a_damaged_journal_the_calls_are_a_lower_bound_as_well(view: RunView) -> None:
    def damaged(*costs: Decimal | None) -> str | None:
        told = paid(view, *costs)
        live = next(receipt.key for receipt in view.receipts if receipt.actor.kind == "live")
        log = [entry.model_copy(update={"at_least": entry.key == live}) for entry in told.log]
        return cost_line(told.model_copy(update={"log": tuple(log)}))

    assert damaged(Decimal(782)) == "cost: >= $0.000782 (>= 1 model call: 1 journal damaged)"
    assert damaged(Decimal(782), None) == (
        "cost: >= $0.000782 (1 of >= 2 model calls of unknown cost: 1 journal damaged)"
    )
    assert damaged(None) == "cost: unknown (>= 1 model call: 1 journal damaged)"


def test_a_cost_that_nobody_knows_is_told_as_that(view: RunView) -> None:
    assert cost_line(paid(view, None, None, not_sent=3)) == "cost: unknown (2 model calls)"


def test_a_run_that_asked_no_live_model_says_nothing_of_a_cost(view: RunView) -> None:
    assert cost_line(paid(view, not_sent=2)) is None


def test_calls_of_episodes_that_are_cut_off_count_and_make_the_cost_a_lower_bound(view: RunView) -> None:
    told = paid(view, Decimal(2_000)).model_copy(
        update={"beyond": Beyond(calls=3, unknown=1, micro_usd=Decimal("1000.5"))}
    )
    line = "cost: >= $0.003 (1 of 4 model calls of unknown cost; 3 in episodes without a receipt here)"
    assert cost_line(told) == line
    assert cost_json(told) == {
        "usd": "0.003000",
        "is_lower_bound": True,
        "calls": 4,
        "calls_of_unknown_cost": 1,
        "calls_without_a_receipt": 3,
    }
    assert line in summary(told, width=100, color=False)
    assert line in MarkdownReporter().render(told)
    escaped = line.replace(">", "&gt;")
    assert escaped in HtmlReporter().render(told)
    assert f'<property name="run" value="{escaped}" />' in JunitReporter().render(told)


def test_a_run_of_which_only_a_call_in_flight_is_known_has_an_unknown_cost(view: RunView) -> None:
    told = view.model_copy(update={"receipts": (), "log": (), "beyond": Beyond(calls=1, unknown=1)})
    assert cost_line(told) == "cost: unknown (1 model call; 1 in episodes without a receipt here)"
    found = cost_json(told)
    assert isinstance(found, dict)
    assert (found["usd"], found["is_lower_bound"]) == (None, True)


def test_reports_of_a_run_without_live_models_tell_no_cost(view: RunView) -> None:
    told = paid(view, not_sent=2)
    assert cost_json(told) is None
    for reporter in (MarkdownReporter(), HtmlReporter(), JunitReporter()):
        assert "cost:" not in without_script(reporter.render(told))
