"""Expectations on values, as settings of classifiers: what is wrong with one, and what misses one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.documents.patterns import pattern_problem
from harness.rules import examine
from harness.schema.base import JsonValue
from harness.schema.classifier import SettingProblem, Violation
from harness.schema.name import Pointer
from harness.schema.pointer import MISSING
from harness.schema.rules import AnswerCheck, Expectation

__all__ = ["expectation_problems", "misses"]

_PATTERNS = ("matches", "avoids")
_TESTS = frozenset(("equals", "one_of", "contains", "same_as", "empty", "absent", "near", *_PATTERNS))


def expectation_problems(expectation: Expectation, at: tuple[str | int, ...]) -> Iterator[SettingProblem]:
    """A test that is none of a single value, or more than one of them; a pattern that is none."""
    if not isinstance(expectation, AnswerCheck):
        return
    tests = expectation.tests
    if len(tests) != 1 or not _TESTS.issuperset(tests) or expectation.code is not None:
        allowed = f"exactly one of {', '.join(sorted(_TESTS))}"
        yield SettingProblem(at=at, text="no single test of one value", allowed=allowed)
    for test in _PATTERNS:
        pattern = getattr(expectation, test)
        wrong = None if pattern is None else pattern_problem(pattern, groups=0)
        if wrong is not None:
            yield SettingProblem(at=(*at, test), text=wrong[0], allowed=wrong[1])


def misses(
    document: JsonValue, holds: Mapping[Pointer, Expectation], ground: str, *, shown: str = ""
) -> Iterator[Violation]:
    """Everything in which a document misses these; their pointers are told after ``shown``."""
    for at, expectation in holds.items():
        for miss in examine(document, at, expectation):
            missing = miss.got is MISSING
            yield Violation(
                ground=ground,
                pointer=f"{shown}{at}",
                expected=miss.expected,
                got=None if miss.got is MISSING else miss.got,
                missing=missing,
            )
