"""Whether a rate reaches what is wanted of it, and with how many trials that could be told."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from statistics import NormalDist

from harness.qualification.difference import difference
from harness.qualification.intervals import clopper_pearson
from harness.qualification.permutation import Stratum, permutation_test
from harness.schema.qualification import Interval

__all__ = [
    "NOTHING",
    "chance_of_drop",
    "chance_of_fewer",
    "chance_of_more",
    "chance_within",
    "rate_between",
    "trials_to_tell",
]

#: Beyond so many standard errors an interval is not computed: fewer than 1 of 1,000,000,000.
_FURTHEST = 6.0
#: Halvings of that: to a millionth of a standard error.
_STEPS = 24
#: A difference is a sum of shares: what floating point adds to one is no loss.
NOTHING = 1e-9


def chance_of_more(passes: int, n: int, rate: float) -> float:
    """How likely ``passes`` or more of ``n`` trials are where ``rate``, in (0, 1), of them pass: exact (binomial).

    Over scenarios of different difficulty it is the mean rate, and the true chance is smaller (Hoeffding 1956).
    """
    from scipy.special import betainc  # noqa: PLC0415  (half a second, and only whoever decides waits)

    return 1.0 if passes <= 0 else float(betainc(passes, n - passes + 1, rate))


def chance_of_fewer(passes: int, n: int, rate: float) -> float:
    """How likely ``passes`` or fewer of ``n`` trials are where ``rate``, in (0, 1), of them pass: exact (binomial)."""
    return chance_of_more(n - passes, n, 1 - rate)


def rate_between(passes: int, n: int, low: float, high: float) -> Interval | None:
    """One-sided exact ends at the levels ``low`` and ``high``, each in (0, 1/2); None without a trial."""
    if n == 0:
        return None
    return Interval(
        low=clopper_pearson(passes, n, confidence=1 - 2 * low).low,
        high=clopper_pearson(passes, n, confidence=1 - 2 * high).high,
    )


def chance_within(strata: Sequence[Stratum], margin: float) -> float:
    """The smallest level, one-sided, at which the interval of the difference excludes a drop beyond ``margin``.

    The first model of each stratum is the baseline. 1.0 where the difference itself is no smaller, or unknown.
    """
    found = difference(strata)
    if found is None or found.effect <= -margin:
        return 1.0
    normal = NormalDist()

    def excludes(z: float) -> bool:
        # an interval that is as wide as nothing at all is no interval
        one = difference(strata, confidence=2 * normal.cdf(z) - 1)
        return one is not None and one.low > -margin

    near, far = 1e-6, _FURTHEST
    if excludes(far):
        return 1 - normal.cdf(far)
    for _ in range(_STEPS):
        middle = (near + far) / 2
        near, far = (middle, far) if excludes(middle) else (near, middle)
    return 1 - normal.cdf(near)


def chance_of_drop(strata: Sequence[Stratum], margin: float) -> float:
    """How likely so many fewer passes are where both models are equal; 1.0 where no more than ``margin`` is lost."""
    found = difference(strata)
    return 1.0 if found is None or found.effect >= -margin - NOTHING else permutation_test(strata, "less")


def trials_to_tell(passes: int, n: int, rate: float, level: float, *, power: float, most: int) -> int | None:
    """Trials in all, more than ``n`` and up to ``most``, that tell a rate like this one from the wanted ``rate``.

    They do so as often as ``power`` says, at the one-sided ``level``; what was played counts as if not yet known. None
    where ``most`` do not suffice, or this is the very rate that is wanted.
    """
    if n and passes / n < rate:
        passes, rate = n - passes, 1 - rate
    seen = passes / n if n else 1.0
    if seen <= rate or not _tells(most, seen, rate, level, power):
        return None
    # passes are whole, so power does not rise with each trial: what is found tells, though fewer may too
    low, high = n, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _tells(middle, seen, rate, level, power) else (middle, high)
    return high


def _tells(n: int, seen: float, rate: float, level: float, power: float) -> bool:
    """Whether ``n`` trials of which the share ``seen`` passes lie above ``rate`` as often as ``power`` says."""
    if chance_of_more(n, n, rate) > level:
        return False
    fewest = bisect_left(range(n), True, lo=1, key=lambda passes: chance_of_more(passes, n, rate) <= level)
    return seen == 1.0 or chance_of_more(fewest, n, seen) >= power
