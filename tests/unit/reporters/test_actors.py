"""What each live actor came to and cost, and why some of the plan was not played."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal
from xml.etree import ElementTree as ET

import pytest

from harness.reporters._actors import HEADINGS, actor_rows
from harness.reporters._rows import episodes
from harness.reporters.html import HtmlReporter
from harness.reporters.junit import JunitReporter
from harness.reporters.markdown import MarkdownReporter
from harness.reporters.terminal import summary
from harness.schema.money import MICRO, told_usd
from harness.schema.run import AttemptRow, RunView

LIVE = "ark/doubao-seed-2"
_STATUS: dict[str, Literal["completed", "failed", "unknown", "not_sent"]] = {
    "completed": "completed",
    "failed": "failed",
    "unknown": "unknown",
    "not_sent": "not_sent",
}


def calling(view: RunView, *calls: tuple[str, float, int | None]) -> RunView:
    """Each live episode makes these calls: how they ended, their seconds, and their cost."""
    rows = tuple(
        AttemptRow(
            operation="o",
            attempt=1,
            usage=None,
            status=_STATUS[status],
            seconds=seconds,
            cost_micro_usd=None if cost is None else Decimal(cost),
        )
        for status, seconds, cost in calls
    )
    live = {receipt.key for receipt in view.receipts if receipt.actor.kind == "live"}
    log = tuple(entry.model_copy(update={"attempts": rows if entry.key in live else ()}) for entry in view.log)
    return view.model_copy(update={"log": log})


def test_a_live_actor_is_one_row_of_its_last_attempts_and_of_all_that_was_paid_for(view: RunView) -> None:
    told = calling(view, ("completed", 1.0, 20), ("completed", 3.0, 10), ("failed", 9.0, 0), ("not_sent", 9.0, None))
    (row,) = actor_rows(episodes(told))
    live = sum(receipt.actor.kind == "live" for receipt in view.receipts)
    assert (row.actor, sum(row.verdicts), row.call_s) == (LIVE, live, 2.0)
    assert row.cost == told_usd(Decimal(30 * live) / MICRO)
    assert dict(zip(HEADINGS, row.cells, strict=True))["median call"] == "2.00 s"
    (row,) = actor_rows(episodes(calling(view, ("completed", 1.0, 20), ("unknown", 9.0, None))))
    assert row.cost.startswith(">= $")
    (row,) = actor_rows(episodes(calling(view, ("unknown", 9.0, None))))
    assert (row.cost, row.call_s, row.cells[-1]) == ("unknown", None, "")


def test_an_attempt_that_another_one_followed_is_paid_for_and_no_episode(view: RunView) -> None:
    first = next(receipt for receipt in view.receipts if receipt.actor.kind == "live")
    again = first.model_copy(update={"attempt": 2, "key": f"{first.key}2"})
    log = next(entry for entry in view.log if entry.key == first.key)
    update = {"receipts": (*view.receipts, again), "log": (*view.log, log.model_copy(update={"key": again.key}))}
    (before,), (after,) = (
        actor_rows(episodes(calling(one, ("completed", 1.0, 10)))) for one in (view, view.model_copy(update=update))
    )
    assert sum(after.verdicts) == sum(before.verdicts)
    assert after.cost > before.cost


@pytest.mark.parametrize("width", [40, 80, 110, 140])
def test_every_report_tells_live_actors_and_why_something_was_not_played(view: RunView, width: int) -> None:
    why = "--max-cost is reached: of $1 at most $0.9 is spent"
    manifest = view.manifest.model_copy(update={"stopped": (why,)})
    told = calling(view.model_copy(update={"manifest": manifest}), ("completed", 1.5, 10))
    text = summary(told, width=width, color=False)
    assert "\nLive actors\n" in text
    assert "1.50 s" in text
    assert max(map(len, text[text.index("Live actors") : text.index("\nFailed")].splitlines())) <= width
    assert why in " ".join(text[text.index("\nNot run\n") :].split())
    markdown = MarkdownReporter().render(told)
    assert f"not run: {why}" in markdown
    assert f"| `{LIVE}` |" in markdown[markdown.index("| actor | episodes |") :]
    page = HtmlReporter().render(told)
    assert f"Not run: {why}" in page
    assert '<h2 id="actors">Live actors</h2>' in page
    assert '<a href="#actors">Live actors</a>' in page
    skipped = [one.get("message", "") for one in ET.fromstring(JunitReporter().render(told)).iter("skipped")]  # noqa: S314
    assert f"not run: {why}" in skipped


def test_scripts_alone_are_no_live_actors(view: RunView) -> None:
    none = tuple(receipt for receipt in view.receipts if receipt.actor.kind != "live")
    text = summary(view.model_copy(update={"receipts": none}), width=100, color=False)
    assert "Live actors" not in text


@pytest.mark.parametrize("width", [110, 140])
def test_the_name_of_a_scenario_is_not_broken_where_there_is_room(view: RunView, width: int) -> None:
    name = "team-of-many/a-scenario-with-a-rather-long-name"
    receipts = tuple(one.model_copy(update={"scenario": name}) for one in view.receipts)
    assert f" {name}\n" in summary(view.model_copy(update={"receipts": receipts}), width=width, color=False)


def test_the_card_of_an_episode_has_its_number(view: RunView) -> None:
    page = HtmlReporter().render(view)
    for number in range(1, len(view.receipts) + 1):
        card = page[page.index(f'<details class="card" id="episode-{number}"') :]
        assert f'<span class="soft">{number}.</span>' in card[: card.index("</summary>")]
