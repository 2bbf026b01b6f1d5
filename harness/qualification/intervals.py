"""Between what and what a rate lies, where few trials say so."""

from __future__ import annotations

from math import ceil, floor, sqrt
from statistics import NormalDist

from harness.schema.qualification import Interval

__all__ = ["CONFIDENCE", "clopper_pearson", "ends", "wilson"]

#: How often, of all times that an interval is told, the true rate lies in it.
CONFIDENCE = 0.95


def wilson(passes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval: on average as often right as it says.

    ``passes`` of ``n`` trials, ``n`` from 1; ``confidence`` between 0 and 1. Raises ValueError.
    """
    _demand(passes, n, confidence)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate, square = passes / n, z * z / n
    middle = (rate + square / 2) / (1 + square)
    half = z * sqrt(rate * (1 - rate) / n + square / (4 * n)) / (1 + square)
    # at the ends the formula is exact and its floating point is not
    return Interval(
        low=0.0 if passes == 0 else max(0.0, middle - half), high=1.0 if passes == n else min(1.0, middle + half)
    )


def clopper_pearson(passes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval: never less often right than it says, and wider for that.

    ``passes`` of ``n`` trials, ``n`` from 1; ``confidence`` between 0 and 1. Raises ValueError.
    """
    from scipy.special import betaincinv  # noqa: PLC0415  (half a second, and only whoever asks for it waits)

    _demand(passes, n, confidence)
    outside = (1 - confidence) / 2
    low = 0.0 if passes == 0 else float(betaincinv(passes, n - passes + 1, outside))
    high = 1.0 if passes == n else float(betaincinv(passes + 1, n - passes, 1 - outside))
    return Interval(low=low, high=high)


def ends(interval: Interval) -> tuple[int, int]:
    """Whole hundredths that hold the interval: 100 is the lower only where that is 1, 0 the upper only where that is 0.

    What floating point adds to a whole number is no hundredth more.
    """
    low, high = floor(round(100 * interval.low, 9)), ceil(round(100 * interval.high, 9))
    return min(low, 99 if interval.low < 1 else 100), max(high, 1 if interval.high > 0 else 0)


def _demand(passes: int, n: int, confidence: float) -> None:
    if not 0 <= passes <= n or n < 1:
        raise ValueError(f"{passes} passes of {n} trials: there is no such rate")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence}: must lie between 0 and 1")
