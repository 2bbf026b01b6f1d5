"""How far apart two rates are, as it is told in text."""

from __future__ import annotations

from math import ceil

from harness.schema.counting import counted
from harness.schema.qualification import Difference

__all__ = ["gap", "rarely"]

_ALL = 100


def gap(found: Difference) -> str:
    """``13 points fewer (between 4 and 22 fewer)``."""
    said = _apart(found.effect)
    low, high = _outwards(found.low), _outwards(found.high)
    if low < 0 < high:
        between = f"{-low} fewer and {high} more"
    elif high <= 0:
        between = f"{-high} and {-low} fewer"
    else:
        between = f"{low} and {high} more"
    return f"{said} (between {between})"


def _apart(effect: float) -> str:
    """None, and all hundred points, only where it is that."""
    if effect == 0:
        return "no point apart"
    side, points = "fewer" if effect < 0 else "more", round(100 * abs(effect))
    if points == 0:
        return f"less than 1 point {side}"
    return f"more than 99 points {side}" if points == _ALL and abs(effect) < 1 else f"{counted(points, 'point')} {side}"


def _outwards(share: float) -> int:
    """Whole points, away from 0: the interval is told no narrower than it is."""
    points = ceil(round(100 * abs(share), 9))
    return -points if share < 0 else points


def rarely(chance: float) -> str:
    """``1 of 30``: never rarer than it is."""
    if chance <= 1 / 1000:
        return "fewer than 1 of 1,000"
    return f"1 of {int(1 / chance):,}" if chance < 1 else "all"
