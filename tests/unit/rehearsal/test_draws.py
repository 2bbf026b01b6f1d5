from __future__ import annotations

from dataclasses import replace

import pytest

from harness.rehearsal.draws import Draws
from harness.schema.rehearsal import FaultSpec, Visit

VISIT = Visit(scenario="a/b", trial=1, turn=1, attempt=1)


def test_draws_stay_what_they_are_from_version_to_version() -> None:
    assert Draws(0).uniform("policy", "a/b", 1) == 0.3044015388725505
    assert Draws(-5, "x").uniform("fault", "a/b", 1, 2, 3) == 0.8994756686076419


@pytest.mark.parametrize(
    "other",
    [replace(VISIT, scenario="a/c"), replace(VISIT, trial=2), replace(VISIT, turn=2), replace(VISIT, attempt=2)],
    ids=("scenario", "trial", "turn", "attempt"),
)
def test_latency_depends_on_every_part_of_a_visit(other: Visit) -> None:
    assert Draws(0).latency_ms((0, 100), VISIT) != Draws(0).latency_ms((0, 100), other)


def test_other_seeds_purposes_and_texts_give_other_numbers() -> None:
    drawn = [
        Draws(0).uniform("a", 1),
        Draws(1).uniform("a", 1),
        Draws(0, "x").uniform("a", 1),
        Draws(0).uniform("b", 1),
        Draws(0).uniform("a", 2),
        Draws(0).uniform("a", "1"),
    ]
    assert len(set(drawn)) == len(drawn)


def test_a_trial_keeps_its_policy_at_every_turn_and_attempt() -> None:
    draws, weights = Draws(0), (1.0, 1.0, 1.0)
    for trial in range(1, 30):
        chosen = {
            draws.choice(weights, Visit(scenario="a/b", trial=trial, turn=turn, attempt=attempt))
            for turn in (1, 2, 3)
            for attempt in (1, 2)
        }
        assert len(chosen) == 1


def test_a_choice_always_ends_at_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Draws(0).choice((1e-300, 1e-300), VISIT) in {0, 1}
    monkeypatch.setattr(Draws, "uniform", lambda *_: 1.0)
    assert Draws(0).choice((0.1, 0.2), VISIT) == 1


def test_rates_share_one_draw_so_that_each_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = (FaultSpec(kind="reset", rate=0.25), FaultSpec(kind="hang", at_turn=9), FaultSpec(kind="html", rate=0.5))
    hit = []
    for point in (0.0, 0.24, 0.26, 0.74, 0.76):
        monkeypatch.setattr(Draws, "uniform", lambda *_, point=point: point)
        found = Draws(0).fault(faults, VISIT)
        hit.append(found and found.kind)
    assert hit == ["reset", "reset", "html", "html", None]


def test_a_fault_that_names_the_turn_comes_before_those_with_rates() -> None:
    faults = (FaultSpec(kind="reset", rate=1), FaultSpec(kind="hang", at_turn=1))
    found = Draws(0).fault(faults, VISIT)
    assert found is not None
    assert found.kind == "hang"
