"""Whether the actor is told what it is judged by: a code, a fact or a pointer of the rules in anything that it sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from harness.schema.base import as_json, canonical_json
from harness.schema.check import CheckFinding
from harness.schema.message import AssistantMessage, ModelRequest
from harness.schema.rules import AnswerCheck
from harness.schema.scenario import Scenario
from harness.schema.trace import EpisodeTrace

__all__ = ["told_answers"]

#: What may stand around a name that is written as one, and not as a word of a sentence.
_QUOTES: Final = "`'\"«“"


def told_answers(scenario: Scenario, traces: Iterable[EpisodeTrace]) -> list[CheckFinding]:
    """One finding a name of the answer key that stands where the actor can read it.

    Looked at are prompts, tools as they are offered, results as they were shown, and the files of the workspace. A
    name of one word, such as ``asked``, is a word of the language as well: it counts in the scenario's own texts only,
    and there in quotes. A pointer with one part, such as ``/id``, is no key of anything.
    """
    names = {*scenario.codes, *_facts(scenario)}
    several = sorted(name for name in names if "_" in name)
    single = sorted(name for name in names if "_" not in name)
    pointers = sorted(at for at in _pointers(scenario) if at.count("/") > 1)
    found: dict[str, str] = {}
    keys = _pattern(several, pointers)
    for place, text in _seen(traces):
        for match in keys.finditer(text) if keys is not None else ():
            found.setdefault(match[0], place)
    quoted = _quoted(single)
    for place, text in _own(scenario):
        for match in quoted.finditer(text) if quoted is not None else ():
            found.setdefault(match[1], place)
    return [
        CheckFinding(
            scenario=scenario.id,
            what=f"the actor is told what it is judged by: {place} has it",
            where=f"answer key {name}",
            todo="say it in other words there, or call it otherwise in the rules",
        )
        for name, place in sorted(found.items())
    ]


def _facts(scenario: Scenario) -> set[str]:
    return {kind.sets for kind in scenario.kind if kind.sets is not None}


def _pointers(scenario: Scenario) -> set[str]:
    tables = [check.answer for check in scenario.check]
    tables += [check.holds for check in scenario.end.check]
    tables += [kind.where for kind in scenario.kind]
    compared = {
        wanted.same_as
        for table in tables
        for wanted in table.values()
        if isinstance(wanted, AnswerCheck) and wanted.same_as is not None
    }
    return compared.union(*tables)


def _pattern(names: list[str], pointers: list[str]) -> re.Pattern[str] | None:
    """Each of them as a whole: no letter before or after it, and no path before a pointer."""
    parts = [rf"(?<![\w/.-]){re.escape(at)}(?![\w-])" for at in sorted(pointers, key=len, reverse=True)]
    parts += [rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in names]
    return re.compile("|".join(parts)) if parts else None


def _quoted(names: list[str]) -> re.Pattern[str] | None:
    return re.compile(rf"[{_QUOTES}]({'|'.join(map(re.escape, names))})(?![\w-])") if names else None


def _seen(traces: Iterable[EpisodeTrace]) -> Iterator[tuple[str, str]]:
    """Each text once, with what it is; the actor's own words are none."""
    told: set[str] = set()
    for trace in traces:
        for place, text in _texts(trace):
            if text not in told:
                told.add(text)
                yield place, text


def _texts(trace: EpisodeTrace) -> Iterator[tuple[str, str]]:
    names = {"system": "the system prompt", "user": "what the user says", "tool": "a tool's result"}
    for request in trace.requests[-1:]:
        yield from _tools(request)
        for message in request.messages:
            if not isinstance(message, AssistantMessage):
                yield names[message.role], message.text
    for file in trace.bound.workspace.file:
        yield f"the file {file.at[0]}", file.text
        yield from ((f"the name of the file {at}", at) for at in file.at)


def _tools(request: ModelRequest) -> Iterator[tuple[str, str]]:
    for tool in request.tools:
        yield f"the tool {tool.name}", canonical_json(as_json(tool))


def _own(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """The texts that the scenario's author wrote for the actor."""
    yield "the system prompt", scenario.prompt.system or ""
    yield "what the user says", scenario.prompt.user
    yield from (("what a person answers", answer) for answer in scenario.control.answers)
    for name, tool in scenario.tool.items():
        yield f"the tool {name}", tool.about or ""
