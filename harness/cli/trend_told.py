"""What ``harness history trend`` tells, in words and small bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.cli.output import folded, harmless
from harness.cli.rates_told import NOTHING, between, told_table
from harness.schema.money import told_usd
from harness.schema.trend import Moved, Trend, TrendPoint

__all__ = ["trends_told"]

#: So many are told run by run; of more each is one line.
_CLOSE: Final = 3
_BARS: Final = "▁▂▃▄▅▆▇█"
#: A run without a judged trial, and a run before which something else than chance may have moved the rate.
_NONE, _CUT = "·", "|"
#: Other models and versions are told by name.
_WORDS: Final[dict[Moved, str]] = {
    "selection": "other scenarios",
    "scenario": "other text of a scenario",
    "actor": "other settings or script",
    "fingerprint": "another build of the model",
}


def trends_told(found: Sequence[Trend]) -> str:
    """A table of runs for each of a few trends, else a table with a row for each; there is at least one."""
    if len(found) > _CLOSE:
        return _lines(found)
    return "\n\n".join("\n".join(_run_by_run(one)) for one in found)


def _named(one: Trend) -> str:
    on = f" on {one.plane}" if one.plane else ""
    return f"{one.scenario or 'all scenarios'}, {one.actor}{on}"


def _run_by_run(one: Trend) -> Iterator[str]:
    yield folded(_named(one))
    yield f"  {_course(one)}"
    rows = [
        (
            point.created_at[:10],
            *_rate(point),
            str(point.not_judged) if point.not_judged else NOTHING,
            _cost(point),
            _time(point),
            f"{point.run}{_moves(point)}",
        )
        for point in one.points
    ]
    head = ("day", "passed", "between", "left out", "cost", "time", "run")
    yield told_table(head, rows)


def _lines(found: Sequence[Trend]) -> str:
    rows = []
    for one in found:
        last = one.points[-1]
        rows.append((_course(one), *_rate(last), _cost(last), _time(last), f"{_named(one)}{_last_move(one)}"))
    return told_table(("course", "passed", "between", "cost", "time", "what"), rows)


def _course(one: Trend) -> str:
    """A bar for each run, the oldest first."""
    letters = []
    for point in one.points:
        letters.append(_CUT if point.moved else "")
        letters.append(_NONE if point.rate is None else _BARS[round(point.rate * (len(_BARS) - 1))])
    return "".join(letters)


def _rate(point: TrendPoint) -> tuple[str, str]:
    return f"{point.passes}/{point.n}", between(point.interval)


def _cost(point: TrendPoint) -> str:
    usd = point.usd_per_episode
    if usd is None:
        return NOTHING
    return told_usd(usd, at_least=point.unknown_calls > 0)


def _time(point: TrendPoint) -> str:
    return NOTHING if point.median_s is None else f"{point.median_s:.2f} s"


def _moves(point: TrendPoint) -> str:
    names = {"model": point.models, "plane": point.planes}
    told = [f"now {', '.join(map(harmless, names[what]))}" if what in names else _WORDS[what] for what in point.moved]
    return f": {'; '.join(told)}" if told else ""


def _last_move(one: Trend) -> str:
    """Of several the latest."""
    point = next((point for point in reversed(one.points) if point.moved), None)
    return "" if point is None else f"; {point.created_at[:10]}{_moves(point)}"
