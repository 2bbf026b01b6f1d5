"""Where points, whiskers, labels and ticks stand in the plot of cost and quality. Lengths are pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor
from typing import Final

from harness.reporters._rates import Point
from harness.schema.money import told_usd

__all__ = ["Dot", "Plot", "Tick", "plot"]

WIDTH: Final = 1040.0
HEIGHT: Final = 340.0
#: Of the one for a narrow page.
NARROW: Final = 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 20.0, 16.0, 44.0
#: Labels stand at least so far below one another.
_LINE: Final = 16.0
#: What a letter of a label takes, about.
_LETTER: Final = 7.2
#: Beyond this share of the width a label stands left of its point.
_TURNS: Final = 0.62
_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid, where it crosses its axis, and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One actor: its point, its interval from ``low`` to ``high`` (pixels from the top), and its label.

    ``number`` counts from 1, the one that passed most often first; on a narrow page it is the label.
    """

    number: int
    point: Point
    x: float
    y: float
    low: float
    high: float
    label_x: float
    label_y: float
    anchor: str
    dollars: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A box of ``width`` and ``height`` with everything in its place; the frame is where the axes cross."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    dots: tuple[Dot, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def plot(points: Sequence[Point], *, narrow: bool = False) -> Plot | None:
    """Cost of an episode to the right, share of passes upwards; None where there is no point.

    A ``narrow`` one has room for numbers as labels only.
    """
    if not points:
        return None
    width = NARROW if narrow else WIDTH
    left, right, top, bottom = _LEFT, width - _RIGHT, _TOP, HEIGHT - _BOTTOM
    most, costs = _steps(max(point.usd for point in points))
    lowest = min(floor(10 * point.rate.interval.low) * 10 for point in points)
    floor_percent = min(lowest, 90)

    def x_of(usd: Decimal) -> float:
        return round(left + float(usd / most) * (right - left), 1)

    def y_of(percent: float) -> float:
        return round(bottom - (percent - floor_percent) / (100 - floor_percent) * (bottom - top), 1)

    placed: list[tuple[float, float, float]] = []
    dots: list[Dot] = []
    for number, point in enumerate(sorted(points, key=lambda one: (-one.rate.share, one.name)), 1):
        x, y = x_of(point.usd), y_of(point.rate.share)
        dollars = told_usd(point.usd, at_least=point.at_least)
        turned = x > left + (right - left) * _TURNS
        start = x - 12 if turned else x + 12
        reach = _LETTER * len(str(number) if narrow else f"{point.name} {point.rate.percent}, {dollars}")
        from_x, to_x = (start - reach, start) if turned else (start, start + reach)
        label = y + 4
        while any(abs(label - line) < _LINE and from_x < end and begin < to_x for begin, end, line in placed):
            label += 1
        placed.append((from_x, to_x, label))
        interval = point.rate.interval
        dots.append(
            Dot(
                number=number,
                point=point,
                x=x,
                y=y,
                low=y_of(100 * interval.low),
                high=y_of(100 * interval.high),
                label_x=round(start, 1),
                label_y=round(min(label, bottom - 2), 1),
                anchor="end" if turned else "start",
                dollars=dollars,
            )
        )
    step = 10 if floor_percent >= 50 else 20  # noqa: PLR2004  (percent)
    up = tuple(Tick(y_of(percent), f"{percent} %") for percent in range(100, floor_percent - 1, -step))
    across = tuple(Tick(x_of(usd), f"${usd.normalize():f}") for usd in costs[:: 2 if narrow else 1])
    return Plot(width, HEIGHT, left, right, top, bottom, tuple(dots), across, up)


def _steps(most: Decimal) -> tuple[Decimal, tuple[Decimal, ...]]:
    """The end of an axis that holds ``most``, and round amounts along it from 0."""
    if most <= 0:
        return Decimal(1), (Decimal(0),)
    unit = Decimal(1).scaleb(most.adjusted())
    step = next(
        unit * times
        for times in (Decimal("0.2"), Decimal("0.5"), Decimal(1), Decimal(2))
        if most <= unit * times * _TICKS
    )
    end = most * Decimal("1.08")
    ticks: list[Decimal] = []
    at = Decimal(0)
    while at <= end:
        ticks.append(at)
        at += step
    return end, tuple(ticks)
