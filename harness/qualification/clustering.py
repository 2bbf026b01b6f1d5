"""The standard error of a rate where the trials of one scenario resemble each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from harness.schema.qualification import Spread

__all__ = ["clustered_error", "spread"]

#: With fewer scenarios nobody knows how they differ.
_FEWEST = 2


def clustered_error(clusters: Sequence[tuple[int, int]]) -> float:
    """The error of the rate over C ``clusters``, each (passes, trials): 2 or more, each of 1 trial or more.

    sqrt(sum of (passes - rate trials)^2) / all trials (Miller 2024), times the root of C/(C-1), for few clusters make
    it too small. With one trial each it is the plain error of a mean. Raises ValueError.
    """
    if len(clusters) < _FEWEST or any(not 0 <= passes <= n or n < 1 for passes, n in clusters):
        raise ValueError(f"{len(clusters)} clusters: there is no such error")
    total = sum(n for _, n in clusters)
    rate = sum(passes for passes, _ in clusters) / total
    error = sqrt(fsum((passes - rate * n) ** 2 for passes, n in clusters)) / total
    return error * sqrt(len(clusters) / (len(clusters) - 1))


def spread(clusters: Sequence[tuple[int, int]]) -> Spread:
    """That of the scenarios that have a judged trial; ``clusters`` are theirs, each (passes, judged trials)."""
    judged = [cluster for cluster in clusters if cluster[1]]
    if len(judged) < _FEWEST:
        return Spread(standard_error=None, scenarios=len(judged), reason="fewer than two scenarios have a judged trial")
    return Spread(standard_error=clustered_error(judged), scenarios=len(judged))
