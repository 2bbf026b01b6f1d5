"""The numbers that a page begins with."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from synthetic_run import MODELS, Model, Synthetic

from harness.reporters._plot import plot
from harness.reporters._rates import Rate, failures, points, rates
from harness.reporters._rows import episodes
from harness.schema.run import RunView


def run(
    models: int = 4, trials: int = 5, scenarios: int = 3, cut: float = 0.01, versions: tuple[str, ...] = ("0.4.8",)
) -> RunView:
    return Synthetic(trials=trials, scenarios=scenarios, models=MODELS[:models], cut=cut, versions=versions).view()


def test_every_scenario_and_actor_has_a_rate_and_the_first_row_sums_them_up() -> None:
    view = run(trials=8, cut=0.2)
    found = rates(episodes(view))
    assert found.columns == tuple(model.name for model in MODELS)
    assert [row.name for row in found.rows] == [summary.id for summary in view.manifest.scenarios]
    cells = [cell for row in found.rows for cell in row.cells if cell is not None]
    assert {cell.n + cell.others for cell in cells} == {8}
    assert found.total is not None
    whole = [cell for cell in found.total.cells if cell is not None]
    assert sum(cell.passes for cell in whole) == view.manifest.verdicts["pass"]
    assert sum(cell.n for cell in whole) == view.manifest.verdicts["pass"] + view.manifest.verdicts["fail"]
    assert sum(cell.others for cell in whole) == view.manifest.verdicts["not_judged"]


def test_an_attempt_that_another_one_followed_is_in_no_rate() -> None:
    view = run(trials=30, scenarios=1, models=1, cut=0.9)
    assert len(view.receipts) > 30
    (row,) = rates(episodes(view)).rows
    assert row.cells[0] is not None
    assert row.cells[0].n + row.cells[0].others == 30


def test_versions_of_a_control_plane_are_columns_of_their_own() -> None:
    found = rates(episodes(run(models=1, versions=("0.4.7", "0.4.8"))))
    assert found.columns == ("ark/doubao-seed-2, loopx==0.4.7", "ark/doubao-seed-2, loopx==0.4.8")
    cell = found.rows[0].cells[1]
    assert cell is not None
    assert (cell.actor, cell.plane) == ("ark/doubao-seed-2", "loopx==0.4.8")


def test_many_actors_get_rows_instead_of_columns() -> None:
    models = tuple(Model(f"openai/m{number}", 0.5, 1.0, 1.0) for number in range(9))
    found = rates(episodes(Synthetic(trials=2, scenarios=2, models=models).view()))
    assert (found.columns, found.crossed, found.total) == (("all",), False, None)
    assert len(found.rows) == 18
    assert found.rows[0].name == "synthetic/case-01, openai/m0"


def test_one_actor_once_is_no_matrix_and_two_actors_are() -> None:
    assert not rates(episodes(run(models=1, trials=1))).shown
    assert rates(episodes(run(models=2, trials=1))).shown
    assert rates(episodes(run(models=1, trials=2))).shown


@pytest.mark.parametrize(
    ("passes", "n", "told"),
    [(0, 3, "0 %"), (1, 1000, "< 1 %"), (1, 3, "33 %"), (999, 1000, "> 99 %"), (995, 1000, "> 99 %"), (7, 7, "100 %")],
)
def test_only_all_is_a_hundred_percent_and_only_none_is_nothing(passes: int, n: int, told: str) -> None:
    assert Rate("s", "a", "", passes, n, 0).percent == told


def test_what_a_live_actor_costs_an_episode_counts_all_its_attempts() -> None:
    view = run(models=2, trials=10, scenarios=2, cut=0.0)
    found = points(episodes(view))
    assert [point.name for point in found] == ["ark/doubao-seed-2", "openai/large"]
    paid = [call.cost_micro_usd or Decimal(0) for log in view.log[:10] for call in log.attempts]
    more = [call.cost_micro_usd or Decimal(0) for log in view.log[20:30] for call in log.attempts]
    assert found[0].usd == sum(paid + more, Decimal(0)) / 20 / 1_000_000
    assert not found[0].at_least


def test_an_actor_of_unknown_cost_is_not_plotted_and_one_that_is_known_in_part_says_so() -> None:
    view = run(models=1, trials=4, scenarios=1, cut=0.0)
    blank = tuple(
        log.model_copy(update={"attempts": tuple(replace(call, cost_micro_usd=None) for call in log.attempts)})
        for log in view.log
    )
    assert points(episodes(view.model_copy(update={"log": blank}))) == ()
    half = points(episodes(view.model_copy(update={"log": (blank[0], *view.log[1:])})))
    assert half[0].at_least
    drawn = plot(half)
    assert drawn is not None
    assert drawn.dots[0].dollars.startswith(">= $0.00")


def test_failure_codes_are_counted_with_whose_they_are_the_most_frequent_first() -> None:
    view = run(trials=40, scenarios=4, cut=0.0)
    told, more = failures(episodes(view))
    failed = [receipt.failure_code for receipt in view.receipts if receipt.verdict == "fail"]
    assert len(told) + more == len(set(failed))
    assert [one.times for one in told] == sorted((one.times for one in told), reverse=True)
    assert all(one.times == failed.count(one.code) == sum(times for _, times in one.actors) for one in told)
    assert told[0].share == 100


def test_in_the_plot_cheap_is_left_good_is_up_and_no_two_labels_meet() -> None:
    models = tuple(Model(f"openai/name-{number}", 0.9, 1.0 + number / 50, 5.0) for number in range(6))
    drawn = plot(points(episodes(Synthetic(trials=40, scenarios=1, models=models, cut=0.0).view())))
    assert drawn is not None
    dots = drawn.dots
    for one in dots:
        assert drawn.left <= one.x <= drawn.right
        assert drawn.top <= one.high <= one.y <= one.low <= drawn.bottom
        for other in dots:
            if one.point.usd < other.point.usd:
                assert one.x <= other.x
            if one.point.rate.share > other.point.rate.share:
                assert one.y < other.y
    lines = sorted(one.label_y for one in dots)
    assert all(after - before >= 15 for before, after in pairwise(lines))
    assert drawn.across[0].text == "$0"
    assert drawn.up[0].text == "100 %"


def test_without_a_known_cost_there_is_no_plot() -> None:
    assert plot(()) is None


def test_the_plot_of_a_narrow_page_holds_all_points_by_number_the_best_first() -> None:
    drawn = plot(points(episodes(run(trials=20))), narrow=True)
    assert drawn is not None
    assert drawn.width < 500
    assert [dot.number for dot in drawn.dots] == list(range(1, len(MODELS) + 1))
    assert all(one.point.rate.share >= other.point.rate.share for one, other in pairwise(drawn.dots))
    assert all(drawn.left <= dot.x <= drawn.right and 0 < dot.label_x < drawn.width for dot in drawn.dots)
