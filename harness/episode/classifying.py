"""Classifiers over the evidence of an episode that is over: they are asked once its own rules have been."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from harness.episode.boundary import measure
from harness.episode.end_state import ending_document
from harness.episode.erring import in_our_words
from harness.episode.operations import with_operations
from harness.episode.parts import EpisodeParts
from harness.episode.verdict import Conclusion
from harness.episode.world import World
from harness.errors import SetupRejectedError
from harness.journal import EpisodeState, StepState
from harness.ports import Classifiers
from harness.receipt import ObservedChange
from harness.schema.base import JsonValue
from harness.schema.classifier import Became, CallEvidence, ChangeEvidence, ClassifierSpec, Evidence, Violation
from harness.schema.finding import RawFinding
from harness.schema.judging import Classifier
from harness.schema.name import Code
from harness.schema.outcome import Outcome
from harness.schema.packet import Preparation
from harness.schema.pointer import MISSING, pointer
from harness.schema.scenario import Scenario
from harness.schema.trace import TraceStep
from harness.schema.verdict import Cause

__all__ = ["CLASSIFIER_FAILED", "classified", "codes_found", "evidence_to_keep", "look_before", "phrases", "prepared"]

#: The code of an episode that would pass, were it not for a classifier that raised or said what none may say.
CLASSIFIER_FAILED = "classifier_failed"

_Found = tuple[int | None, RawFinding]


def classified(
    parts: EpisodeParts, world: World, outcome: Outcome, changes: Sequence[ObservedChange], judged: Conclusion
) -> Conclusion:
    """What is proved once the scenario's classifiers were shown the evidence.

    Where the episode would pass, the first violation in the order of the file gives its code. Where it failed already
    they are asked that are for every judged episode, and what they find is told beside the code that it has.
    """
    passes = judged.verdict == "pass"
    asked = [spec for spec in world.scenario.classify if passes or (judged.verdict == "fail" and spec.when == "judged")]
    if not asked:
        return judged
    evidence = _evidence(world, outcome, changes)
    found: list[_Found] = []
    first: tuple[str, Cause] | None = None
    failed: str | None = None
    for spec in asked:
        try:
            kind, said = _asked(spec, parts.classifiers, evidence)
        except Exception as error:  # noqa: BLE001  (a classifier may be anybody's code)
            failed = failed or f"the classifier {spec.by!r} raised {type(error).__name__}"
            continue
        found += said
        if said and first is None:
            first = (said[0][1].code, kind.cause)
    findings = (*judged.findings, *found)
    if failed is not None:
        world.problem = world.problem or failed
    if not passes:
        return Conclusion(judged.verdict, judged.cause, judged.code, findings)
    if failed is not None:
        broken = RawFinding(code=CLASSIFIER_FAILED, check="outcome")
        return Conclusion("not_judged", "harness", CLASSIFIER_FAILED, (*findings, (None, broken)))
    return judged if first is None else Conclusion("fail", first[1], first[0], findings)


def look_before(world: World) -> None:
    """Note what the control plane holds at the start, where a classifier may ask for it."""
    plane = with_operations(world.plane) if world.scenario.classify else None
    if plane is not None:
        with in_our_words():
            world.plane_before = plane.snapshot()


def phrases(scenario: Scenario, classifiers: Classifiers) -> frozenset[str]:
    """The words of a bound scenario's classifiers that a receipt may show; nothing of one that raises."""
    found: set[str] = set()
    for spec in scenario.classify:
        try:
            found.update(str(text) for text in _made(spec, classifiers).phrases())
        except Exception:  # noqa: BLE001, S112  (asked about an episode, it says more)
            continue
    return frozenset(found)


def prepared(scenario: Scenario, classifiers: Classifiers, packet: JsonValue) -> Iterator[Preparation]:
    """What the classifiers of a bound scenario make of its packet. Raises SetupRejectedError where one raises."""
    for spec in scenario.classify:
        try:
            one = _prepared(spec, classifiers, packet)
        except Exception as error:  # noqa: BLE001  (a classifier may be anybody's code)
            found = (RawFinding(code=CLASSIFIER_FAILED, check="packet"),)
            problem = f"packet: the classifier {spec.by!r} raised {type(error).__name__}"
            raise SetupRejectedError(problem, found=found) from None
        yield one


def _prepared(spec: ClassifierSpec, classifiers: Classifiers, packet: JsonValue) -> Preparation:
    """Raises ValueError for a pointer that the scenario does not hold."""
    one = _made(spec, classifiers).prepare(packet)
    if not {*_texts(spec.settings)}.issuperset((*one.unfit, *one.withheld)):
        raise ValueError("a pointer that is none of the settings")
    return one


def evidence_to_keep(world: World, outcome: Outcome) -> Evidence:
    """The same for when the workspace is gone: without its files, so that nothing holds the world any longer."""
    return replace(_evidence(world, outcome, measure(world)), file=lambda _: None)


def codes_found(scenario: Scenario, classifiers: Classifiers, evidence: Evidence) -> frozenset[Code]:
    """The codes of everything that the scenario's classifiers find; raises what one of them raises."""
    return frozenset(
        finding.code for spec in scenario.classify for _, finding in _asked(spec, classifiers, evidence)[1]
    )


def _made(spec: ClassifierSpec, classifiers: Classifiers) -> Classifier:
    return classifiers.find(spec.by).model_validate_json(json.dumps(spec.settings))


def _asked(spec: ClassifierSpec, classifiers: Classifiers, evidence: Evidence) -> tuple[Classifier, list[_Found]]:
    classifier = _made(spec, classifiers)
    words = {*classifier.phrases(), *_texts(spec.settings)}
    return classifier, [_finding(spec, one, words, evidence) for one in classifier.classify(evidence)]


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text and every key of a setting."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)


def _finding(spec: ClassifierSpec, one: Violation, words: AbstractSet[str], evidence: Evidence) -> _Found:
    """Raises ValueError for a call that was not made, and for a pointer that may say anything.

    One may be told that the scenario holds, or that leads to what the control plane held before the actor came.
    """
    if not all(1 <= step <= len(evidence.calls) for step in one.steps):
        raise ValueError("a step that there is not")
    if one.pointer is not None and one.pointer not in words and not _was_there(one.pointer, evidence):
        raise ValueError("a pointer that is none of the settings")
    finding = RawFinding(
        code=spec.codes.get(one.ground, spec.code),
        check="classifier",
        pointer=one.pointer,
        expected=one.expected,
        got=one.got,
        missing=one.missing,
        steps=one.steps,
        path=one.path,
    )
    return (one.steps[0] if one.steps else None), finding


def _was_there(at: str, evidence: Evidence) -> bool:
    return pointer({} if evidence.before is None else {"state": evidence.before}, at) is not MISSING


def _evidence(world: World, outcome: Outcome, changes: Sequence[ObservedChange]) -> Evidence:
    return Evidence(
        outcome=outcome,
        calls=tuple(_calls(world.state, world.trace)),
        facts=world.state.facts,
        document=ending_document(world),
        text=world.final_text,
        changes=tuple(
            ChangeEvidence(path=one.path, change=one.change, by=one.by, allowed=one.allowed) for one in changes
        ),
        before=world.plane_before,
        received=world.received,
        file=world.file_text,
        packet=world.packet,
    )


def _calls(state: EpisodeState, trace: Iterable[TraceStep]) -> Iterator[CallEvidence]:
    seen = {(one.turn, one.call): one for one in trace}
    for number, step in enumerate(state.steps, 1):
        one = seen.get((step.turn, step.call))
        observation = None if one is None else one.observation
        yield CallEvidence(
            step=number,
            turn=step.turn,
            tool=step.tool if one is None else one.tool,
            kind=step.kind,
            became=_became(step, one),
            result=step.result or "interrupted",
            arguments=None if one is None else one.arguments,
            command=None if one is None else one.command,
            operation=None if one is None else one.operation,
            reached_plane=one is not None and one.reached_plane,
            ended_well=observation is not None and observation.ok,
            error=None if one is None else one.error,
            answer=None if observation is None else observation.answer,
            sets=step.sets,
            replayed=one is not None and one.replayed,
        )


def _became(step: StepState, seen: TraceStep | None) -> Became:
    """An error that somebody typed is no execution, whatever its exit state."""
    if step.executed:
        observation = None if seen is None else seen.observation
        ok = observation is not None and observation.ok and (seen is None or seen.error is None)
        return "executed" if ok else "failed"
    if step.refused is None and (step.result or "interrupted") in _SKIPPED:
        return "skipped"
    return "blocked"


#: Results of calls that nobody refused, and that were not run.
_SKIPPED = frozenset(
    (
        "skipped_due_to_finish",
        "skipped_due_to_wait_user",
        "skipped_due_to_steering",
        "skipped_due_to_stop",
        "cancelled_before_execution",
        "interrupted",
        "over_turn_cap",
    )
)
