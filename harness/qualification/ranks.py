"""Whether numbers of one run are larger than those of another, where scenarios differ far more than runs do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import erfc, fsum, sqrt
from statistics import median

from harness.schema.changes import Shift

__all__ = ["BEYOND", "TIMES", "rank_test", "shift"]

#: So seldom by chance, of all runs that are alike.
BEYOND = 0.01
#: Medians that are no further apart are not worth a sentence.
TIMES = 1.25

#: Of one scenario the numbers before and now.
Samples = tuple[Sequence[float], Sequence[float]]


def rank_test(strata: Sequence[Samples]) -> float:
    """How likely are ranks within scenarios as uneven as these, without a difference; two-sided, in (0, 1].

    Van Elteren's test: rank sums of Wilcoxon, each with its variance under ties, weighed by 1/(N+1); the normal
    approximation, with the correction for continuity: of few numbers it says rather too much than too little. With one
    number on each side of every scenario it is the sign test. 1.0 where nothing can be told.
    """
    found = [_ranked(before, now) for before, now in strata if before and now]
    variance = fsum(weight * weight * spread for weight, _, spread in found)
    if variance <= 0:
        return 1.0
    # a rank sum goes by ones, the finest of them weighs the least
    half_a_step = min(weight for weight, _, spread in found if spread > 0) / 2
    off = abs(fsum(weight * off for weight, off, _ in found)) - half_a_step
    return erfc(max(0.0, off) / sqrt(variance) / sqrt(2))


def _ranked(before: Sequence[float], now: Sequence[float]) -> tuple[float, float, float]:
    """The weight of a scenario, how far its rank sum is off what chance gives on average, and its variance."""
    whole = sorted([(number, 0) for number in before] + [(number, 1) for number in now])
    total, seen, ties = 0.0, 0, 0
    for _, group in groupby(whole, key=lambda pair: pair[0]):
        sides = [side for _, side in group]
        total += sum(sides) * (seen + (len(sides) + 1) / 2)
        seen += len(sides)
        ties += len(sides) ** 3 - len(sides)
    count = len(before) + len(now)
    spread = len(before) * len(now) / 12 * (count + 1 - ties / (count * (count - 1)))
    return 1 / (count + 1), total - len(now) * (count + 1) / 2, spread


def shift(strata: Sequence[Samples]) -> Shift | None:
    """Medians over all scenarios that have numbers on both sides, and whether they moved; None without such a one."""
    both = [one for one in strata if one[0] and one[1]]
    if not both:
        return None
    before, now = (median([number for one in both for number in one[side]]) for side in (0, 1))
    chance = rank_test(both)
    apart = max(before, now) > TIMES * min(before, now)
    return Shift(before=before, now=now, chance=chance, is_beyond=apart and chance <= BEYOND)
