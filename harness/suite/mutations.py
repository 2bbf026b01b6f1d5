"""Answers and read texts with one thing wrong, each aimed at one check that must notice it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace

from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence
from harness.schema.name import Pointer
from harness.schema.observation import Observation
from harness.schema.rules import AnswerCheck, Expectation, ShowsSpec

__all__ = ["Mutation", "of_answer", "of_log", "of_reads"]

_OTHER_TEXT = "changed by the check"
_OTHER_CODE = "changed_by_the_check"


@dataclass(frozen=True, slots=True)
class Mutation:
    """``what`` was changed; the observation with it; kinds of command texts that did not exist before."""

    what: str
    observation: Observation
    kinds: Mapping[str, str | None] = field(default_factory=dict)


def of_answer(
    pointer: Pointer, expectation: Expectation, observation: Observation, kinds: Mapping[str, str | None]
) -> Iterator[Mutation]:
    """The answer with the value at ``pointer`` removed, of another value, of another type.

    Where the value must be absent, it is put there. ``kinds`` are those of the command texts in the answer.
    """
    answer = observation.answer
    if answer is None or pointer == "":
        return
    place = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    check = expectation if isinstance(expectation, AnswerCheck) else AnswerCheck(equals=expectation)
    if check.absent:
        for label, extra in (("null put there", None), ("a text put there", _OTHER_TEXT)):
            yield _with(observation, label, _put(answer, place, extra))
        return
    found, value = _look(answer, place)
    if not found:
        return
    yield _with(observation, "removed", _remove(answer, place))
    of_commands = check.commands is not None or check.none_contains is not None
    for label, other in _variants(value):
        # An array without commands is a right answer where none is demanded.
        if not (of_commands and other == [] and not any((check.commands or {}).values())):
            yield _with(observation, label, _put(answer, place, other))
    if of_commands and isinstance(value, list):
        yield from _of_commands(check, value, observation, place, kinds)


def of_log(evidence: Evidence) -> Iterator[Evidence]:
    """The control plane's own log without its last call, with it twice, altered, refused or done; and no log at all."""
    if not evidence.received:
        return
    *before, last = evidence.received
    error = _OTHER_CODE if last.error is None else None
    altered = replace(last, arguments={_OTHER_TEXT: True})
    for ending in ((), (last, last), (altered,), (replace(last, error=error),)):
        yield replace(evidence, received=(*before, *ending))
    yield replace(evidence, received=None)


def of_reads(proof: ShowsSpec, observation: Observation) -> Iterator[Mutation]:
    """The reads of the proof's file, one showing something else, and all of them not run."""
    aimed = [number for number, read in enumerate(observation.reads) if read.target == proof.file]
    for number in aimed:
        for label, text in (("shows nothing", ""), ("shows another text", f'{{"{_OTHER_TEXT}": true}}')):
            reads = list(observation.reads)
            if reads[number].ran:
                reads[number] = replace(reads[number], text=text)
                yield Mutation(f"read {number + 1} {label}", replace(observation, reads=tuple(reads)))
        if proof.reads == "all":
            reads = list(observation.reads)
            reads[number] = replace(reads[number], ran=False)
            yield Mutation(f"read {number + 1} not run", replace(observation, reads=tuple(reads)))
    if aimed:
        idle = tuple(
            replace(read, ran=False) if number in aimed else read for number, read in enumerate(observation.reads)
        )
        yield Mutation("no read run", replace(observation, reads=idle))


def _of_commands(
    check: AnswerCheck,
    value: list[JsonValue],
    observation: Observation,
    place: list[str],
    kinds: Mapping[str, str | None],
) -> Iterator[Mutation]:
    answer = observation.answer or {}
    if any((check.commands or {}).values()):
        yield _with(observation, "every command twice", _put(answer, place, [*value, *value]))
    if check.none_contains is not None and value and isinstance(value[0], str):
        text = f"{value[0]} {check.none_contains}"
        changed = _put(answer, place, [text, *value[1:]])
        yield Mutation(
            "a forbidden text added",
            replace(observation, answer=changed),
            {text: kinds.get(value[0])},
        )


def _variants(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    same: JsonValue
    other: JsonValue = 7
    if isinstance(value, bool):
        same, other = not value, int(value)
    elif isinstance(value, int | float):
        same, other = value + 1, str(value)
    elif isinstance(value, str):
        same = _OTHER_TEXT
    elif isinstance(value, list):
        same = [] if value else [_OTHER_TEXT]
    elif isinstance(value, dict):
        same = {} if value else {_OTHER_TEXT: True}
    else:
        yield "another type", other
        return
    yield "another value", same
    yield "another type", other


def _with(observation: Observation, what: str, answer: dict[str, JsonValue]) -> Mutation:
    return Mutation(what, replace(observation, answer=answer))


def _step(value: JsonValue, token: str) -> tuple[bool, JsonValue]:
    if isinstance(value, dict) and token in value:
        return True, value[token]
    if isinstance(value, list) and token.isdecimal() and int(token) < len(value):
        return True, value[int(token)]
    return False, None


def _look(value: JsonValue, place: list[str]) -> tuple[bool, JsonValue]:
    found = True
    for token in place:
        found, value = _step(value, token)
        if not found:
            break
    return found, value


def _put(answer: dict[str, JsonValue], place: list[str], value: JsonValue) -> dict[str, JsonValue]:
    changed = deepcopy(answer)
    here: JsonValue = changed
    for token in place[:-1]:
        found, below = _step(here, token)
        if not found or not isinstance(below, dict | list):
            below = {}
            _assign(here, token, below)
        here = below
    _assign(here, place[-1], value)
    return changed


def _assign(container: JsonValue, token: str, value: JsonValue) -> None:
    if isinstance(container, list):
        if token.isdecimal() and int(token) < len(container):
            container[int(token)] = value
        else:
            container.append(value)
    elif isinstance(container, dict):
        container[token] = value


def _remove(answer: dict[str, JsonValue], place: list[str]) -> dict[str, JsonValue]:
    changed = deepcopy(answer)
    parent = _look(changed, place[:-1])[1]
    if isinstance(parent, list):
        # An array is cut short, for the next element must not slide into the place that is looked at.
        del parent[int(place[-1]) :]
    elif isinstance(parent, dict):
        del parent[place[-1]]
    return changed
