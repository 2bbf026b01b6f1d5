"""What the number says that a command ends with."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

__all__ = ["BY_VERDICT", "PRECEDENCE", "ExitCode", "gravest"]


class ExitCode(IntEnum):
    """Every exit code of every command; a nightly job can act on the number alone."""

    PASSED = 0
    FAILED = 1
    NOT_JUDGED = 2
    PENDING = 3
    BAD_INPUT = 4
    NOTHING_SELECTED = 5
    DRIFT = 6
    NOT_ENOUGH_EVIDENCE = 7
    BUG = 70
    INTERRUPTED = 130


#: Where several apply, the first of these is given.
PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.BUG,
    ExitCode.BAD_INPUT,
    ExitCode.NOTHING_SELECTED,
    ExitCode.DRIFT,
    ExitCode.FAILED,
    ExitCode.NOT_JUDGED,
    ExitCode.NOT_ENOUGH_EVIDENCE,
    ExitCode.PENDING,
    ExitCode.PASSED,
)

#: The code that one verdict stands for.
BY_VERDICT = {
    "pass": ExitCode.PASSED,
    "fail": ExitCode.FAILED,
    "not_judged": ExitCode.NOT_JUDGED,
    "pending": ExitCode.PENDING,
}


def gravest(codes: Iterable[ExitCode]) -> ExitCode:
    """The code of highest precedence; ``PASSED`` where there is none."""
    return min(codes, key=PRECEDENCE.index, default=ExitCode.PASSED)
