"""How far apart two rates are, as it is told in text."""

from __future__ import annotations

from math import ceil, floor

from harness.schema.counting import counted
from harness.schema.qualification import Difference

__all__ = ["gap", "points", "rarely", "rates_apart"]

_ALL = 100
#: Rates that come so near to the gap are told as it: half a point.
_EVEN = 0.005


def rates_apart(rates: str, plain: float, found: Difference) -> str:
    """Two rates that were told already, the second less the first is ``plain``, and the gap between them.

    A gap is over scenarios that both played, a rate over all trials: where they differ both are told as what they are.
    """
    if abs(plain - found.effect) < _EVEN:
        return f"{rates}, {gap(found)}"
    return f"{rates} over all trials, scenario for scenario {gap(found)}"


def gap(found: Difference) -> str:
    """``13 points fewer (between 4 and 22 fewer)``."""
    said = _apart(found.effect)
    low, high = points(found)
    if low < 0 < high:
        between = f"{-low} fewer and {high} more"
    elif high <= 0:
        between = f"{-high} and {-low} fewer"
    else:
        between = f"{low} and {high} more"
    return f"{said} (between {between})"


def points(found: Difference) -> tuple[int, int]:
    """Both ends in whole points, outwards: the interval is told no narrower than it is."""
    return floor(round(100 * found.low, 9)), ceil(round(100 * found.high, 9))


def _apart(effect: float) -> str:
    """None, and all hundred points, only where it is that."""
    if effect == 0:
        return "no point apart"
    side, whole = "fewer" if effect < 0 else "more", round(100 * abs(effect))
    if whole == 0:
        return f"less than 1 point {side}"
    return f"more than 99 points {side}" if whole == _ALL and abs(effect) < 1 else f"{counted(whole, 'point')} {side}"


def rarely(chance: float) -> str:
    """``1 of 30``, and ``most`` where it is more than every other one: never rarer than it is."""
    if chance <= 1 / 1000:
        return "fewer than 1 of 1,000"
    every = int(1 / chance)
    return "most" if every == 1 else f"1 of {every:,}"
