"""Findings that a scenario's author knows and has a reason for; a waiver that waives nothing is one itself."""

from __future__ import annotations

from collections.abc import Iterable

from harness.schema.check import CheckFinding
from harness.schema.scenario import Scenario

__all__ = ["unused_equivalences", "waived"]

_TODO = "remove it from [waiver]"


def waived(
    scenario: Scenario, findings: Iterable[CheckFinding], *, asked: frozenset[str], shared: bool = False
) -> tuple[list[CheckFinding], int]:
    """What is left of the findings, with the waivers that are not needed, and how many were waived.

    ``asked`` are the kinds of findings (the first word, as ``fixture``) that were looked for: a waiver of any other
    may be needed all the same, and so may one that is ``shared`` with other scenarios of the file.
    """
    reasons = {one.what for one in scenario.waiver.waived}
    left: list[CheckFinding] = []
    used: set[str] = set()
    for finding in findings:
        if finding.where in reasons:
            used.add(finding.where)
        else:
            left.append(finding)
    left += [
        CheckFinding(scenario=scenario.id, what="there is nothing to be waived", where=f"waiver of {what}", todo=_TODO)
        for what in sorted(reasons - used)
        if what.split(" ", 1)[0] in asked and not shared
    ]
    return left, len(used)


def unused_equivalences(scenario: Scenario, used: Iterable[tuple[str, str]]) -> list[CheckFinding]:
    """A finding for each mutant that is declared equivalent and does not pass, is the same in effect, or is none."""
    declared = dict.fromkeys((one.script, name) for one in scenario.waiver.equivalent for name in one.mutations)
    return [
        CheckFinding(
            scenario=scenario.id,
            what="no such mutant passes with other effects than the right scripts have",
            where=f"equivalence of {script} ({mutation})",
            todo=_TODO,
        )
        for script, mutation in declared
        if (script, mutation) not in set(used)
    ]
