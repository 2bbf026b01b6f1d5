"""Verdicts that turn though nothing was changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from past import PLANE, indexed_run, told

from harness.qualification.flakes import flakes
from harness.schema.base import digest_text
from harness.schema.flakes import Flake
from harness.schema.quarantine import QuarantineEntry

NIGHTS = st.lists(st.text("PF", min_size=1, max_size=5), min_size=1, max_size=12)


def nightly(*verdicts: str, **more: object) -> Flake:
    """One actor in one scenario, a run for each."""
    (found,) = flakes([indexed_run(day, told(night, **more)) for day, night in enumerate(verdicts, start=1)])
    return found


@given(nights=NIGHTS)
def test_flips_are_of_pairs_and_the_same_from_either_end(nights: list[str]) -> None:
    found, back = nightly(*nights), nightly(*reversed(nights))
    assert 0 <= found.flips <= found.pairs == len(nights) - 1
    assert 0 <= found.split <= found.repeated == sum(len(night) > 1 for night in nights)
    assert (found.flips, found.split) == (back.flips, back.split)
    assert found.interval is None or found.rate is None or found.interval.low <= found.rate <= found.interval.high


@given(nights=st.lists(st.sampled_from("PF"), min_size=1, max_size=12))
def test_passes_for_fails_flip_as_often(nights: list[str]) -> None:
    other = nightly(*("F" if night == "P" else "P" for night in nights))
    assert (nightly(*nights).flips, nightly(*nights).is_flaky) == (other.flips, other.is_flaky)


@given(nights=NIGHTS)
def test_a_steady_verdict_never_flips_and_one_in_turn_always_does(nights: list[str]) -> None:
    assert nightly(*("P" * len(night) for night in nights)).flips == 0
    assert nightly(*("PF"[place % 2] for place in range(len(nights)))).flips == len(nights) - 1


def test_a_night_of_which_half_passed_did_not_pass() -> None:
    assert (nightly("PF", "P").flips, nightly("PF", "F").flips) == (1, 0)


@pytest.mark.parametrize(
    ("nights", "is_flaky"),
    [
        (("P", "P", "F", "F"), False),
        (("P", "F", "P"), True),
        (("P", "N", "F", "W", "P"), True),
        (("P", "PPF", "P"), True),
        (("N", "N", "P"), False),
    ],
)
def test_a_script_is_flaky_where_it_turned_there_and_back_or_its_trials_disagree(
    nights: tuple[str, ...], *, is_flaky: bool
) -> None:
    assert nightly(*nights).is_flaky == is_flaky


def test_a_live_model_is_only_where_it_surely_turns_often() -> None:
    live = {"actor": "big", "kind": "live"}
    assert not nightly("P", "F", "P", "P", "P", "P", **live).is_flaky
    assert not nightly("PPF", "PFP", "FPP", **live).is_flaky
    assert not nightly("P", "F", "P", **live).is_flaky
    assert nightly(*"PFPFPFPF", **live).is_flaky
    assert not nightly(*("P" * 40 + "FPF" + "P" * 40), **live).is_flaky


@pytest.mark.parametrize(
    "more",
    [
        {"scenario_digest": digest_text("stricter")},
        {"classifier_version": 2},
        {"actor_digest": digest_text("warmer")},
        {"models": ("big-2",)},
    ],
)
def test_what_was_changed_is_no_flip(more: dict[str, object]) -> None:
    (found,) = flakes([indexed_run(1, told("P")), indexed_run(2, told("F", **more)), indexed_run(3, told("P"))])
    assert (found.pairs, found.flips, found.interval, found.is_flaky) == (0, 0, None, False)


def test_each_version_of_a_plane_and_of_harness_is_looked_at_by_itself() -> None:
    other = PLANE.model_copy(update={"version": "2", "wheel_sha256": digest_text("loopx 2")})
    runs = [indexed_run(1, told("P")), indexed_run(2, told("F", plane=other)), indexed_run(3, told("P"))]
    assert [(one.plane, one.flips, one.pairs) for one in flakes(runs)] == [("loopx==1", 0, 1), ("loopx==2", 0, 0)]
    (found,) = flakes([indexed_run(1, told("P")), indexed_run(2, told("F"), harness_version="2")])
    assert (found.pairs, found.flips) == (0, 0)


def test_those_that_turn_most_stand_first_and_what_is_set_aside_is_marked() -> None:
    entry = QuarantineEntry(scenario="pack/a", owner="team-a", reason="flips", expires="2026-12-31")
    runs = [
        indexed_run(day, told("PPPP"[day]) + told("PFPF"[day], scenario="pack/b"), quarantine=(entry,))
        for day in range(1, 4)
    ]
    found = flakes(runs)
    assert [(one.scenario, one.flips, one.is_flaky, one.set_aside) for one in found] == [
        ("pack/b", 2, True, False),
        ("pack/a", 0, False, True),
    ]
