"""The words of a scenario: its failure codes, and the strings that a receipt may show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import get_args

from harness.rules.expecting import phrase
from harness.rules.packets import COUNT, THERE
from harness.schema.command import Refusal
from harness.schema.name import Code
from harness.schema.rules import AnswerCheck, Expectation
from harness.schema.scenario import Scenario

__all__ = ["codes", "sayable", "words"]

_LONGEST = 200
_REFUSALS: tuple[str, ...] = get_args(Refusal)
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
    found.update((*scenario.codes, *_REFUSALS, *others))
    for kind in scenario.kind:
        found.update((kind.name, *kind.never, *kind.needs, *kind.facts))
        found.update(words(kind.where.values()))
    for end_check in scenario.end.check:
        found.update(words(end_check.holds.values()))
    for spec in scenario.check:
        found.update(words(spec.answer.values()))
    for follow in scenario.after:
        found.update(words(follow.answer.values()))
    for must in () if scenario.packet is None else scenario.packet.must:
        found.update((*words(must.holds.values()), THERE, COUNT))
    if scenario.closing is not None:
        found.add(scenario.closing.wanted)
    return frozenset(text for text in found if len(text) <= _LONGEST and _is_harmless(text))


def words(expectations: Iterable[Expectation]) -> Iterator[str]:
    """The strings that what misses these may be told with: their own values, and phrases for all other tests."""
    for expectation in expectations:
        check = expectation if isinstance(expectation, AnswerCheck) else AnswerCheck(equals=expectation)
        for value in (*phrase(check), check.contains, *(check.one_of or ())):
            if isinstance(value, str):
                yield value


@lru_cache(maxsize=4096)
def _is_harmless(text: str) -> bool:
    """Of a text that is not long: every trial of a scenario asks for the same ones."""
    return text.isprintable() and not _FOREIGN_PATH.search(text)
