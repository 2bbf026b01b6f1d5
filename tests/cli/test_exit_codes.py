from __future__ import annotations

import pytest

from harness import errors
from harness.cli.exit_codes import BY_VERDICT, PRECEDENCE, ExitCode, gravest


def test_every_code_has_its_place_in_the_precedence() -> None:
    assert [int(code) for code in PRECEDENCE] == [130, 70, 4, 5, 6, 1, 2, 7, 3, 0]
    assert set(PRECEDENCE) == set(ExitCode)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((), 0),
        ((ExitCode.PASSED, ExitCode.PENDING), 3),
        ((ExitCode.NOT_JUDGED, ExitCode.FAILED), 1),
        ((ExitCode.FAILED, ExitCode.BUG), 70),
        ((ExitCode.BUG, ExitCode.INTERRUPTED), 130),
        ((ExitCode.FAILED, ExitCode.DRIFT), 6),
    ],
)
def test_the_gravest_of_several_is_given(codes: tuple[ExitCode, ...], expected: int) -> None:
    assert gravest(codes) == expected


def test_every_verdict_has_a_code() -> None:
    assert {verdict: int(code) for verdict, code in BY_VERDICT.items()} == {
        "pass": 0,
        "fail": 1,
        "not_judged": 2,
        "pending": 3,
    }


def test_every_error_ends_with_a_code_that_is_documented() -> None:
    raised = [getattr(errors, name) for name in errors.__all__ if name.endswith(("Error", "Problem"))]

    assert {error.exit_code for error in raised} <= set(ExitCode)
