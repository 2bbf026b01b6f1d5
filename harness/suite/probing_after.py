"""Whether a scenario looks at what came of a call: change what its own calls were answered, and demand to be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from harness import rules
from harness.schema.check import CheckFinding
from harness.schema.following import FollowUp
from harness.schema.observation import Observation
from harness.schema.pointer import MISSING
from harness.schema.rules import AnswerCheck
from harness.schema.trace import EpisodeTrace
from harness.suite.mutations import Mutation, of_answer

__all__ = ["AfterProbed", "probe_after"]


@dataclass(slots=True)
class AfterProbed:
    """What was changed, how much of it was noticed, with which codes, and what is wrong."""

    mutations: int = 0
    red: int = 0
    codes: set[str] = field(default_factory=set)
    findings: list[CheckFinding] = field(default_factory=list)


def probe_after(traces: Mapping[str, EpisodeTrace]) -> AfterProbed:
    """Judge again, one thing changed at a time, what calls of ``[[after]]`` were answered in passing episodes."""
    found = AfterProbed()
    asked: set[int] = set()
    for script, trace in traces.items():
        for ordinal, step in enumerate(trace.steps, 1):
            for follow, seen in step.after:
                asked.add(trace.bound.after.index(follow))
                for at, mutation in _mutations(trace, follow, seen):
                    _try(found, f"script {script}, step {ordinal}, kind {follow.kind}", trace, follow, at, mutation)
    for trace in list(traces.values())[:1]:
        found.findings.extend(_unasked(trace, asked))
    return found


def _mutations(trace: EpisodeTrace, follow: FollowUp, seen: Observation) -> Iterator[tuple[str | None, Mutation]]:
    yield None, Mutation("the call failed", replace(seen, ok=False, exit_code=1))
    for at, expectation in follow.answer.items():
        yield from ((at, mutation) for mutation in of_answer(at, expectation, seen, trace.kinds_of))


def _try(  # noqa: PLR0917  (what a change is made to)
    found: AfterProbed, where: str, trace: EpisodeTrace, follow: FollowUp, at: str | None, mutation: Mutation
) -> None:
    found.mutations += 1
    kinds = {**trace.kinds_of, **mutation.kinds}
    misses = rules.judge_after(
        follow, mutation.observation, kind_of=kinds.get, known=lambda source: trace.sources.get(source, MISSING)
    )
    expectation = None if at is None else follow.answer[at]
    own = expectation.code if isinstance(expectation, AnswerCheck) else None
    code = own or follow.failed
    if any(miss.pointer == at and miss.code == code for miss in misses):
        found.red += 1
        found.codes.add(code)
        return
    found.findings.append(
        CheckFinding(
            scenario=trace.bound.id,
            what=f"the check {at} of what came of a call stays green with the answer changed ({mutation.what})",
            where=where,
            todo="expect something there that only the right effect has",
        )
    )


def _unasked(trace: EpisodeTrace, asked: set[int]) -> Iterator[CheckFinding]:
    for number, follow in enumerate(trace.bound.after):
        if number not in asked:
            yield CheckFinding(
                scenario=trace.bound.id,
                what=f"after[{number}] is never asked in a passing script",
                where=f"kind {follow.kind}",
                todo="let the reference or a right script get that far, or remove it",
            )
