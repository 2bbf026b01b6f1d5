"""Evidence to receipt: redacts and assembles; the only maker of receipts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from harness import redaction
from harness.schema.base import Digest, JsonValue
from harness.schema.evidence import Writer
from harness.schema.finding import RawFinding
from harness.schema.outcome import Outcome
from harness.schema.receipt import Boundary, BoundaryChange, Counters, Finding, Receipt, RedactedText, Step, TurnSummary
from harness.schema.recording import Drift
from harness.schema.run import EpisodeJob
from harness.schema.verdict import Cause, Verdict

__all__ = ["Evidence", "ObservedChange", "build_receipt"]


@dataclass(frozen=True, slots=True)
class ObservedChange:
    """A change of the workspace as it was measured: a relative path, by whom, and whether it is allowed."""

    path: str
    change: Literal["added", "removed", "modified"]
    by: Writer
    allowed: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a receipt is made of.

    ``sayable`` are the texts that may be shown, ``declared_paths`` the workspace paths, ``declared_tools`` the names.
    ``changes`` is None where the workspace was not measured.
    """

    outcome: Outcome
    verdict: Verdict
    cause: Cause | None
    code: str | None
    findings: Sequence[tuple[int | None, RawFinding]]
    facts: Sequence[str]
    steps: Sequence[Step]
    turns: Sequence[TurnSummary]
    model_turns: int
    changes: Sequence[ObservedChange] | None
    definition: Digest | None
    classifier_version: int
    sayable: frozenset[str]
    declared_paths: Collection[str]
    drifts: Sequence[Drift] = ()


def build_receipt(job: EpisodeJob, evidence: Evidence) -> Receipt:
    """The receipt of one episode; every free text in it was made by ``redaction``."""
    return Receipt(
        scenario=job.loaded.scenario.id,
        scenario_digest=job.loaded.digest,
        definition_digest=evidence.definition,
        classifier_version=evidence.classifier_version,
        actor=job.actor.identity,
        plane=job.plane,
        trial=job.trial,
        attempt=job.attempt,
        outcome=evidence.outcome,
        verdict=evidence.verdict,
        cause=evidence.cause,
        failure_code=evidence.code,
        findings=(
            *(_drift(drift) for drift in evidence.drifts),
            *(_finding(step, raw, evidence) for step, raw in evidence.findings),
        ),
        facts=tuple(evidence.facts),
        steps=tuple(evidence.steps),
        turns=tuple(evidence.turns),
        counters=Counters(
            model_turns=evidence.model_turns,
            tool_calls=len(evidence.steps),
            executed_calls=sum(step.executed for step in evidence.steps),
            refused_calls=sum(step.refused is not None for step in evidence.steps),
        ),
        boundary=_boundary(evidence),
    )


def _drift(drift: Drift) -> Finding:
    return Finding(
        code=f"stale_{drift.stale}",
        step=drift.step,
        check="drift",
        pointer=drift.pointer,
        expected=drift.recorded,
        got=drift.now,
        exchange=drift.exchange,
    )


def _finding(step: int | None, raw: RawFinding, evidence: Evidence) -> Finding:
    told = raw.check in {"answer", "content", "execution", "end", "classifier"} or (
        raw.check == "packet" and (raw.missing or raw.expected is not None or raw.got is not None)
    )
    return Finding(
        code=raw.code,
        step=step,
        check=raw.check,
        pointer=raw.pointer,
        expected=redaction.value(raw.expected, evidence.sayable) if told else None,
        got=_found(raw, evidence) if told else None,
    )


def _found(raw: RawFinding, evidence: Evidence) -> RedactedText:
    if raw.steps:
        return redaction.calls([(evidence.steps[number - 1].kind, number) for number in raw.steps])
    if raw.path is not None:
        return redaction.workspace_path(raw.path, evidence.declared_paths)
    return redaction.missing() if raw.missing else _got(raw, evidence.sayable)


#: Stands for what an actor said that is no text: numbers are shown as they are, and nothing of a reply may be.
_NUMBER = "a value with a number"


def _got(raw: RawFinding, sayable: frozenset[str]) -> RedactedText:
    of_answer = (raw.pointer or "").startswith("/answer")
    # a classifier may be anybody's, and where it does not say, its number may come from anywhere
    unsaid = raw.check == "classifier" and raw.pointer is None
    if (unsaid or (of_answer and raw.check in {"end", "classifier"})) and _holds_number(raw.got):
        return redaction.value(_NUMBER, frozenset((_NUMBER,)))
    return redaction.value(raw.got, sayable)


def _holds_number(value: JsonValue) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, int | float) and not isinstance(one, bool):
            return True
        waiting += list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else []
    return False


def _boundary(evidence: Evidence) -> Boundary:
    if evidence.changes is None:
        return Boundary(measured=False)
    changes = tuple(
        BoundaryChange.model_validate(
            {
                "path": redaction.workspace_path(change.path, evidence.declared_paths),
                "change": change.change,
                "by": change.by,
                "allowed": change.allowed,
            }
        )
        for change in evidence.changes
    )
    return Boundary(measured=True, changes=changes, unexpected=sum(not change.allowed for change in changes))
