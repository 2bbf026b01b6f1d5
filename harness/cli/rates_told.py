"""Rates, costs and names of runs as they are told in text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import count
from string import ascii_uppercase

from harness.cli.output import folded, harmless, table
from harness.qualification.intervals import ends
from harness.schema.counting import percent
from harness.schema.money import told_usd
from harness.schema.qualification import Costs, Figures, Interval, TokenCount

__all__ = [
    "ENDED_EARLY",
    "NOTHING",
    "amount",
    "between",
    "cells",
    "ends",
    "episode_cost",
    "frequent",
    "head_of",
    "letters_by_run",
    "line",
    "pass_cost",
    "tokens_of",
    "told_table",
]

_LABEL = 14
#: So many names are told with how often each came up.
_NAMED = 3
NOTHING = "-"
#: Of a run whose number of trials hung on what came out.
ENDED_EARLY = (
    "trials ended early, once it was known who is better: rates that are told apart so look further apart than they "
    "are, and how far is not told"
)


def _letters() -> Iterator[str]:
    """A, B and so on to Z, then numbers: names of folders are too long for a table."""
    yield from (f"{letter} " for letter in ascii_uppercase)
    yield from (f"{number} " for number in count(len(ascii_uppercase) + 1))


def letters_by_run(runs: Collection[str]) -> dict[str, str]:
    """The letter before the name of each run's actors; none where there is only one run."""
    return dict(zip(runs, _letters(), strict=False)) if len(runs) > 1 else dict.fromkeys(runs, "")


def head_of(one: Figures) -> tuple[str, ...]:
    """What stands above ``cells``."""
    return ("passed", "between", "enough", f"all of {one.in_a_row[-1].k}", "left out")


def cells(one: Figures) -> tuple[str, ...]:
    """One row about a rate: passed, between what, enough or not, all in a row, left out."""
    rate, row = one.judged, one.in_a_row[-1]
    left_out = sum(one.not_judged.values())
    return (
        f"{rate.passes}/{rate.n}",
        between(rate.wilson),
        "yes" if rate.is_enough else "no",
        NOTHING if row.pass_hat_k is None else percent(row.pass_hat_k),
        str(left_out) if left_out else NOTHING,
    )


def between(interval: Interval | None) -> str:
    """``59-99 %``."""
    return NOTHING if interval is None else "-".join(map(str, ends(interval))) + " %"


def frequent(counts: Mapping[str, int]) -> str:
    """``wrong_answer 4, silent 1``, the most frequent first, as they are given; of many how many more there are."""
    named = list(counts.items())
    more = len(named) - _NAMED
    told = ", ".join(f"{harmless(name)} {times}" for name, times in named[:_NAMED])
    return f"{told} and {more} more" if more > 0 else told


def told_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Without the columns that say nothing."""
    kept = [place for place in range(len(head)) if any(row[place] != NOTHING for row in rows)]
    return table([head[place] for place in kept], [[row[place] for place in kept] for row in rows])


def amount(costs: Costs | None, usd: Decimal | None) -> str:
    """US dollars, with ``>=`` where the cost of some calls is unknown."""
    if costs is None or usd is None:
        return NOTHING
    return told_usd(usd, at_least=costs.is_lower_bound)


def tokens_of(count: TokenCount) -> str:
    """Whole tokens of an episode, rounded down where it is known that there were more."""
    if count.per_episode is None:
        return NOTHING
    return f">= {int(count.per_episode):,}" if count.untold else f"{round(count.per_episode):,}"


def episode_cost(costs: Costs | None) -> str:
    """What one episode costs, as ``amount`` tells it."""
    return amount(costs, None if costs is None else costs.usd_per_episode)


def pass_cost(costs: Costs | None) -> str:
    """What one pass costs, as ``amount`` tells it."""
    return amount(costs, None if costs is None else costs.usd_per_pass)


def line(label: str, said: str) -> str:
    """A sentence with its label before it, folded under itself."""
    indent = " " * _LABEL
    return f"  {label:<{_LABEL - 2}}" + folded(said, indent).removeprefix(indent)
