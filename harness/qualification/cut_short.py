"""What may be said of two models whose number of trials hung on what came out."""

from __future__ import annotations

from collections.abc import Sequence

from harness.qualification.difference import difference
from harness.qualification.permutation import Stratum
from harness.qualification.sequential import spent
from harness.schema.comparison import PairFinding, SequentialCourse
from harness.schema.qualification import Difference, Trial
from harness.schema.verdict import JUDGED

__all__ = ["difference_early", "found_early"]

#: The surest that an interval is told; beyond it a look spends nothing.
_SUREST = 1 - 1e-12


def found_early(fixed: PairFinding, course: SequentialCourse) -> PairFinding:
    """What the looks found; a test that takes the number of trials for fixed adds no finding to that."""
    if course.finding is not None:
        return course.finding
    return "undecided" if fixed in {"worse", "better"} else fixed


def difference_early(
    first: Sequence[Trial], second: Sequence[Trial], course: SequentialCourse, *, alpha: float
) -> Difference | None:
    """Over the trials that were looked at; None where none was judged of both.

    The interval misses with the part of ``alpha`` that its own look spends. All looks together miss no more often than
    ``alpha``, so it holds whichever of them was the last.
    """
    if not course.after:
        return None
    own = spent(course.after / course.planned, alpha)
    if course.after > 1:
        own -= spent((course.after - 1) / course.planned, alpha)
    counts: dict[str, list[int]] = {}
    for side, trials in enumerate((first, second)):
        for trial in trials:
            if trial.number <= course.after and trial.verdict in JUDGED:
                count = counts.setdefault(trial.scenario, [0, 0, 0, 0])
                count[2 * side] += trial.verdict == "pass"
                count[2 * side + 1] += 1
    return difference([Stratum(*count) for count in counts.values()], confidence=min(1 - own, _SUREST))
