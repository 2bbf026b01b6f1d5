"""How much of what a scenario declares its scripts reach."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from harness import rules
from harness.schema.check import CheckFinding, Coverage
from harness.schema.receipt import Receipt
from harness.schema.scenario import Scenario

__all__ = ["covered"]

_TODO = "add a script that reaches it, or remove it"
#: The code of a call of no kind is there whether the file names it or not.
_NO_KIND = "add a script with a call of no kind; where a kind takes every call of its tool, narrow it with where"


def covered(
    scenario: Scenario, receipts: Sequence[Receipt], probed: AbstractSet[str]
) -> dict[str, tuple[Coverage, list[CheckFinding]]]:
    """Kinds, facts and codes: how many are reached, and a finding for each that is not.

    ``probed`` are codes that no script can reach, but a changed answer did.
    """
    facts = dict.fromkeys(fact for kind in scenario.kind for fact in kind.facts)
    return {
        "kind": _compare(
            scenario,
            "kind",
            [kind.name for kind in scenario.kind],
            {step.kind for receipt in receipts for step in receipt.steps},
        ),
        "fact": _compare(scenario, "fact", list(facts), {fact for receipt in receipts for fact in receipt.facts}),
        "code": _compare(
            scenario,
            "code",
            list(rules.codes(scenario)),
            {receipt.failure_code for receipt in receipts} | probed,
        ),
    }


def _compare(
    scenario: Scenario, what: str, names: list[str], reached: AbstractSet[str | None]
) -> tuple[Coverage, list[CheckFinding]]:
    missing = [
        CheckFinding(
            scenario=scenario.id,
            what="no script reaches it",
            where=f"{what} {name}",
            todo=_NO_KIND if what == "code" and name == scenario.end.unexpected else _TODO,
        )
        for name in names
        if name not in reached
    ]
    return Coverage(reached=len(names) - len(missing), total=len(names)), missing
