"""A page of very many scenarios keeps within its bytes, and says what it has no room for."""

from __future__ import annotations

import re

import pytest
from synthetic_run import MODELS, Synthetic

from harness.reporters import html
from harness.reporters._filling import fitting_rates
from harness.reporters._rates import rates
from harness.reporters._rows import episodes
from harness.schema.run import RunView

SIZE = 300_000


@pytest.fixture(params=["trials", "actors", "versions"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> RunView:
    """Too many scenarios for a page of ``SIZE``, by several trials, several actors, or several versions."""
    monkeypatch.setattr(html, "BARE_MAX", SIZE)
    more = {
        "trials": Synthetic(trials=3, scenarios=200, models=MODELS[:1]),
        "actors": Synthetic(trials=1, scenarios=200, models=MODELS[:3]),
        "versions": Synthetic(trials=1, scenarios=200, models=MODELS[:1], versions=("0.4.8", "1.4.2", "2.1.1")),
    }
    return more[request.param].view()


def test_a_page_of_very_many_scenarios_keeps_within_its_bytes_and_counts_the_others(many: RunView) -> None:
    page = html.build().render(many)
    assert len(page.encode()) <= SIZE
    kept = len(re.findall(r'<tr><th scope="row">synthetic/<wbr>', page[: page.index('id="episodes"')]))
    assert kept > 0
    assert "other scenarios</th>" in page
    described = page.count('<h3 class="scenario"')
    assert 0 < described < 200
    assert f"this page has room for {described}, first of those that did not pass" in page


def test_what_is_left_out_of_the_rates_passed_no_less_and_is_summed_up(many: RunView) -> None:
    whole = rates(episodes(many))
    shown = fitting_rates(whole, 50_000)
    assert shown.rest is not None
    assert shown.total is not None
    kept = {row.name for row in shown.rows}
    others = [row for row in whole.rows if row.name not in kept]
    assert shown.rest.name == f"{len(others)} other scenarios"
    assert max(row.least for row in shown.rows) <= min(row.least for row in others)
    for at, (rest, total) in enumerate(zip(shown.rest.cells, shown.total.cells, strict=True)):
        cells = [row.cells[at] for row in shown.rows]
        assert rest is not None
        assert total is not None
        assert rest.passes + sum(cell.passes for cell in cells if cell is not None) == total.passes
        assert rest.n + sum(cell.n for cell in cells if cell is not None) == total.n


def test_where_there_is_room_nothing_is_left_out(many: RunView) -> None:
    whole = rates(episodes(many))
    assert fitting_rates(whole, 10_000_000) is whole


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        Synthetic(trials=5, scenarios=2_000, models=MODELS[:1]),
        Synthetic(trials=1, scenarios=2_500, models=MODELS),
        Synthetic(trials=1, scenarios=2_000, models=MODELS[:1], versions=("0.4.8", "1.0.0", "1.4.2", "2.0.0", "2.1.1")),
    ],
    ids=["trials", "actors", "versions"],
)
def test_ten_thousand_trials_over_thousands_of_scenarios_are_a_page_of_a_megabyte(made: Synthetic) -> None:
    assert len(html.build().render(made.view()).encode()) <= 1_000_000
