"""Episodes that are told as one on a terminal: those that ended alike, of very many those of one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from harness.reporters._evidence import code_or_ending, ending
from harness.reporters._rows import Episode, steps_in_short

__all__ = ["Group", "commonest", "grouped", "rolled"]

#: So many codes of episodes that ended differently are named.
_CODES = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Episodes that are told as one; never empty. ``codes`` are those of its endings, the commonest first.

    ``steps`` is empty where they took different ones.
    """

    rows: tuple[Episode, ...]
    codes: tuple[str, ...]
    steps: str

    @classmethod
    def of(cls, rows: tuple[Episode, ...]) -> Self:
        """Of episodes that ended alike."""
        receipt = rows[0].receipt
        codes = () if receipt.verdict == "pass" else (code_or_ending(receipt),)
        return cls(rows, codes, steps_in_short(receipt))

    @property
    def first(self) -> Episode:
        """The one that stands for all."""
        return self.rows[0]

    @property
    def seconds(self) -> float:
        """On average."""
        return sum(row.seconds for row in self.rows) / len(self.rows)


def grouped(rows: Iterable[Episode]) -> list[Group]:
    """Those of one scenario, actor and ending together."""
    found: dict[tuple[str, ...], list[Episode]] = {}
    for row in rows:
        receipt = row.receipt
        sort = (receipt.scenario, row.who, row.word, receipt.failure_code or "", ending(receipt))
        found.setdefault(sort, []).append(row)
    return [Group.of(tuple(found[sort])) for sort in _by_scenario(found)]


def rolled(groups: Iterable[Group]) -> list[Group]:
    """Those of one scenario, actor and verdict together, with the commonest codes of them."""
    found: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        row = group.first
        found.setdefault((row.receipt.scenario, row.who, row.word), []).append(group)
    return [_together(found[sort]) for sort in _by_scenario(found)]


def commonest(groups: Sequence[Group], most: int) -> list[Group]:
    """At most so many: those of the most episodes, in the order that they had."""
    order = sorted(range(len(groups)), key=lambda place: -len(groups[place].rows))[:most]
    return [groups[place] for place in sorted(order)]


def _together(groups: Sequence[Group]) -> Group:
    if len(groups) == 1:
        return groups[0]
    times: Counter[str] = Counter()
    for group in groups:
        times["".join(group.codes)] += len(group.rows)
    named = [f"{count} x {code}" for code, count in times.most_common(_CODES) if code]
    rarer = sum(count for _, count in times.most_common()[_CODES:])
    told = (*named, *([f"{rarer} x others"] if rarer else []))
    steps = {group.steps for group in groups}
    return Group(tuple(row for group in groups for row in group.rows), told, steps.pop() if len(steps) == 1 else "")


def _by_scenario(sorts: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """In the order that scenarios came in, and those of each as they came."""
    sorts = list(sorts)
    place = {scenario: number for number, scenario in enumerate(dict.fromkeys(sort[0] for sort in sorts))}
    return sorted(sorts, key=lambda sort: place[sort[0]])
