"""Each kind of change is one line that a person reads without a glossary."""

from __future__ import annotations

from decimal import Decimal

import pytest
from past import PLANE, indexed_run, told

from harness.cli.gaps_told import points
from harness.cli.history_told import changes_told
from harness.cli.trend_told import trends_told
from harness.qualification.changes import changes
from harness.qualification.trends import trends
from harness.schema.base import digest_text
from harness.schema.history import IndexedEpisode
from harness.schema.quarantine import QuarantineEntry

OTHER_WHEEL = PLANE.model_copy(update={"wheel_sha256": digest_text("another build")})
BY_CHANCE = "so few trials may differ as much by chance"
NO_CHANCE = "more than chance explains"
BUILD = "another build of the model"
ENTRY = QuarantineEntry(scenario="pack/known", owner="team-a", reason="flips", expires="2026-12-31")


def live(verdicts: str, name: str, **more: object) -> list[IndexedEpisode]:
    plain = {"actor": "big", "kind": "live", "calls": 2, "micro_usd": Decimal(12_345), "seconds": 2.0}
    return told(
        verdicts, **{**plain, "models": ("big-1",), "fingerprints": ("fp-1",), "scenario": f"pack/{name}", **more}
    )


def test_every_change_of_an_actor_is_told() -> None:
    before = [
        *live("P" * 10, "falls"),
        *live("PFF", "mended"),
        *live("P" * 20, "worse"),
        *live("PPP", "known"),
        *live("NNN", "back"),
        *live("PPP", "gone"),
    ]
    other: dict[str, object] = {
        "models": ("big-2",),
        "fingerprints": ("fp-2",),
        "plane": OTHER_WHEEL,
        "actor_digest": digest_text("warmer"),
        "micro_usd": Decimal(900),
        "seconds": 5.0,
    }
    now = [
        *live("P" + "F" * 8 + "N", "falls", **other),
        *live("PPF", "mended", **other),
        *live("P" * 11 + "F" * 9, "worse", **other),
        *live("FFF", "known", **other),
        *live("PPP", "back", **other),
        *live("PPP", "new", **other),
    ]
    found = changes(indexed_run(1, before), indexed_run(2, now, quarantine=(ENTRY,), state="interrupted"))
    assert changes_told(found).splitlines() == [
        "before: run-01 (2026-01-01 00:00)",
        "now:    run-02 (2026-01-02 00:00, interrupted)",
        "",
        "big: 20 of 41 passed and 1 not judged, 37 of 39 passed and 3 not judged before",
        "  fails now   pack/falls: passed 1 of 9, 10 of 10 before; wrong_answer",
        f"  fails now   pack/known (in quarantine): passed 0 of 3, 3 of 3 before; wrong_answer; {BY_CHANCE}",
        "  worse       pack/worse: passed 11 of 20, 20 of 20 before; wrong_answer",
        f"  fixed       pack/mended: passed 2 of 3, 1 of 3 before; wrong_answer; {BY_CHANCE}",
        "  not judged  pack/falls: 1 trial not judged, 0 before (provider)",
        "  judged more pack/back: 0 trials not judged, 3 before (provider)",
        "  added       pack/new: 3 of 3 passed",
        "  not played  pack/gone: 3 of 3 passed before",
        "  model       now big-2; before big-1",
        "  fingerprint now fp-2; before fp-1",
        "  plane       loopx==1, of another wheel than before",
        "  actor       its settings, its address or its script are other ones",
        f"  rate        it passes less often than before, by 36 to 67 points of 100 over 4 scenarios: {NO_CHANCE}",
        "  cost        $0.0009 an episode, $0.0123 before, which was 13.7 times as much; more than chance explains",
        "  time        half within 5.00 s, within 2.00 s before: 2.5 times as much; more than chance explains",
    ]


def test_what_was_lost_is_told_as_compare_tells_it() -> None:
    found = changes(indexed_run(1, live("P" * 38 + "FF", "a")), indexed_run(2, live("P" * 25 + "F" * 15, "a")))
    rate = found.actors[0].rate
    assert rate is not None
    assert [100 * rate.low, 100 * rate.high] == pytest.approx([-48.385, -14.932], abs=1e-3)
    assert points(rate) == (-49, -14)
    assert "by 14 to 49 points of 100" in changes_told(found)


def test_who_plays_in_one_run_only_is_told_in_one_line() -> None:
    found = changes(indexed_run(1, told("PF")), indexed_run(2, live("P", "a")))
    assert changes_told(found).splitlines()[3:] == [
        "big is new: 1 of 1 passed",
        "",
        "script does not play any more: 1 of 2 passed",
    ]
    alike = changes(indexed_run(1, told("P")), indexed_run(2, told("P")))
    assert changes_told(alike).splitlines()[-1] == "  as before   1 scenario, but for what chance explains"


def test_of_very_many_scenarios_the_first_are_named_and_the_others_counted() -> None:
    names = [f"case-{number:02}" for number in range(25)]
    runs = [
        indexed_run(day, [row for name in names for row in told(verdict, scenario=f"pack/{name}")])
        for day, verdict in enumerate("PF", start=1)
    ]
    lines = changes_told(changes(*runs)).splitlines()
    assert sum("pack/case" in line for line in lines) == 20
    assert "  fails now   and 5 more; --format json has all of them" in lines


def test_what_moved_stands_beside_the_run_and_unknown_cost_is_a_lower_bound() -> None:
    runs = [
        indexed_run(1, live("P", "a")),
        indexed_run(2, live("N", "a", models=("big-2",), unknown_calls=1)),
        indexed_run(3, live("F", "a", models=("big-2",), fingerprints=("fp-2",), unknown_calls=2, plane=OTHER_WHEEL)),
    ]
    assert trends_told(trends(runs)).splitlines() == [
        "all scenarios, big",
        "  █|·|▁",
        "day         passed  between   left out  cost        time    run",
        "2026-01-01  1/1     20-100 %  -         $0.0123     2.00 s  run-01",
        "2026-01-02  0/0     -         1         >= $0.0123  -       run-02: now big-2",
        f"2026-01-03  0/1     0-80 %    -         -           2.00 s  run-03: {BUILD}; now loopx==1",
    ]


def test_an_interval_that_reaches_beyond_no_difference_ends_there() -> None:
    """The permutation decides; the interval beside it is of another method."""
    before = [row for name in "abcdef" for row in told("P", scenario=f"pack/{name}")]
    now = [row for name in "abcdef" for row in told("F", scenario=f"pack/{name}")]
    (actor,) = changes(indexed_run(1, before), indexed_run(2, now)).actors
    assert actor.rate is not None
    beyond = actor.model_copy(update={"rate": actor.rate.model_copy(update={"high": 0.02})})
    found = changes(indexed_run(1, before), indexed_run(2, now)).model_copy(update={"actors": (beyond,)})
    assert any(" by 0 to " in line for line in changes_told(found).splitlines() if line.startswith("  rate"))
