"""What is in quarantine is played and shown by pytest, and does not fail the session."""

from __future__ import annotations

import pytest
from testing_project import Project

pytestmark = [pytest.mark.plane, pytest.mark.slow]

ENTRY = """
[[quarantine]]
scenario = "team/*"
actor = "script"
owner = "team-a"
reason = "flips since the new scheduler"
expires = {day}
"""


def test_another_receipt_fails_nobody_until_the_last_day_of_the_entry(accepted: Project) -> None:
    snapshot = "snapshots/team/look/script-reference.json"
    right = accepted.snapshots()[snapshot].decode()
    wrong = right.replace('"pass"', '"fail"')
    assert wrong != right
    accepted.write(snapshot, wrong)

    accepted.write("quarantine.toml", ENTRY.format(day="2999-12-31"))
    done = accepted.pytest("-q", "-rxX", "-o", "xfail_strict=true")
    assert done.returncode == 0, done.stdout
    assert "2 passed, 1 xfailed" in done.stdout
    assert (
        "XFAIL scenarios/team/look.toml::script:reference - in quarantine until 2999-12-31, team-a sees to it: "
        "flips since the new scheduler" in done.stdout
    )

    accepted.write("quarantine.toml", ENTRY.format(day="2020-01-31"))
    done = accepted.pytest("-q")
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "its quarantine ended on 2020-01-31 (team-a was to see to it)" in done.stdout

    accepted.write("quarantine.toml", ENTRY.format(day="2999-12-31"))
    accepted.write(snapshot, right)
    done = accepted.pytest("-q", "-rxX", "-o", "xfail_strict=true")
    assert done.returncode == 0, done.stdout
    assert "2 passed, 1 xpassed" in done.stdout

    accepted.write("quarantine.toml", ENTRY.format(day="soon"))
    done = accepted.pytest("-q")
    assert done.returncode == 2
    assert "quarantine.toml" in done.stdout
