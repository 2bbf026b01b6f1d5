"""``quarantine.toml``: what it holds, and the one line that each fault gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config.quarantine_file import load_quarantine
from harness.errors import ConfigError
from harness.schema.quarantine import QuarantineEntry

WHOLE = """
[[quarantine]]
scenario = "pack/*"
actor = "script"
owner = "team-a"
reason = "flips"
expires = 2026-12-31  # as TOML has dates

[[quarantine]]
scenario = "pack/b"
owner = "team-b"
reason = "why"
expires = "2027-01-01"
"""
ONE = 'scenario = "pack/a"\nowner = "me"\nreason = "flips"\nexpires = 2026-12-31\n'


NO_DAY = 'expires: is not a day alone; allowed: a date like "2026-12-31"'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "quarantine.toml"
    path.write_text(text)
    return path


def test_entries_are_read_in_order_and_a_day_may_be_a_date_or_a_text(tmp_path: Path) -> None:
    assert load_quarantine(tmp_path / "nowhere.toml") == ()
    assert load_quarantine(written(tmp_path, "")) == ()
    assert load_quarantine(written(tmp_path, WHOLE)) == (
        QuarantineEntry(scenario="pack/*", actor="script", owner="team-a", reason="flips", expires="2026-12-31"),
        QuarantineEntry(scenario="pack/b", owner="team-b", reason="why", expires="2027-01-01"),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[quarantined]]\n", "quarantined: unknown; allowed: [[quarantine]]"),
        ("[quarantine]\n" + ONE, "quarantine: must be a list of tables; allowed: [[quarantine]]"),
        ("quarantine = [1]\n", "entry 1: must be a table; allowed: [[quarantine]]"),
        (f"[[quarantine]]\n{ONE}until = 1\n", "entry 1: until: unknown; allowed: scenario, actor, owner,"),
        (f'[[quarantine]]\n{ONE}"sk-0123 4567" = 1\n', "entry 1: a name: unknown; allowed:"),
        (
            f"[[quarantine]]\n{ONE}[[quarantine]]\n{ONE.replace('owner', 'actor')}",
            "entry 2: owner: is not there; needed: scenario, owner, reason, expires",
        ),
        (f"[[quarantine]]\n{ONE.replace('flips', ' ')}", "entry 1: reason: not such a value; allowed: one line of"),
        (f"[[quarantine]]\n{ONE.replace('flips', 'x' * 301)}", "entry 1: reason: not such a value"),
        (f"[[quarantine]]\n{ONE.replace('flips', 'a' + chr(92) + 'nb')}", "entry 1: reason: not such a value"),
        (f"[[quarantine]]\n{ONE.replace('2026-12-31', '7')}", f"entry 1: {NO_DAY}"),
        (f"[[quarantine]]\n{ONE.replace('2026-12-31', '2026-02-30')}", f"entry 1: {NO_DAY}"),
        (f"[[quarantine]]\n{ONE.replace('2026-12-31', chr(34) + '20261231' + chr(34))}", f"entry 1: {NO_DAY}"),
        (f"[[quarantine]]\n{ONE.replace('2026-12-31', '2026-12-31T00:00:00Z')}", f"entry 1: {NO_DAY}"),
        (f"[[quarantine]]\n{ONE.replace('2026-12-31', '2026-12-31 10:00:00')}", f"entry 1: {NO_DAY}"),
        (f"quarantine = [{{{ONE.strip().replace(chr(10), ', ')}}}]\n", f"entry 1: {NO_DAY}"),
        ("[[quarantine]\n", ":1: is no TOML"),
    ],
)
def test_every_fault_is_one_line_that_names_the_place(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_quarantine(path)
    assert str(caught.value).startswith(str(path))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
