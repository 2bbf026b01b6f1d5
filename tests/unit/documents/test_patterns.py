"""Patterns of scenario files: RE2's dialect, one group, and never more than linear time."""

from __future__ import annotations

import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.documents.patterns import first_group, pattern_problem

#: Far above what a linear engine takes, far below what a backtracking one does.
PATIENCE_S = 5.0


@pytest.mark.parametrize(
    "pattern",
    [
        r"((?:\w+\s?)+)+ZZZ",
        r"((?:[a-z -]+)+ZZZ)",
        r"((?:a|a)*)*ZZZ",
        r"((?:(?:[a-z]{0,30}){0,30})ZZZ)",
        r"((?:.*.*.*){9}ZZZ)",
    ],
)
def test_a_pattern_that_would_backtrack_for_ever_ends(pattern: str) -> None:
    begun = time.monotonic()
    one = f"(?:{pattern})" if pattern_problem(pattern) is not None else pattern
    assert pattern_problem(one) is not None or first_group(one, "some words - and more " * 3_000) is None
    assert time.monotonic() - begun < PATIENCE_S


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(a", "is no regular expression: missing )"),
        ("(a{1001})", "is no regular expression"),
        ("((?:(?:a{100}){100}){100})", "is no regular expression"),
        (r"(?<=a)(b)", "is no regular expression"),
        (r"(a)\1", "is no regular expression"),
        ("(\ud800)", "is no regular expression"),
        ("a", "a regular expression with 0 groups"),
        ("(a)(b)", "a regular expression with 2 groups"),
        ("(" + "a" * 1_000 + ")", "a regular expression of 1002 characters"),
        ("(?:" * 300 + "(a)", "is no regular expression"),
    ],
)
def test_what_cannot_be_a_pattern_is_told(pattern: str, problem: str) -> None:
    told = pattern_problem(pattern)
    assert told is not None
    assert told[0].startswith(problem)
    assert told[1]


def test_an_odd_pattern_is_used_without_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pattern_problem("([[a])") is None
        assert first_group("([[a])", "b[") == "["
        assert pattern_problem("([[a") is not None
    assert capfd.readouterr() == ("", "")


def test_the_group_of_the_first_match_counts() -> None:
    assert first_group("x(é+)", "xa xéé xé") == "éé"
    assert first_group("(x)?b", "b") is None
    assert first_group("(x)", "b") is None


def test_half_of_a_surrogate_pair_in_the_text_harms_nothing() -> None:
    assert first_group("(b.)", "\ud800ab\udc00") == "b\udc00"


@given(st.text(max_size=40), st.text(max_size=200))
def test_any_text_is_a_pattern_or_refused(pattern: str, text: str) -> None:
    if pattern_problem(pattern) is None:
        found = first_group(pattern, text)
        assert found is None or found in text
