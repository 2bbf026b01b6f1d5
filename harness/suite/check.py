"""A scenario is qualified before it qualifies anyone: its own scripts, played against the real control plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from harness import rules
from harness.schema.actor import ActorSpec
from harness.schema.check import CheckFinding, CheckReport, Coverage
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeResult
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Script
from harness.schema.trace import EpisodeTrace
from harness.suite.idle import idle_scripts, script_actor
from harness.suite.probe import Probed, probe

__all__ = ["check_scenario"]

#: Plays one scripted actor in the scenario and tells what it saw, None where the episode could not be opened.
Trace = Callable[[ActorSpec], tuple[EpisodeResult, EpisodeTrace | None]]


@dataclass(frozen=True, slots=True)
class _Played:
    name: str
    result: EpisodeResult
    trace: EpisodeTrace | None

    @property
    def receipt(self) -> Receipt:
        return self.result.receipt


def check_scenario(loaded: LoadedScenario, *, trace: Trace) -> CheckReport:
    """Play every script of the scenario and two that do nothing, then mutate what the passing ones were answered.

    Demands: the reference and every right script pass; doing nothing fails; every wrong script gets the code it is
    named by; every kind, fact and code is reached; every answer check and read proof goes red when what it looks at
    is changed.
    """
    scenario = loaded.scenario
    scripts = scenario.script
    first = _play(trace, "reference", scripts.reference)
    unopened = _unopened(scenario, first)
    if unopened is not None:
        none = Coverage(reached=0, total=0)
        return CheckReport(
            scenario=scenario.id,
            scripts=1,
            kinds=none,
            facts=none,
            codes=none,
            mutations=0,
            red=0,
            findings=(unopened,),
        )
    passing = [first, *(_play(trace, name, script) for name, script in scripts.right.items())]
    idle = [_play(trace, name, script) for name, script in idle_scripts(scenario.control).items()]
    wrong = [_play(trace, name, script) for name, script in scripts.wrong.items()]
    played = [*passing, *idle, *wrong]
    probed = probe({one.name: one.trace for one in passing if one.trace is not None and one.receipt.verdict == "pass"})
    covered = _covered(scenario, played, probed)
    findings = [
        *_not_passing(scenario, passing),
        *_idle_not_failing(scenario, idle),
        *_wrong_code(scenario, wrong),
        *(finding for _, missing in covered.values() for finding in missing),
        *probed.findings,
    ]
    return CheckReport(
        scenario=scenario.id,
        scripts=len(played),
        kinds=covered["kind"][0],
        facts=covered["fact"][0],
        codes=covered["code"][0],
        mutations=probed.mutations,
        red=probed.red,
        findings=tuple(findings),
    )


def _unopened(scenario: Scenario, played: _Played) -> CheckFinding | None:
    """The one finding of a world that cannot be made: everything else would only follow from it."""
    if played.receipt.outcome.status != "rejected":
        return None
    return CheckFinding(
        scenario=scenario.id,
        what=f"its world cannot be made: {played.result.log.problem}",
        where="workspace, late values and prompt",
        todo="correct what the message names; nothing else was checked",
    )


def _play(trace: Trace, name: str, script: Script) -> _Played:
    result, seen = trace(script_actor(f"script:{name}", script))
    return _Played(name, result, seen)


def _ending(result: EpisodeResult) -> str:
    """The verdict with all that a receipt can tell about why."""
    receipt = result.receipt
    parts = [receipt.verdict, receipt.failure_code or receipt.outcome.name]
    for finding in receipt.findings[:1]:
        parts.extend(
            text
            for text in (
                None
                if finding.pointer is None
                else f"{'what is' if finding.check == 'end' else 'the answer'} at {finding.pointer or '/'}",
                None if finding.expected is None else f"expected {finding.expected}",
                None if finding.got is None else f"got {finding.got}",
            )
            if text is not None
        )
    if result.log.problem is not None:
        parts.append(result.log.problem)
    return ", ".join(parts)


def _not_passing(scenario: Scenario, played: Iterable[_Played]) -> Iterator[CheckFinding]:
    for one in played:
        if one.receipt.verdict != "pass":
            yield CheckFinding(
                scenario=scenario.id,
                what=f"should pass, but: {_ending(one.result)}",
                where=f"script {one.name}",
                todo="correct the script, or the rule that it breaks",
            )


def _idle_not_failing(scenario: Scenario, played: Iterable[_Played]) -> Iterator[CheckFinding]:
    waits = scenario.control.no_call == "wait_user"  # then it may be waited for who does nothing, but never passed
    for one in played:
        if one.receipt.verdict != "fail" and not (waits and one.receipt.verdict == "pending"):
            yield CheckFinding(
                scenario=scenario.id,
                what=f"an actor that does nothing should fail, but: {_ending(one.result)}",
                where=f"idle actor {one.name}",
                todo="let [end] accept only facts that a call must earn, and give silence a code",
            )


def _wrong_code(scenario: Scenario, played: Iterable[_Played]) -> Iterator[CheckFinding]:
    for one in played:
        if one.receipt.verdict != "fail" or one.receipt.failure_code != one.name:
            yield CheckFinding(
                scenario=scenario.id,
                what=f"should fail with the code it is named by, but: {_ending(one.result)}",
                where=f"wrong script {one.name}",
                todo="correct the script, or the rule whose code it is named by",
            )


def _covered(
    scenario: Scenario, played: list[_Played], probed: Probed
) -> dict[str, tuple[Coverage, list[CheckFinding]]]:
    receipts = [one.receipt for one in played]
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
            {receipt.failure_code for receipt in receipts} | probed.codes,
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
            todo="add a script that reaches it, or remove it",
        )
        for name in names
        if name not in reached
    ]
    return Coverage(reached=len(names) - len(missing), total=len(names)), missing
