"""What the result of a call proves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from harness.rules.erring import is_no_answer
from harness.rules.expecting import Miss, examine, same
from harness.rules.proposing import RuleState
from harness.schema.base import JsonValue
from harness.schema.finding import FindingCheck, Judgement, RawFinding
from harness.schema.observation import Observation, ReadObservation
from harness.schema.pointer import MISSING, Missing
from harness.schema.rules import AnswerCheck, CheckSpec, KindSpec, ShowsSpec
from harness.schema.scenario import Scenario

__all__ = ["judge"]


def judge(
    scenario: Scenario,
    state: RuleState,
    kind: KindSpec,
    observation: Observation,
    *,
    file: Callable[[str], str | None],
    kind_of: Callable[[str], str | None],
    shown: str | None = None,
) -> Judgement:
    """The judgement on one result of an accepted call.

    ``state`` is that of the proposal, from before the call. ``file`` gives a workspace file's text by its
    ``root/path``; ``kind_of`` the kind of a command text that an answer suggests; ``shown`` is what the actor is shown
    of it (None: all of it), for what was left out proves nothing. Nor does an error that the scenario
    typed, or that nothing can come after. A call that was refused, did not end well or (a control-plane call) printed
    no JSON object fails: with ``failed`` that is the code, without it nothing is set and the episode goes on. Then all
    proofs by content and all answer checks are held against the result; the first finding gives the code.
    """
    if is_no_answer(kind, observation):
        return Judgement()
    broken = _execution(kind, observation)
    if broken is not None:
        if kind.failed is None:
            return Judgement()
        return Judgement(code=kind.failed, findings=(_finding(kind.failed, "execution", None, broken),))
    occurrence = state.counts.get(kind.name, 0) + 1
    specs = [spec for spec in scenario.check if spec.kind == kind.name and spec.occurrence in (None, occurrence)]
    findings = (*_content(kind, specs, observation, file, shown), *_answers(kind, specs, observation, kind_of))
    if findings:
        return Judgement(code=findings[0].code, findings=findings)
    return Judgement(sets=() if kind.sets is None else (kind.sets,))


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
                yield _finding(_code(kind, None), "content", None, miss)


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
    kind: KindSpec, specs: list[CheckSpec], observation: Observation, kind_of: Callable[[str], str | None]
) -> Iterator[RawFinding]:
    document: JsonValue = observation.answer
    for spec in specs:
        for at, expectation in spec.answer.items():
            own = expectation.code if isinstance(expectation, AnswerCheck) else None
            for miss in examine(document, at, expectation, kind_of):
                yield _finding(_code(kind, own), "answer", at, miss)


def _code(kind: KindSpec, own: str | None) -> str:
    """A check's own code, else that of its kind; a kind's name where the scenario was made without either."""
    return own or kind.failed or kind.name


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
