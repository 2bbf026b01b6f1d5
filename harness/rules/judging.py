"""What the result of a call proves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from harness.rules.erring import is_no_answer
from harness.rules.expecting import Known, Miss, examine, nothing_known, same
from harness.rules.proposing import RuleState
from harness.schema.base import JsonValue
from harness.schema.finding import FindingCheck, Judgement, RawFinding
from harness.schema.following import FollowUp
from harness.schema.observation import Observation, ReadObservation
from harness.schema.pointer import MISSING, Missing
from harness.schema.rules import AnswerCheck, CheckSpec, Expectation, KindSpec, ShowsSpec
from harness.schema.scenario import Scenario

__all__ = ["judge", "judge_after"]


def judge(
    scenario: Scenario,
    state: RuleState,
    kind: KindSpec,
    observation: Observation,
    *,
    file: Callable[[str], str | None],
    kind_of: Callable[[str], str | None],
    shown: str | None = None,
    known: Known = nothing_known,
) -> Judgement:
    """The judgement on one result of an accepted call.

    ``state`` is that of the proposal, from before the call. ``file`` gives a workspace file's text by its
    ``root/path``; ``kind_of`` the kind of a command text that an answer suggests; ``shown`` is what the actor is shown
    of it (None: all of it), for what was left out proves nothing. Nor does an error that the scenario
    typed, or that nothing can come after. A call that was refused, did not end well or (a control-plane call) printed
    no JSON object fails: with ``failed`` that is the code, without it nothing is set and the episode goes on. Then all
    proofs by content and all answer checks are held against the result; the first finding gives the code. ``known``
    gives the values of other places. What is answered with a hint is not judged.
    """
    if kind.hint is not None:
        return Judgement(sets=kind.facts)
    if is_no_answer(kind, observation):
        return Judgement()
    broken = _execution(kind, observation)
    if broken is not None:
        if kind.failed is None:
            return Judgement()
        return Judgement(code=kind.failed, findings=(_finding(kind.failed, "execution", None, broken),))
    occurrence = state.counts.get(kind.name, 0) + 1
    specs = [spec for spec in scenario.check if spec.kind == kind.name and spec.occurrence in (None, occurrence)]
    answers = [_answers(kind.failed or kind.name, spec.answer, observation, kind_of, known) for spec in specs]
    findings = (*_content(kind, specs, observation, file, shown), *(miss for misses in answers for miss in misses))
    if findings:
        return Judgement(code=findings[0].code, findings=findings)
    return Judgement(sets=(*(() if kind.sets is None else (kind.sets,)), *_proved(kind, observation, file, shown)))


def judge_after(
    follow: FollowUp,
    observation: Observation,
    *,
    kind_of: Callable[[str], str | None] = lambda _: None,
    known: Known = nothing_known,
) -> tuple[RawFinding, ...]:
    """Everything in which what a call of the harness itself was answered misses its expectations, in file order."""
    if not observation.ok or observation.answer is None:
        wrong = Miss("a JSON object", observation.exit_code if not observation.ok else MISSING)
        return (_finding(follow.failed, "answer", None, wrong),)
    return tuple(_answers(follow.failed, follow.answer, observation, kind_of, known))


def _proved(
    kind: KindSpec, observation: Observation, file: Callable[[str], str | None], shown: str | None
) -> Iterator[str]:
    """The facts whose files the result shows."""
    for fact, path in kind.proves.items():
        text = file(path)
        wanted = MISSING if text is None else _json(text)
        printed = [read.text for read in observation.reads if read.target == path and read.ran]
        if wanted is not MISSING and any(_shows(one, wanted, shown) for one in printed):
            yield fact


def _shows(text: str, wanted: JsonValue | Missing, shown: str | None) -> bool:
    value = _json(text)
    return value is not MISSING and same(value, wanted) and (shown is None or text in shown)


def _execution(kind: KindSpec, observation: Observation) -> Miss | None:
    if observation.refused is not None:
        return Miss("run", observation.refused)
    if observation.timed_out:
        return Miss(0, "timed out")
    if not observation.ok:
        return Miss(0, observation.exit_code)
    if kind.is_call and observation.answer is None:
        return Miss("a JSON object", MISSING)
    return None


def _content(
    kind: KindSpec,
    specs: list[CheckSpec],
    observation: Observation,
    file: Callable[[str], str | None],
    shown: str | None,
) -> Iterator[RawFinding]:
    for spec in specs:
        if spec.shows is not None:
            for miss in _unshown(spec.shows, observation.reads, file(spec.shows.file), shown):
                yield _finding(kind.failed or kind.name, "content", None, miss)


def _unshown(
    shows: ShowsSpec, reads: tuple[ReadObservation, ...], text: str | None, shown: str | None
) -> Iterator[Miss]:
    """Reads of the file that did not print it; a read that was skipped is no read, and none at all proves nothing."""
    of_file = [read for read in reads if read.target == shows.file]
    ran = [read for read in of_file if read.ran]
    wanted = MISSING if text is None else _json(text)
    if not ran or (shows.reads == "all" and len(ran) < len(of_file)):
        yield Miss("a read that ran", MISSING)
    for read in ran:
        printed = _json(read.text)
        if wanted is MISSING or printed is MISSING or not same(printed, wanted):
            yield Miss("the content of the file", printed)
        elif shown is not None and read.text not in shown:
            yield Miss("the content of the file", "left out of what the actor is shown")


def _answers(
    default: str,
    expected: Mapping[str, Expectation],
    observation: Observation,
    kind_of: Callable[[str], str | None],
    known: Known,
) -> Iterator[RawFinding]:
    """A check that has no code of its own gets the ``default``."""
    document: JsonValue = observation.answer
    for at, expectation in expected.items():
        own = expectation.code if isinstance(expectation, AnswerCheck) else None
        for miss in examine(document, at, expectation, kind_of, known):
            yield _finding(own or default, "answer", at, miss)


def _finding(code: str, check: FindingCheck, at: str | None, miss: Miss) -> RawFinding:
    return RawFinding(
        code=code,
        check=check,
        pointer=at,
        expected=miss.expected,
        got=None if miss.got is MISSING else miss.got,
        missing=miss.got is MISSING,
    )


def _json(text: str) -> JsonValue | Missing:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return MISSING
    return value
