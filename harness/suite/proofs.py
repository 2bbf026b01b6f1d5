"""Whether a pass is proved: each fact that it depends on comes from a result that a check looks at."""

from __future__ import annotations

from harness.schema.check import CheckFinding
from harness.schema.rules import OutcomeRule
from harness.schema.scenario import Scenario

__all__ = ["unproved"]


def unproved(scenario: Scenario) -> list[CheckFinding]:
    """One finding a fact that a call brings about whose result nobody looks at.

    A pass depends on the facts of ``end.accept``, of ``needs`` of a kind that leads to one, and of ``needs`` of an
    outcome. A call that ended well may have done anything: only a check says that it did what the fact says.
    """
    checked = {check.kind for check in scenario.check if check.answer or check.shows is not None}
    findings = []
    for fact in sorted(_leading(scenario)):
        blind = [kind.name for kind in scenario.kind if kind.sets == fact and kind.name not in checked]
        if blind:
            findings.append(
                CheckFinding(
                    scenario=scenario.id,
                    what=f"no [[check]] looks at results of {', '.join(blind)}, so whatever ends well sets the fact",
                    where=f"proof of {fact}",
                    todo="add a [[check]] of what a right result shows",
                )
            )
    return findings


def _leading(scenario: Scenario) -> set[str]:
    """The facts without which there is no pass."""
    outcomes = [rule for rule in scenario.outcomes.values() if isinstance(rule, OutcomeRule)]
    wanted = {*scenario.end.accept, *(fact for rule in outcomes for fact in rule.needs)}
    while True:
        more = {fact for kind in scenario.kind if kind.sets in wanted for fact in kind.needs} - wanted
        if not more:
            return wanted
        wanted |= more
