"""A run held against an earlier one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from past import PLANE, indexed_run, told

from harness.qualification.changes import changes
from harness.schema.base import digest_text
from harness.schema.changes import ActorChanges, PlaceChange, PlaceKind
from harness.schema.quarantine import QuarantineEntry

OTHER_PLANE = PLANE.model_copy(update={"version": "2", "wheel_sha256": digest_text("loopx 2")})


def held(before: str, now: str, **more: object) -> ActorChanges:
    """One actor in one scenario, by its trials."""
    (actor,) = changes(indexed_run(1, told(before)), indexed_run(2, told(now, **more))).actors
    return actor


@pytest.mark.parametrize(
    ("before", "now", "kinds"),
    [
        ("P", "P", ()),
        ("F", "F", ()),
        ("P", "F", ("new_fail",)),
        ("F", "P", ("fixed",)),
        ("P", "N", ("not_judged",)),
        ("N", "F", ("judged",)),
        ("P", "W", ("not_judged",)),
        ("PPP", "PPF", ()),
        ("PPP", "PFF", ("new_fail",)),
        ("PFF", "PPF", ("fixed",)),
        ("PPPP", "PFNN", ("not_judged", "new_fail")),
        ("PPNN", "PPPN", ()),
        ("PPNN", "PPPP", ("judged",)),
        ("P" * 19 + "N", "P" * 9 + "N" * 11, ("not_judged",)),
        ("P" * 9 + "N" * 11, "P" * 19 + "N", ("judged",)),
        ("P" * 20, "P" * 11 + "F" * 9, ("worse",)),
        # such rates come up in 1 of 7 by chance
        ("P" * 10 + "F", "P" * 6 + "F" * 5, ()),
        ("F" * 20, "F" * 11 + "P" * 9, ("better",)),
    ],
)
def test_a_scenario_fails_newly_where_most_of_its_trials_passed_and_do_no_more(
    before: str, now: str, kinds: tuple[PlaceKind, ...]
) -> None:
    actor = held(before, now)
    assert (tuple(kind for place in actor.places for kind in place.kinds), actor.alike) == (kinds, not kinds)


def test_of_one_trial_its_verdict_is_told_and_of_several_whether_chance_explains_it() -> None:
    (one,) = held("P", "F").places
    assert (one.chance, one.corrected) == (None, None)
    (several,) = held("PPP", "FFF").places
    assert several.chance == pytest.approx(0.1)
    assert several.now is not None
    assert (several.now.passes, several.now.n, several.now.codes) == (0, 3, {"wrong_answer": 3})


@pytest.mark.parametrize(
    ("before", "now", "kind", "sure"),
    [
        ("P", "F", "script", True),
        ("PP", "FF", "recorded", True),
        ("PPP", "PFF", "script", False),
        ("PN", "FF", "script", True),
        ("P", "F", "live", False),
        ("PPP", "FFF", "live", True),
        ("PPPFF", "PPFFF", "live", False),
        ("PPPF", "PPFF", "live", False),
        ("P" * 10, "P" * 5 + "F" * 5, "live", True),
    ],
)
def test_a_new_failure_is_sure_where_chance_does_not_explain_it(before: str, now: str, kind: str, sure: bool) -> None:
    for old, new, found_as in ((before, now, "new_fail"), (now, before, "fixed")):
        found = changes(indexed_run(1, told(old, kind=kind)), indexed_run(2, told(new, kind=kind)))
        (place,) = found.actors[0].places
        assert found_as in place.kinds
        assert place.is_sure == sure
        assert (found.count(found_as), found.count(found_as, sure=True)) == (1, int(sure))


def test_another_text_is_said_and_no_verdict_is_held_against_it() -> None:
    for more in ({"scenario_digest": digest_text("stricter")}, {"classifier_version": 2}):
        actor = held("PPPP", "FFFF", **more)
        assert ([place.kinds for place in actor.places], actor.rate, actor.seconds) == ([("changed",)], None, None)


def test_what_only_one_run_played_is_added_or_gone() -> None:
    b = {"scenario": "pack/b", "scenario_digest": digest_text("b")}
    (actor,) = changes(indexed_run(1, told("P") + told("F", **b)), indexed_run(2, told("P"))).actors
    assert [(place.scenario, place.kinds) for place in actor.places] == [("pack/b", ("removed",))]
    assert actor.moved == ("selection",)
    found = changes(indexed_run(1, told("P")), indexed_run(2, told("P", actor="big")))
    assert [(one.actor, one.before is None, one.now is None) for one in found.actors] == [
        ("big", True, False),
        ("script", False, True),
    ]


def test_a_rate_that_fell_in_many_scenarios_is_found_though_none_of_them_shows_it() -> None:
    before = [row for name in "abcdefgh" for row in told("PP", scenario=f"pack/{name}")]
    now = [row for name in "abcdefgh" for row in told("PF", scenario=f"pack/{name}")]
    (actor,) = changes(indexed_run(1, before), indexed_run(2, now)).actors
    assert actor.finding == "worse"
    assert actor.rate is not None
    assert actor.rate.effect == pytest.approx(-0.5)
    (backwards,) = changes(indexed_run(2, now), indexed_run(1, before)).actors
    assert backwards.finding == "better"
    assert held("PP", "PF").finding is None


def test_versions_that_a_run_plays_beside_each_other_are_each_held_against_itself() -> None:
    before = indexed_run(1, told("P") + told("F", plane=OTHER_PLANE))
    now = indexed_run(2, told("F") + told("F", plane=OTHER_PLANE))
    assert [(one.plane, [p.kinds for p in one.places]) for one in changes(before, now).actors] == [
        ("loopx==1", [("new_fail",)]),
        ("loopx==2", []),
    ]
    moved = held("P", "F", plane=OTHER_PLANE)
    assert (moved.moved, moved.planes) == (("plane",), (("loopx==1",), ("loopx==2",)))
    assert [place.kinds for place in moved.places] == [("new_fail",)]


def test_cost_is_that_of_episodes_with_all_their_attempts_where_it_is_wholly_known() -> None:
    live = {"actor": "big", "kind": "live", "calls": 1}
    cheap = told("P" * 9, **live, micro_usd=Decimal(1_000_000))
    dear = told("P" * 9, **live, micro_usd=Decimal(2_000_000))
    unknown = told("P" * 9, **live, unknown_calls=1)
    (found,) = changes(indexed_run(1, cheap), indexed_run(2, dear)).actors
    assert found.usd is not None
    assert (found.usd.before, found.usd.now, found.usd.is_beyond) == (1.0, 2.0, True)
    again = [row.model_copy(update={"attempt": 2}) for row in cheap]
    (twice,) = changes(indexed_run(1, cheap), indexed_run(2, [*cheap, *again])).actors
    assert twice.usd is not None
    assert twice.usd.now == 2.0
    unknown_again = [row.model_copy(update={"attempt": 2}) for row in unknown]
    for of_unknown_cost in (unknown, [*cheap, *unknown_again]):
        (nobody_knows,) = changes(indexed_run(1, cheap), indexed_run(2, of_unknown_cost)).actors
        assert nobody_knows.usd is None


def test_what_is_in_quarantine_is_told_and_not_counted() -> None:
    entry = QuarantineEntry(scenario="pack/*", owner="team-a", reason="flips", expires="2026-12-31")
    found = changes(indexed_run(1, told("P")), indexed_run(2, told("F"), quarantine=(entry,)))
    (place,) = found.actors[0].places
    assert isinstance(place, PlaceChange)
    assert (place.kinds, place.set_aside, found.count("new_fail")) == (("new_fail",), True, 0)
    assert changes(indexed_run(1, told("P")), indexed_run(2, told("F"))).count("new_fail") == 1
