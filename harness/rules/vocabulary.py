"""The words of a scenario: its failure codes, and the strings that a receipt may show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import get_args

from harness.rules.expecting import phrase
from harness.schema.command import Refusal
from harness.schema.name import Code
from harness.schema.rules import AnswerCheck, Expectation
from harness.schema.scenario import Scenario

__all__ = ["codes", "sayable"]

_LONGEST = 200
#: A path that is absolute or starts in a home directory, anywhere in a text.
_FOREIGN_PATH = re.compile(r"(?<![\w.{}/#-])[/~](?=[\w.])")


def codes(scenario: Scenario) -> tuple[Code, ...]:
    """Every failure code the scenario declares, once, in order."""
    return scenario.codes


def sayable(scenario: Scenario, others: Iterable[str] = ()) -> frozenset[str]:
    """The strings of a bound scenario that a receipt may show as they are.

    Names of kinds, facts and codes, what answer checks expect (values and phrases), and the fixed words of execution
    findings, reasons of refusal included; ``others`` too. A string that is long, has several lines or holds an absolute
    path is never one of them.
    """
    found: set[str] = {"run", "timed out", "a JSON object", "a read that ran", "the content of the file"}
    found.update((*scenario.codes, *get_args(Refusal), *others))
    for kind in scenario.kind:
        found.update((kind.name, *kind.never, *kind.needs, *kind.facts))
        found.update(_words(kind.where.values()))
    for end_check in scenario.end.check:
        found.update(_words(end_check.holds.values()))
    for spec in scenario.check:
        found.update(_words(spec.answer.values()))
    for follow in scenario.after:
        found.update(_words(follow.answer.values()))
    return frozenset(text for text in found if _is_harmless(text))


def _words(expectations: Iterable[Expectation]) -> Iterator[str]:
    for expectation in expectations:
        check = expectation if isinstance(expectation, AnswerCheck) else AnswerCheck(equals=expectation)
        for value in (*phrase(check), check.contains, *(check.one_of or ())):
            if isinstance(value, str):
                yield value


def _is_harmless(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable() and not _FOREIGN_PATH.search(text)
