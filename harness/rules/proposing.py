"""Whether a call may come now: the questions of its kind, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.rules.expecting import Known, nothing_known
from harness.rules.matching import meets
from harness.schema.command import ParsedCommand
from harness.schema.finding import Proposal
from harness.schema.name import Fact, KindName
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

__all__ = ["RuleState", "propose"]


@dataclass(frozen=True, slots=True)
class RuleState:
    """What is known before a call: the facts, and how often a call of each kind was run."""

    facts: frozenset[Fact] = frozenset()
    counts: Mapping[KindName, int] = field(default_factory=dict)


def propose(
    scenario: Scenario,
    state: RuleState,
    kind: KindSpec | None,
    parsed: ParsedCommand | None = None,
    known: Known = nothing_known,
) -> Proposal:
    """The rule that the call breaks, if any, asked in this order: ``fatal``, ``once``, ``never``, ``needs``, options.

    Facts of ``never`` and ``needs``, and ``options``, are asked in file order; the latter of the call's reading
    ``parsed``, not at all without one. A call of no kind has the code ``end.unexpected``.
    """
    if kind is None:
        return Proposal(kind=None, code=scenario.end.unexpected)
    if kind.fatal is not None:
        return Proposal(kind=kind.name, code=kind.fatal)
    if kind.once is not None and state.counts.get(kind.name, 0) > 0:
        return Proposal(kind=kind.name, code=kind.once)
    broken = [code for fact, code in kind.never.items() if fact in state.facts]
    broken += [code for fact, code in kind.needs.items() if fact not in state.facts]
    if parsed is not None and not broken:
        broken = [rule.code for rule in kind.options if not meets(scenario, rule, parsed, known)]
    return Proposal(kind=kind.name, code=next(iter(broken), None))
