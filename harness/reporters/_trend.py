"""How rates went from run to run: a small drawing for each actor, and what changed since the run before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from harness.schema.trend import Moved, Trend, TrendPoint

__all__ = ["Line", "lines"]

WIDTH: Final = 320.0
HEIGHT: Final = 56.0
_EDGE: Final = 5.0
_MOVED: Final[dict[Moved, str]] = {
    "selection": "other scenarios were played",
    "scenario": "a scenario was changed",
    "actor": "the actor's settings or script were changed",
    "model": "another model answered",
    "fingerprint": "the model's fingerprint is another one",
    "plane": "another version of the control plane",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One actor. Lengths are pixels: ``band`` are the points around all intervals, ``path`` joins the rates.

    ``marks`` are where something else than chance may have moved the rate. ``now`` and ``before`` are the last two
    rates in words, ``since`` what moved between them, ``spoken`` all rates for whoever does not see the drawing.
    """

    name: str
    band: str
    path: str
    dots: tuple[tuple[float, float], ...]
    marks: tuple[float, ...]
    now: str
    before: str
    since: str
    spoken: str


def lines(trends: Sequence[Trend], live: Collection[str]) -> tuple[Line, ...]:
    """All on one scale, from the lowest interval to 100 percent; runs without a judged trial have no point.

    Of actors that are not ``live`` those are left out that always passed: that is what they are for.
    """
    told = [trend for trend in trends if trend.actor in live or any(one.passes < one.n for one in trend.points)]
    drawn = [(trend, [one for one in trend.points if one.interval is not None]) for trend in told]
    lows = [one.interval.low for _, points in drawn for one in points if one.interval is not None]
    floor = min([*lows, 0.9])
    return tuple(_line(trend, points, floor) for trend, points in drawn if points and len(trend.points) > 1)


def _line(trend: Trend, points: Sequence[TrendPoint], floor: float) -> Line:
    place = {one.run: at for at, one in enumerate(trend.points)}
    step = (WIDTH - 2 * _EDGE) / (len(trend.points) - 1)

    def x_of(point: TrendPoint) -> float:
        return round(_EDGE + place[point.run] * step, 1)

    def y_of(share: float) -> float:
        return round(HEIGHT - _EDGE - (share - floor) / (1 - floor) * (HEIGHT - 2 * _EDGE), 1)

    intervals = [(x_of(one), one.interval) for one in points if one.interval is not None]
    upper = [(x, y_of(interval.high)) for x, interval in intervals]
    lower = [(x, y_of(interval.low)) for x, interval in reversed(intervals)]
    dots = tuple((x_of(one), y_of(one.passes / one.n)) for one in points)
    last, before = trend.points[-1], trend.points[-2]
    return Line(
        name=", ".join(filter(None, (trend.actor, trend.plane))),
        band=_pairs([*upper, *lower]),
        path=_pairs(dots),
        dots=dots,
        marks=tuple(x_of(one) for one in trend.points if one.moved),
        now=_told(last),
        before=_told(before),
        since="; ".join(_MOVED[one] for one in last.moved),
        spoken=", ".join(_told(one) for one in trend.points),
    )


def _pairs(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _told(point: TrendPoint) -> str:
    if not point.n:
        return "not judged"
    return f"{point.passes:,} of {point.n:,}"
