"""What one model costs less than another, in words."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cli.rates_told import NOTHING, episode_cost, pass_cost
from harness.schema.comparison import CostGap, Pair
from harness.schema.qualification import ActorFigures

__all__ = ["cost_told"]

#: Costs that are no further apart are not worth a sentence.
_TIMES = 1.25
#: From here on shares are told as fractions.
_HALF = 1.75
_FRACTIONS = ("half", "a third", "a quarter", "a fifth", "a sixth", "a seventh", "an eighth", "a ninth", "a tenth")


def cost_told(pair: Pair, gap: CostGap | None, figures: Sequence[ActorFigures], names: Sequence[str]) -> str | None:
    """A sentence about a pair; None where its costs are unknown, or as good as equal."""
    if gap is None or (gap.times is not None and 1 / _TIMES < gap.times < _TIMES):
        return None
    if gap.cheaper is None:
        # chance explains it: as few trials, or costs as uneven
        return None if gap.times is None else "which of them costs less cannot be told: too few trials, or too uneven"
    cheap, dear = (gap.cheaper, gap.first + gap.second - gap.cheaper)
    less, more = (episode_cost(one.costs) for one in (figures[cheap], figures[dear]))
    share = _share(gap)
    costs, amounts = f"costs {share}", f"{less} an episode against {more}"
    better = {"worse": pair.first, "better": pair.second}.get(pair.finding)
    if pair.finding == "alike":
        return f"{names[cheap]} passes as often as {names[dear]} and {costs}: {amounts}"
    if better == cheap:
        return f"{names[cheap]} also {costs}: {amounts}"
    if better == dear:
        each = [pass_cost(one.costs) for one in (figures[cheap], figures[dear])]
        passes = "" if NOTHING in each else f"; a pass comes to {each[0]} and {each[1]}"
        return f"but {names[cheap]} {costs}: {amounts}{passes}"
    return f"whoever passes more often, {names[cheap]} {costs}: {amounts}"


def _share(gap: CostGap) -> str:
    """What the cheaper one costs of the other's: ``about a third``, ``24 % less``."""
    if not gap.times:
        return "nothing"
    times = max(gap.times, 1 / gap.times)
    if times < _HALF:
        return f"{round(100 * (1 - 1 / times))} % less"
    place = round(times) - 2
    return f"about {_FRACTIONS[place]} as much" if place < len(_FRACTIONS) else "less than a tenth as much"
