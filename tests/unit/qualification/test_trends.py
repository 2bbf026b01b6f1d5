"""Rates from run to run: what counts, and what is marked as moved."""

from __future__ import annotations

from decimal import Decimal

import pytest
from past import PLANE, indexed_run, told

from harness.qualification.trends import trends
from harness.schema.base import digest_text
from harness.schema.history import IndexedEpisode

OTHER_PLANE = PLANE.model_copy(update={"version": "2", "wheel_sha256": digest_text("loopx 2")})
LIVE = {"actor": "big", "kind": "live", "calls": 2, "micro_usd": Decimal(3_000), "models": ("big-1",)}


def test_a_point_tells_what_counts_and_what_all_attempts_cost() -> None:
    retried = told("N", **LIVE, seconds=99.0)
    again = told("P", **LIVE, attempt=2, seconds=4.0)
    others = [
        one.model_copy(update={"trial": 2 + number}) for number, one in enumerate(told("FN", **LIVE, seconds=2.0))
    ]
    (trend,) = trends([indexed_run(1, [*retried, *again, *others])])
    (point,) = trend.points
    assert (trend.scenario, trend.actor, point.passes, point.n, point.not_judged) == (None, "big", 1, 2, 1)
    assert (point.median_s, point.usd, point.episodes, point.unknown_calls) == (3.0, Decimal("0.012"), 3, 0)
    assert point.usd_per_episode == Decimal("0.004")
    assert point.rate == 0.5
    assert point.interval is not None
    assert point.interval.low == pytest.approx(0.0945, abs=1e-4)


def test_cost_that_nobody_knows_is_none_and_some_of_it_a_lower_bound() -> None:
    unknown = told("P", **{**LIVE, "unknown_calls": 2, "micro_usd": Decimal(0)})
    part = told("P", **{**LIVE, "unknown_calls": 1})
    (trend,) = trends([indexed_run(1, unknown), indexed_run(2, part), indexed_run(3, told("P", actor="big"))])
    assert [(one.usd, one.unknown_calls) for one in trend.points] == [(None, 2), (Decimal("0.003"), 1), (None, 0)]


def test_only_whole_runs_are_told_from_the_oldest_on() -> None:
    runs = [
        indexed_run(3, told("F")),
        indexed_run(1, told("P")),
        indexed_run(2, told("P"), state="interrupted"),
        indexed_run(4, told("P"), shard=True),
    ]
    (trend,) = trends(runs)
    assert [(one.run, one.rate) for one in trend.points] == [("run-01", 1.0), ("run-03", 0.0)]
    (none,) = trends([indexed_run(1, told("N"))])
    assert (none.points[0].rate, none.points[0].interval, none.points[0].median_s) == (None, None, None)


@pytest.mark.parametrize(
    ("now", "moved"),
    [
        ({}, ()),
        ({"models": ("big-2",)}, ("model",)),
        ({"models": ()}, ()),
        ({"fingerprints": ("fp-2",)}, ("fingerprint",)),
        ({"fingerprints": ("fp-1", "fp-2")}, ()),
        ({"actor_digest": digest_text("warmer")}, ("actor",)),
        ({"scenario_digest": digest_text("a, but stricter")}, ("scenario",)),
        ({"plane": OTHER_PLANE}, ("plane",)),
        ({"plane": PLANE.model_copy(update={"wheel_sha256": digest_text("another build")})}, ("plane",)),
        ({"scenario": "pack/b", "scenario_digest": digest_text("b")}, ("selection",)),
    ],
)
def test_what_is_another_one_than_before_is_marked(now: dict[str, object], moved: tuple[str, ...]) -> None:
    before = {**LIVE, "fingerprints": ("fp-1",)}
    (trend,) = trends([indexed_run(1, told("P", **before)), indexed_run(2, told("P", **{**before, **now}))])
    assert [one.moved for one in trend.points] == [(), moved]


@pytest.mark.parametrize(
    ("model", "fingerprint", "moved"), [("big-1", "fp-1", ()), ("big-2", "fp-2", ("model", "fingerprint"))]
)
def test_after_a_run_in_which_nothing_answered_the_model_is_held_against_the_one_before(
    model: str, fingerprint: str, moved: tuple[str, ...]
) -> None:
    nights = [("P", "big-1", "fp-1"), ("N", None, None), ("N", None, None), ("P", model, fingerprint)]
    runs = [
        indexed_run(
            night,
            told(verdict, **{**LIVE, "models": (name,) if name else (), "fingerprints": (build,) if build else ()}),
        )
        for night, (verdict, name, build) in enumerate(nights, 1)
    ]
    (trend,) = trends(runs)
    assert [one.moved for one in trend.points] == [(), (), (), moved]


def test_a_run_is_held_against_the_one_before_it() -> None:
    names = [("big-1",), ("big-2",), ("big-2",)]
    (trend,) = trends([indexed_run(day, told("P", **{**LIVE, "models": name})) for day, name in enumerate(names, 1)])
    assert [one.moved for one in trend.points] == [(), ("model",), ()]


def test_the_last_attempt_counts_wherever_it_stands() -> None:
    (trend,) = trends([indexed_run(1, [*told("P", attempt=2), *told("N")])])
    assert (trend.points[0].passes, trend.points[0].n, trend.points[0].not_judged) == (1, 1, 0)


def test_each_scenario_has_its_own_trend_where_that_is_asked_for() -> None:
    def both(first: str, second: str) -> list[IndexedEpisode]:
        return told(first) + told(second, scenario="pack/b", scenario_digest=digest_text("b"))

    runs = [indexed_run(1, both("P", "F")), indexed_run(2, both("P", "P"))]
    found = {one.scenario: [point.rate for point in one.points] for one in trends(runs, by_scenario=True)}
    assert found == {"pack/a": [1.0, 1.0], "pack/b": [0.0, 1.0]}
    assert [point.rate for point in trends(runs)[0].points] == [0.5, 1.0]


def test_versions_that_one_run_plays_beside_each_other_are_never_added_up() -> None:
    beside = indexed_run(2, told("P") + told("F", plane=OTHER_PLANE))
    alone = indexed_run(1, told("P"))
    found = {one.plane: [point.rate for point in one.points] for one in trends([alone, beside])}
    assert found == {"loopx==1": [1.0, 1.0], "loopx==2": [0.0]}
    (moving,) = trends([alone, indexed_run(2, told("F", plane=OTHER_PLANE))])
    assert (moving.plane, moving.points[1].moved) == ("", ("plane",))
