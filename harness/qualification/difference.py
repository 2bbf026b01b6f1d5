"""How far two rates are apart: an effect, and between what and what it lies."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, fsum, sqrt
from statistics import NormalDist

from harness.qualification.intervals import CONFIDENCE, wilson
from harness.qualification.permutation import Stratum
from harness.schema.qualification import Difference

__all__ = ["difference", "mcnemar"]


def difference(strata: Sequence[Stratum], *, confidence: float = CONFIDENCE) -> Difference | None:
    """The rate of the second model less that of the first, over scenarios; None where none was played by both.

    Scenarios weigh by n1 n2 / (n1 + n2) (Mantel and Haenszel), which is evenly where all have as many trials: so its
    sign is that of what the permutation test looks at. The interval is Newcombe's of two independent rates, made from
    Wilson's limits, over strata (Yan and Su 2010); with one scenario it is Newcombe's hybrid (1998).
    """
    both = [stratum for stratum in strata if stratum.first_n and stratum.second_n]
    if not both:
        return None
    weights = [one.first_n * one.second_n / (one.first_n + one.second_n) for one in both]
    shares = [weight / fsum(weights) for weight in weights]
    first = [one.first_passes / one.first_n for one in both]
    second = [one.second_passes / one.second_n for one in both]
    effect = fsum(share * (b - a) for share, a, b in zip(shares, first, second, strict=True))
    a_low, a_high = _limits([(one.first_passes, one.first_n) for one in both], shares, confidence)
    b_low, b_high = _limits([(one.second_passes, one.second_n) for one in both], shares, confidence)
    a, b = (fsum(share * rate for share, rate in zip(shares, rates, strict=True)) for rates in (first, second))
    down, up = sqrt((b - b_low) ** 2 + (a_high - a) ** 2), sqrt((b_high - b) ** 2 + (a - a_low) ** 2)
    return Difference(effect=effect, low=max(-1.0, effect - down), high=min(1.0, effect + up), scenarios=len(both))


def _limits(counts: Sequence[tuple[int, int]], shares: Sequence[float], confidence: float) -> tuple[float, float]:
    """Of one model's weighted rate, from Wilson's limits of each scenario.

    Their z is as much smaller as the widths of independent rates add up to less than their sum.
    """
    whole = [wilson(passes, n, confidence=confidence) for passes, n in counts]
    widths = [share * (one.high - one.low) for share, one in zip(shares, whole, strict=True)]
    narrower = sqrt(fsum(width * width for width in widths)) / fsum(widths)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    own = 2 * NormalDist().cdf(z * narrower) - 1
    limits = [wilson(passes, n, confidence=own) for passes, n in counts]
    low = fsum(share * limit.low for share, limit in zip(shares, limits, strict=True))
    return low, fsum(share * limit.high for share, limit in zip(shares, limits, strict=True))


def mcnemar(lost: int, won: int, *, mid_p: bool = False) -> float:
    """Of pairs in which one passed and the other did not, so many ``lost`` and ``won``: McNemar's exact test.

    min(1, 2 BinomCDF(min(b, c); b + c, 1/2)); ``mid_p`` takes BinomPMF(min(b, c)) off. In [0, 1]; 1.0 without such a
    pair. With one trial each the permutation test is the same without ``mid_p``. Raises ValueError for counts below 0.
    """
    if min(lost, won) < 0:
        raise ValueError(f"{lost} and {won}: there are no such counts")
    pairs, fewer = lost + won, min(lost, won)
    tail = sum(comb(pairs, k) for k in range(fewer + 1))
    return min(1.0, (2 * tail - (comb(pairs, fewer) if mid_p else 0)) / (1 << pairs))
