"""Looking more than once while trials come in, without taking chance for a difference more often than was said.

A group-sequential test whose null distribution is the permutation's: trials that came between two looks are strata of
their own, so what each look adds is independent of what was there, given its passes. The share of alpha that may be
spent by a look follows O'Brien and Fleming as Lan and DeMets (1983) spend it, 2 (1 - Phi(z_{alpha/2} / sqrt(t))) at the
share t of all planned trials: little at first. The bounds follow from the exact distribution of all sums that no
earlier look ended with, so alpha holds whatever the rates are, however many trials were not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Literal

from harness.qualification.permutation import Stratum, null_distribution
from harness.schema.comparison import SequentialCourse
from harness.schema.qualification import Trial

__all__ = ["Look", "course", "looks", "spent"]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found: ``worse`` or ``better`` where the second model differs, and then no other follows.

    ``share`` is that of the planned trials that were looked at, in (0, 1]; ``alpha`` what both sides may have spent.
    """

    share: float
    alpha: float
    found: Literal["worse", "better"] | None


def spent(share: float, alpha: float) -> float:
    """How much of ``alpha`` may be spent by the look at this share of all planned trials, each in (0, 1]."""
    if not 0 < share <= 1 or not 0 < alpha < 1:
        raise ValueError("a share lies in (0, 1], alpha in (0, 1)")
    normal = NormalDist()
    return min(alpha, 2 * (1 - normal.cdf(normal.inv_cdf(1 - alpha / 2) / sqrt(share))))


def looks(stages: Sequence[Sequence[Stratum]], planned: int, *, alpha: float = 0.05) -> list[Look]:
    """What each look found, up to the one that ended the comparison or the last of ``stages``.

    Each stage holds what came since the look before, a stratum a scenario; ``planned`` is the number of stages when
    nothing ends it. ``alpha`` is two-sided, half of it for each side. Raises ValueError where there are more stages
    than planned.
    """
    from numpy import array, convolve, float64, ones, zeros  # noqa: PLC0415  (only whoever compares waits for it)

    if len(stages) > planned or planned < 1:
        raise ValueError(f"{len(stages)} looks of {planned} planned ones")
    found: list[Look] = []
    inside = ones(1, dtype=float64)  # chances of each sum that no look has ended with
    at, gone = 0, [0.0, 0.0]
    for number, stage in enumerate(stages, 1):
        telling = [stratum for stratum in stage if stratum.tells]
        inside = convolve(inside, null_distribution(telling))
        at += sum(stratum.second_passes - stratum.fewest for stratum in telling)
        allowed = spent(number / planned, alpha) / 2
        low = int((gone[0] + inside.cumsum() <= allowed).sum())
        high = int((gone[1] + inside[::-1].cumsum() <= allowed).sum())
        verdict: Literal["worse", "better"] | None = None
        if at < low or at >= len(inside) - high:
            verdict = "worse" if at < low else "better"
        found.append(Look(share=number / planned, alpha=2 * allowed, found=verdict))
        if verdict is not None:
            break
        gone = [gone[0] + float(inside[:low].sum()), gone[1] + float(inside[len(inside) - high :].sum())]
        kept = zeros(len(inside))
        kept[low : len(inside) - high] = inside[low : len(inside) - high]
        inside = array(kept)
    return found


def course(first: Sequence[Trial], second: Sequence[Trial], *, alpha: float) -> SequentialCourse | None:
    """What looking after each trial of all scenarios that both play had come to; None where they share none.

    The number of looks is that of trials that were planned for both. A look waits for all places of its trial: what
    came to a look afterwards would be looked at twice.
    """
    shared = {trial.scenario for trial in first} & {trial.scenario for trial in second}
    sides = [{(one.scenario, one.number): one for one in side if one.scenario in shared} for side in (first, second)]
    if not shared:
        return None
    planned = min(max(number for _, number in side) for side in sides)
    stages = [
        [_pair(sides[0].get((scenario, number)), sides[1].get((scenario, number))) for scenario in sorted(shared)]
        for number in range(1, planned + 1)
    ]
    waiting = {number for side in sides for (_, number), one in side.items() if one.verdict == "not_played"}
    found = looks(stages[: min(waiting, default=planned + 1) - 1], planned, alpha=alpha)
    verdict = found[-1].found if found else None
    spared = sum(number > len(found) for side in sides for _, number in side if number <= planned)
    return SequentialCourse(
        finding=verdict, after=len(found), planned=planned, saved=spared if verdict is not None else 0
    )


def _pair(first: Trial | None, second: Trial | None) -> Stratum:
    verdicts = [None if side is None else side.verdict for side in (first, second)]
    (one, n), (other, m) = ((int(verdict == "pass"), int(verdict in {"pass", "fail"})) for verdict in verdicts)
    return Stratum(one, n, other, m)
