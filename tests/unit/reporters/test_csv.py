from __future__ import annotations

import csv
from collections.abc import Sequence
from decimal import Decimal

from judged import MODEL, Played, live, view_of
from syrupy.assertion import SnapshotAssertion

from harness.reporters.csv import build
from harness.schema.message import Usage
from harness.schema.run import RunView


def rows(view: RunView) -> list[dict[str, str]]:
    return list(csv.DictReader(build().render(view).splitlines()))


def played(*costs: Decimal | None, verdict: str = "pass", **more: object) -> Played:
    return Played(**{"scenario": "pack/a", "trial": 1, "verdict": verdict, "costs": costs, **more})  # type: ignore[arg-type]


def test_every_place_of_the_plan_is_a_row(view: RunView, snapshot: SnapshotAssertion) -> None:
    text = build().render(view)
    assert text == snapshot
    assert len(list(csv.reader(text.splitlines()))) == 1 + len(view.manifest.plan)


def test_attempts_are_columns_of_one_row_and_are_paid_for() -> None:
    usage = Usage(input_tokens=100, output_tokens=7)
    outage = played(
        Decimal(5), verdict="not_judged", cause="provider", code="model_error", usage=usage, seconds=60.0002
    )
    (row,) = rows(view_of([outage, played(Decimal("7.9"), attempt=2, usage=usage, model="m-1", seconds=2.0)]))

    assert (row["verdict"], row["attempts"], row["earlier_attempts"]) == ("pass", "2", "model_error")
    assert (row["seconds"], row["seconds_of_all"], row["model_calls"]) == ("2.0", "62.0", "2")
    assert (row["usd"], row["input_tokens"], row["output_tokens"]) == ("0.000012", "200", "14")
    assert (row["cached_tokens"], row["answered_by"], row["number"]) == ("", "m-1", "2")


def test_a_cost_that_is_unknown_is_empty_and_that_of_a_script_too() -> None:
    (row,) = rows(view_of([played(Decimal(5), None)]))
    assert (row["usd"], row["model_calls"], row["calls_of_unknown_cost"]) == ("", "2", "1")
    script = MODEL.model_copy(update={"kind": "script"})
    (row,) = rows(view_of([played(actor=script)]))
    assert (row["usd"], row["model_calls"], row["input_tokens"]) == ("", "", "")


def test_a_name_that_a_spreadsheet_would_run_is_a_text() -> None:
    names: Sequence[str] = ("=HYPERLINK(1)", "-m", "\u200b@m", "\uff1d1", "\tm", "openai/-m")
    told = rows(view_of([played(actor=live(name)) for name in names]))
    assert [row["actor"] for row in told] == [
        *("'=HYPERLINK(1)", "'-m", "'\ufffd@m", "'\uff1d1", "'\ufffdm", "openai/-m"),
    ]
