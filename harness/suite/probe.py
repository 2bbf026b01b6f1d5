"""Whether the checks of a scenario look at what they say: change it, judge again, and demand to be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness import rules
from harness.schema.check import CheckFinding
from harness.schema.finding import Judgement
from harness.schema.observation import Observation
from harness.schema.pointer import MISSING
from harness.schema.rules import AnswerCheck, CheckSpec, KindSpec
from harness.schema.scenario import Scenario
from harness.schema.trace import EpisodeTrace, TraceStep
from harness.suite.mutations import Mutation, of_answer, of_log, of_reads
from harness.suite.probing_after import probe_after

__all__ = ["Probed", "probe"]


@dataclass(slots=True)
class Probed:
    """What was changed, how much of it was noticed, and the checks' own codes that the noticing gave.

    No script can make the control plane give a wrong answer, so a check's own code is reached here or nowhere.
    """

    mutations: int = 0
    red: int = 0
    codes: set[str] = field(default_factory=set)
    findings: list[CheckFinding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Aim:
    """One check: the number of its table, and the pointer in it or None for its read proof."""

    number: int
    pointer: str | None

    @property
    def name(self) -> str:
        return "read proof" if self.pointer is None else f"answer check {self.pointer}"


@dataclass(frozen=True, slots=True)
class _Stage:
    """A step of a passing episode that was judged right."""

    script: str
    ordinal: int
    trace: EpisodeTrace
    step: TraceStep
    kind: KindSpec
    observation: Observation

    @property
    def where(self) -> str:
        return f"script {self.script}, step {self.ordinal}, kind {self.kind.name}"


def probe(traces: Mapping[str, EpisodeTrace]) -> Probed:
    """Re-judge the steps of passing episodes (by script name) with one thing changed at a time."""
    found = Probed()
    tried: set[_Aim] = set()
    for script, trace in traces.items():
        for stage in _stages(script, trace):
            for aim, mutation in _mutations(stage):
                tried.add(aim)
                _try(found, stage, aim, mutation)
        for number, mutation in _of_the_end(trace):
            _try_end(found, script, trace, number, mutation)
        _try_log(found, trace)
    for trace in list(traces.values())[:1]:
        found.findings.extend(_untried(trace.bound, tried))
    after = probe_after(traces)
    found.mutations += after.mutations
    found.red += after.red
    found.codes |= after.codes
    found.findings += after.findings
    return found


def _of_the_end(trace: EpisodeTrace) -> Iterator[tuple[tuple[int, str], Mutation]]:
    """What an episode ended with, one thing changed, aimed at a check of the end: its number, and the pointer in it."""
    if trace.ending is None:
        return
    seen = Observation(ran=True, ok=True, text="", answer=trace.ending)
    for number, check in enumerate(trace.bound.end.check):
        for at, expectation in check.holds.items():
            for mutation in of_answer(at, expectation, seen, {}):
                yield (number, at), mutation


def _try_end(found: Probed, script: str, trace: EpisodeTrace, aim: tuple[int, str], mutation: Mutation) -> None:
    number, at = aim
    code = trace.bound.end.check[number].code
    found.mutations += 1
    misses = rules.ending_findings(trace.bound, mutation.observation.answer)
    if any(miss.pointer == at and miss.code == code for miss in misses):
        found.red += 1
        return
    found.findings.append(
        CheckFinding(
            scenario=trace.bound.id,
            what=f"the end's check {at} stays green with what the episode ended with changed ({mutation.what})",
            where=f"script {script}, code {code}",
            todo="expect something there that only the right ending has",
        )
    )


def _try_log(found: Probed, trace: EpisodeTrace) -> None:
    """No script makes the control plane's log lie: codes for that are reached here, where a classifier looks at it."""
    if trace.evidence is None:
        return
    before = trace.judged(trace.evidence)
    for changed in of_log(trace.evidence):
        codes = trace.judged(changed) - before
        if codes:
            found.mutations += 1
            found.red += 1
            found.codes |= codes


def _stages(script: str, trace: EpisodeTrace) -> Iterator[_Stage]:
    kinds = {kind.name: kind for kind in trace.bound.kind}
    for ordinal, step in enumerate(trace.steps, 1):
        kind = kinds.get(step.proposal.kind or "")
        if kind is None or step.observation is None or step.judgement is None or step.judgement.code is not None:
            continue
        yield _Stage(script, ordinal, trace, step, kind, step.observation)


def _applies(check: CheckSpec, stage: _Stage) -> bool:
    occurrence = stage.step.counts.get(stage.kind.name, 0) + 1
    return check.kind == stage.kind.name and check.occurrence in {None, occurrence}


def _mutations(stage: _Stage) -> Iterator[tuple[_Aim, Mutation]]:
    for number, check in enumerate(stage.trace.bound.check):
        if not _applies(check, stage):
            continue
        for pointer, expectation in check.answer.items():
            for mutation in of_answer(pointer, expectation, stage.observation, stage.trace.kinds_of):
                yield _Aim(number, pointer), mutation
        if check.shows is not None:
            for mutation in of_reads(check.shows, stage.observation):
                yield _Aim(number, None), mutation


def _judge(stage: _Stage, mutation: Mutation) -> Judgement:
    kinds = {**stage.trace.kinds_of, **mutation.kinds}
    return rules.judge(
        stage.trace.bound,
        rules.RuleState(facts=frozenset(stage.step.facts), counts=stage.step.counts),
        stage.kind,
        mutation.observation,
        file=stage.trace.files.get,
        kind_of=kinds.get,
        known=lambda source: stage.trace.sources.get(source, MISSING),
    )


def _try(found: Probed, stage: _Stage, aim: _Aim, mutation: Mutation) -> None:
    judgement = _judge(stage, mutation)
    found.mutations += 1
    own = _own_code(stage.trace.bound.check[aim.number], aim)
    if judgement.code is not None and _noticed(judgement, aim, own):
        found.red += 1
        found.codes.update(() if own is None else (own,))
        return
    found.findings.append(
        CheckFinding(
            scenario=stage.trace.bound.id,
            what=f"{aim.name} stays green with the stored answer changed ({mutation.what})",
            where=stage.where,
            todo="expect something there that only the right answer has",
        )
    )


def _own_code(check: CheckSpec, aim: _Aim) -> str | None:
    expectation = None if aim.pointer is None else check.answer[aim.pointer]
    return expectation.code if isinstance(expectation, AnswerCheck) else None


def _noticed(judgement: Judgement, aim: _Aim, own: str | None) -> bool:
    """Whether a finding of the very check that was aimed at is there; another check's finding proves nothing of it."""
    if aim.pointer is None:
        return any(finding.check == "content" for finding in judgement.findings)
    return any(
        finding.check == "answer" and finding.pointer == aim.pointer and own in {None, finding.code}
        for finding in judgement.findings
    )


def _untried(scenario: Scenario, tried: set[_Aim]) -> Iterator[CheckFinding]:
    for number, check in enumerate(scenario.check):
        aims = [_Aim(number, pointer) for pointer in check.answer]
        if check.shows is not None:
            aims.append(_Aim(number, None))
        for aim in aims:
            if aim not in tried:
                yield CheckFinding(
                    scenario=scenario.id,
                    what=f"{aim.name} is never looked at in a passing script",
                    where=f"check of {check.kind}",
                    todo="let the reference or a right script get that far, or remove the check",
                )
