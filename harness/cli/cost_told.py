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
    # a share is over scenarios of alike weight, amounts over all episodes: they differ where trials are uneven
    plain = _plain(gap, figures)
    is_even = _share(plain) == _share(gap.times) and ((plain or 0) < 1) == ((gap.times or 0) < 1)
    costs = f"costs {_share(gap.times)}{'' if is_even else ', scenario for scenario'}"
    amounts = f"{less} an episode against {more}{'' if is_even else ' over all of them'}"
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


def _plain(gap: CostGap, figures: Sequence[ActorFigures]) -> float | None:
    """The second's amount over the first's; None as of ``CostGap.times``, or where one is unknown."""
    first, second = (
        None if costs is None else costs.usd_per_episode
        for costs in (figures[gap.first].costs, figures[gap.second].costs)
    )
    return None if not first or second is None else float(second / first)


def _share(times: float | None) -> str:
    """What the cheaper one costs of the other's: ``about a third``, ``24 % less``."""
    if not times:
        return "nothing"
    times = max(times, 1 / times)
    if times < _HALF:
        return f"{round(100 * (1 - 1 / times))} % less"
    place = round(times) - 2
    return f"about {_FRACTIONS[place]} as much" if place < len(_FRACTIONS) else "less than a tenth as much"
