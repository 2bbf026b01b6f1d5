"""Several questions at once: the more are asked, the less one small number says."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NAMED", "benjamini_hochberg", "holm", "holm_levels"]

#: Of all scenarios that are named as different this share may be chance.
NAMED = 0.1


def holm(chances: Sequence[float]) -> list[float]:
    """Corrected so that one false finding among all is as rare as each was (Holm 1979), in the order given.

    adj_i = max over j <= i of min(1, (m - j + 1) p_j), in increasing order of p. Raises ValueError outside [0, 1].
    """
    order = _in_order(chances)
    found, highest = [0.0] * len(order), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * chances[place]))
        found[place] = highest
    return found


def holm_levels(chances: Sequence[float], alpha: float) -> list[float]:
    """What each chance itself is held against, in the order given: at most that level where ``holm`` is at most alpha.

    All after the first that exceeds its level are held against that one too. Raises ValueError outside [0, 1].
    """
    order = _in_order(chances)
    found, reached = [0.0] * len(order), 0
    for place in order:
        found[place] = alpha / (len(order) - reached)
        reached += chances[place] <= found[place]
    return found


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Corrected so that of all findings that share is false (Benjamini and Hochberg 1995), in the order given.

    adj_i = min over j >= i of m/j p_j, in increasing order of p. Raises ValueError outside [0, 1].
    """
    order = _in_order(chances)
    found, lowest = [0.0] * len(order), 1.0
    for rank, place in reversed(list(enumerate(order, 1))):
        lowest = min(lowest, len(order) / rank * chances[place])
        found[place] = lowest
    return found


def _in_order(chances: Sequence[float]) -> list[int]:
    if not all(0 <= chance <= 1 for chance in chances):
        raise ValueError("a chance lies between 0 and 1")
    return sorted(range(len(chances)), key=lambda place: chances[place])
