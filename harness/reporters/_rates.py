"""How often each actor passed each scenario, with what that says of it: the first thing that a page shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from harness.qualification import wilson
from harness.qualification.intervals import ends
from harness.reporters._rows import VERDICT_WORDS, Episode
from harness.schema.counting import counted, percent
from harness.schema.money import MICRO
from harness.schema.paid import paid
from harness.schema.qualification import Interval

__all__ = ["Failure", "Point", "Rate", "RateRow", "Rates", "cut", "failures", "points", "rates", "worst_first"]

#: With more actors than this, each pair of scenario and actor has a row of its own.
_COLUMNS: Final = 8
#: Codes that are told one by one.
_CODES: Final = 12


@dataclass(frozen=True, slots=True)
class Rate:
    """``passes`` of ``n`` judged trials, and how many more there are of which nothing is known; an interval from n = 1.

    ``verdict`` and ``word`` are those of the only trial; empty where there are more. ``scenario``, ``actor`` and
    ``plane`` say whose; empty for all of them. ``aside``: in quarantine, and not held against the run.
    """

    scenario: str
    actor: str
    plane: str
    passes: int
    n: int
    others: int
    verdict: str = ""
    word: str = ""
    aside: bool = False

    @property
    def share(self) -> float:
        """Percent of the judged ones that passed; ``n`` is at least 1."""
        return 100 * self.passes / self.n

    @property
    def percent(self) -> str:
        """The same rounded; only all is 100 %, and only none is 0 %."""
        return percent(self.passes / self.n)

    @property
    def interval(self) -> Interval:
        """Between what and what the true rate lies, of 100 such intervals in 95."""
        return wilson(self.passes, self.n)

    @property
    def spoken(self) -> str:
        """The same for whoever does not see the drawing."""
        return "likely between {} % and {} %".format(*ends(self.interval)) if self.n else ""


@dataclass(frozen=True, slots=True)
class RateRow:
    """A scenario, or all of them together, by actor; None where the actor did not play it."""

    name: str
    cells: tuple[Rate | None, ...]

    @property
    def least(self) -> float:
        """The lowest share of its cells, percent; 0 where nothing was judged."""
        return min((cell.share for cell in self.cells if cell is not None and cell.n), default=0.0)


@dataclass(frozen=True, slots=True)
class Rates:
    """The matrix; ``total`` is over all scenarios, None where there is nothing to sum up.

    ``crossed``: columns are actors. Else there is one column, and rows name their actor. ``rest`` sums up those rows
    that are left out, None where none is.
    """

    columns: tuple[str, ...]
    rows: tuple[RateRow, ...]
    total: RateRow | None
    crossed: bool
    rest: RateRow | None = None

    @property
    def shown(self) -> bool:
        """Whether they say more than a list of episodes: one actor once tells no rate, and nothing to compare."""
        repeated = any(cell is not None and not cell.word for row in self.rows for cell in row.cells)
        return repeated or len(self.columns) > 1


def worst_first(rows: Sequence[RateRow]) -> list[RateRow]:
    """Those that passed the least first, then as they were."""
    return sorted(rows, key=lambda row: row.least)


def cut(found: Rates, kept: Sequence[RateRow]) -> Rates:
    """With these rows, and all others in one."""
    there = set(map(id, kept))
    others = [row for row in found.rows if id(row) not in there]
    what = "scenario" if found.crossed else "row"
    cells = tuple(_sum(row.cells[at] for row in others) for at in range(len(found.columns)))
    return replace(found, rows=tuple(kept), rest=RateRow(counted(len(others), f"other {what}"), cells))


@dataclass(frozen=True, slots=True)
class Point:
    """A live actor in the plot of cost and quality; dollars for one episode, ``at_least`` where some are unknown."""

    name: str
    rate: Rate
    usd: Decimal
    at_least: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure code, how many judged trials ended with it, and whose: actors by frequency."""

    code: str
    times: int
    share: float
    actors: tuple[tuple[str, int], ...]


def rates(rows: Sequence[Episode]) -> Rates:
    """Of several attempts at an episode the last one counts; what was not judged is in no rate, and told beside it."""
    cells: dict[str, dict[str, list[Episode]]] = {}
    for row in rows:
        if not row.followed:
            cells.setdefault(row.receipt.scenario, {}).setdefault(row.who, []).append(row)
    columns = tuple(dict.fromkeys(who for by_actor in cells.values() for who in by_actor))
    if len(columns) > _COLUMNS:
        flat = tuple(
            RateRow(f"{name}, {who}", (_rate(name, some),))
            for name, by_actor in cells.items()
            for who, some in by_actor.items()
        )
        return Rates(("all",), flat, None, crossed=False)
    crossed = tuple(
        RateRow(name, tuple(_rate(name, by_actor[who]) if who in by_actor else None for who in columns))
        for name, by_actor in cells.items()
    )
    total = RateRow("all scenarios", tuple(_sum(row.cells[at] for row in crossed) for at in range(len(columns))))
    return Rates(columns, crossed, total if len(crossed) > 1 else None, crossed=True)


def _rate(scenario: str, rows: Sequence[Episode]) -> Rate:
    found = Counter(row.receipt.verdict for row in rows)
    passes, n = found["pass"], found["pass"] + found["fail"]
    actor, plane = rows[0].receipt.actor.ref, rows[0].plane
    aside = bool(scenario) and rows[0].quarantine is not None
    if len(rows) > 1:
        return Rate(scenario, actor, plane, passes, n, len(rows) - n, aside=aside)
    return Rate(scenario, actor, plane, passes, n, 1 - n, rows[0].receipt.verdict, rows[0].word, aside)


def _sum(cells: Iterable[Rate | None]) -> Rate | None:
    """Of one actor; None where it played none of them."""
    there = [cell for cell in cells if cell is not None]
    if not there:
        return None
    return Rate(
        "",
        there[0].actor,
        there[0].plane,
        sum(cell.passes for cell in there),
        sum(cell.n for cell in there),
        sum(cell.others for cell in there),
    )


def points(rows: Sequence[Episode]) -> tuple[Point, ...]:
    """Live actors of which a cost is known, in plan order; all attempts are paid for, the last one is the trial."""
    by_actor: defaultdict[str, list[Episode]] = defaultdict(list)
    for row in rows:
        if row.receipt.actor.kind == "live":
            by_actor[row.who].append(row)
    found = (_point(who, some) for who, some in by_actor.items())
    return tuple(point for point in found if point is not None)


def _point(who: str, rows: Sequence[Episode]) -> Point | None:
    rate = _rate("", [row for row in rows if not row.followed])
    of_all = paid(row.log for row in rows if row.log is not None)
    if not of_all.is_known or not rate.n:
        return None
    return Point(who, rate, of_all.micro_usd / MICRO / (rate.n + rate.others), of_all.at_least)


def failures(rows: Sequence[Episode]) -> tuple[tuple[Failure, ...], int]:
    """Codes of failed trials by frequency, and how many codes more there are than are told."""
    by_code: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.receipt.verdict == "fail" and not row.followed:
            by_code[row.receipt.failure_code or VERDICT_WORDS["fail"]][row.who] += 1
    found = sorted(
        ((code, by_actor.total(), by_actor) for code, by_actor in by_code.items()), key=lambda one: (-one[1], one[0])
    )
    most = found[0][1] if found else 1
    told = tuple(
        Failure(code, times, round(100 * times / most, 2), tuple(by_actor.most_common()))
        for code, times, by_actor in found[:_CODES]
    )
    return told, len(found) - len(told)
