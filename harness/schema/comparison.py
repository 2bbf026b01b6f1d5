"""Models held against each other: what was found of each pair, and what it rests on."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen
from harness.schema.name import ScenarioId
from harness.schema.qualification import Difference

__all__ = ["Comparison", "Contender", "CostGap", "Pair", "PairFinding", "ScenarioPair", "SequentialCourse"]

#: ``worse`` and ``better``: the second one, by more than chance explains. ``alike``: the interval lies in the margin.
#: ``undecided``: not enough trials. ``open``: it hangs on trials that were not judged. ``apart``: no scenario was
#: judged of both.
PairFinding = Literal["worse", "better", "alike", "undecided", "open", "apart"]


class Contender(Frozen):
    """One actor of one run, by the name that the run was called by."""

    run: str
    actor: str


class ScenarioPair(Frozen):
    """Of one scenario passes and judged trials of both; a hint, never a verdict.

    ``chance`` is that of a gap as wide without a difference, two-sided; ``corrected`` for that all scenarios are looked
    at, so that of all that are named that share is chance (Benjamini and Hochberg).
    """

    scenario: ScenarioId
    first_passes: int
    first_n: int
    second_passes: int
    second_n: int
    chance: float
    corrected: float


class SequentialCourse(Frozen):
    """What looking after each trial of all scenarios had come to.

    ``finding`` is None where no look decided; ``after`` is the trial of each scenario, of ``planned`` ones, at which it
    was decided, else how many were looked at. ``saved`` trials of both were not needed.
    """

    finding: Literal["worse", "better"] | None
    after: int
    planned: int
    saved: int


class Pair(Frozen):
    """Two contenders by their places from 0. The difference is the second's rate less the first's.

    ``chance`` is the permutation's, two-sided; ``corrected`` for all pairs (Holm): it decides. ``as_failures`` is the
    same where what was not judged counts as failed; where both do not say the same, nothing is decided. ``trials`` is
    how many of each scenario would tell a gap as wide as this one, or as the margin where that is wider; None where
    that is out of reach, or it is decided. ``course`` is there where looks in between were asked for.
    """

    first: int
    second: int
    finding: PairFinding
    difference: Difference | None
    chance: float
    corrected: float
    as_failures: float
    trials: int | None
    scenarios: tuple[ScenarioPair, ...]
    course: SequentialCourse | None = None


class CostGap(Frozen):
    """What judged episodes of two contenders cost, by their places from 0; all attempts at them, each call known.

    ``times`` is the second's mean over the first's, over scenarios weighted as rates are; None where the first cost
    nothing. ``chance`` is that of a gap as wide without a difference, ``corrected`` for all pairs that a gap is known
    of. ``cheaper`` is the place of whoever costs less, None where chance explains the gap.
    """

    first: int
    second: int
    times: float | None
    chance: float
    corrected: float
    cheaper: int | None


class Comparison(Frozen):
    """All contenders and all pairs of them.

    ``order`` has the places of contenders from the best on, where each is better than the next one and none is worse
    than one behind it; else None.
    """

    contenders: tuple[Contender, ...]
    pairs: tuple[Pair, ...]
    margin: float
    alpha: float
    order: tuple[int, ...] | None
