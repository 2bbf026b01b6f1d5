"""Which entries hold on a day, and what is said of the others."""

from __future__ import annotations

from datetime import date

import pytest

from harness.schema.quarantine import QuarantineEntry
from harness.wiring.quarantine import Quarantine

ENTRY = QuarantineEntry(scenario="pack/a", owner="team-a", reason="flips", expires="2026-12-31")


def on(day: str, *entries: QuarantineEntry) -> Quarantine:
    return Quarantine(entries or (ENTRY,), date.fromisoformat(day), ("pack/a", "pack/b"))


@pytest.mark.parametrize(
    ("day", "is_over", "is_soon_over"),
    [
        ("2026-12-23", False, False),
        ("2026-12-24", False, True),
        ("2026-12-31", False, True),
        ("2027-01-01", True, False),
    ],
)
def test_an_entry_holds_through_its_last_day_and_is_told_a_week_ahead(
    day: str, *, is_over: bool, is_soon_over: bool
) -> None:
    found = on(day)
    assert (found.is_over(ENTRY), found.is_soon_over(ENTRY)) == (is_over, is_soon_over)
    places = [("pack/a", "script"), ("pack/b", "script")]
    assert found.applied(places) == (() if is_over else (ENTRY,))
    assert len(found.remarks(places)) == is_over
    assert found.remarks([("pack/b", "script")]) == ()


def test_globs_of_scenario_and_actor_both_have_to_match() -> None:
    entry = ENTRY.model_copy(update={"scenario": "pack/*", "actor": "openai/*"})
    found = on("2026-01-01", entry)
    assert found.applied([("pack/b", "script")]) == ()
    assert found.applied([("pack/b", "script"), ("pack/b", "openai/big")]) == (entry,)
    assert found.nowhere == ()
    scripts = on("2026-01-01", ENTRY.model_copy(update={"actor": "script"}))
    assert [bool(scripts.applied([("pack/a", actor)])) for actor in ("script:reference", "script", "scripted")] == [
        True,
        True,
        False,
    ]


def test_an_entry_that_matches_no_scenario_is_told_whatever_is_played() -> None:
    entry = ENTRY.model_copy(update={"scenario": "pack/old"})
    (remark,) = on("2026-01-01", entry).remarks([])
    assert remark == "quarantine.toml: pack/old matches no scenario; correct it, or leave it out"
