"""How many trials tell a difference: before the money is spent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist

__all__ = ["MOST_TRIALS", "drop_found", "trials_needed"]

#: Whoever would need more trials of each scenario is told that the difference is too small to be looked for.
MOST_TRIALS = 10_000


def trials_needed(rates: Sequence[float], detect: float, *, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Trials of each scenario and model with which a drop by ``detect`` is found as often as ``power`` says.

    ``rates`` are those of the first model, one of each scenario, in [0, 1]; the second one's are lower by ``detect``,
    in (0, 1], or 0. ``alpha`` is how often an equal model may be taken for a worse one, one-sided. None where even
    ``MOST_TRIALS`` do not suffice. Raises ValueError.

    The smallest n with S n d / 2 - 1/2 >= z_alpha sqrt(V0) + z_power sqrt(V1). Passes of the second model fall below
    half of both by S n d / 2 (d is the mean drop), less half a pass because passes are whole. V0 is the variance of the
    permutation, on average the sum of E[K (2n - K)] / (4 (2n - 1)) for K passes of both; V1 that of the difference.
    """
    if not rates or not all(0 <= rate <= 1 for rate in rates):
        raise ValueError("rates lie between 0 and 1, and there is at least one")
    if not 0 < detect <= 1 or not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError("what is to be found, alpha and power lie between 0 and 1")
    pairs = [(rate, max(0.0, rate - detect)) for rate in rates]
    if not _suffices(MOST_TRIALS, pairs, alpha, power):
        return None
    return bisect_left(range(MOST_TRIALS), True, lo=1, key=lambda n: _suffices(n, pairs, alpha, power))


def drop_found(rates: Sequence[float], trials: int, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest drop that so many trials of each scenario find as often as ``power`` says, in thousandths of 1.

    ``rates`` and ``alpha`` as of ``trials_needed``. None where even rates of 0 would not be told from these.
    """
    parts = 1000
    for part in range(1, parts + 1):
        if _suffices(trials, [(rate, max(0.0, rate - part / parts)) for rate in rates], alpha, power):
            return part / parts
    return None


def _suffices(n: int, pairs: Sequence[tuple[float, float]], alpha: float, power: float) -> bool:
    if n < 1:
        return False
    shift = fsum(n * (first - second) for first, second in pairs) / 2
    spread = [n * (first * (1 - first) + second * (1 - second)) for first, second in pairs]
    both = [n * (first + second) for first, second in pairs]
    exchanged = fsum(
        (2 * n * passes - passes * passes - variance) / (4 * (2 * n - 1))
        for passes, variance in zip(both, spread, strict=True)
    )
    z = NormalDist().inv_cdf
    return shift - 0.5 >= z(1 - alpha) * sqrt(exchanged) + z(power) * sqrt(fsum(spread) / 4)
