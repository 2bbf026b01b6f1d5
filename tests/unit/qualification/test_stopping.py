"""When a run may end: each pair by looks of its own, at whole trials only."""

from __future__ import annotations

import pytest

from harness.qualification.stopping import Stopping

SCENARIOS = tuple(f"pack/{letter}" for letter in "abcdef")


def plan_of(*actors: str, trials: int = 6) -> list[tuple[str, str, int]]:
    return [(scenario, actor, trial) for scenario in SCENARIOS for actor in actors for trial in range(1, trials + 1)]


def played(stopping: Stopping, actor: str, trial: int, verdict: str, scenarios: tuple[str, ...] = SCENARIOS) -> bool:
    return max([stopping.over(scenario, actor, trial, verdict) for scenario in scenarios])


def test_a_look_waits_for_all_places_of_its_trial() -> None:
    stopping = Stopping(plan_of("good", "bad"), 0.05)
    for trial in range(1, 7):
        played(stopping, "good", trial, "pass")
        played(stopping, "bad", trial, "fail", SCENARIOS[1:])
    assert stopping.told.pairs[0].after == 0
    assert stopping.needs("bad", 6)
    for trial in range(1, 7):
        stopping.over(SCENARIOS[0], "bad", trial, "fail")
    told = stopping.told
    assert (told.pairs[0].finding, told.is_decided, told.is_cut_short) == ("worse", True, True)
    assert told.until == dict.fromkeys(("good", "bad"), told.pairs[0].after)
    assert stopping.needs("bad", told.pairs[0].after)
    assert not stopping.needs("bad", told.pairs[0].after + 1)


def test_what_waits_for_a_person_is_looked_at_once_it_is_answered() -> None:
    stopping = Stopping(plan_of("good", "bad", trials=2), 0.05)
    played(stopping, "good", 1, "pass")
    played(stopping, "bad", 1, "pending")
    assert stopping.told.pairs[0].after == 0
    played(stopping, "bad", 1, "fail")
    assert stopping.told.pairs[0].after == 1


def test_all_pairs_of_an_actor_are_looked_at_when_its_trial_is_over() -> None:
    stopping = Stopping(plan_of("one", "two", "bad", trials=2), 0.2)
    for trial in (1, 2):
        played(stopping, "one", trial, "pass")
        played(stopping, "two", trial, "pass")
        played(stopping, "bad", trial, "fail")
    assert [(pair.second, pair.finding) for pair in stopping.told.pairs] == [
        ("two", None),
        ("bad", "worse"),
        ("bad", "worse"),
    ]
    assert not stopping.told.is_decided


def test_pairs_share_alpha_evenly() -> None:
    looked = []
    for actors in (("a", "b"), ("a", "b", *"cdefghi")):
        stopping = Stopping(plan_of(*actors, trials=1), 0.05)
        played(stopping, "a", 1, "pass")
        played(stopping, "b", 1, "fail")
        looked.append(stopping.told.pairs[0].finding)
    assert looked == ["worse", None], "six of six are clear for one pair, and not among 36"


def test_actors_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="two or more"):
        Stopping(plan_of("one"), 0.05)
    with pytest.raises(ValueError, match="one and two play no scenario in common"):
        Stopping([("pack/a", "one", 1), ("pack/b", "two", 1)], 0.05)
