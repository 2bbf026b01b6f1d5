"""Partial orders: which calls come before which others, and which never in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from harness.schema.base import Frozen
from harness.schema.classifier import CallEvidence, Evidence, SettingProblem, Violation
from harness.schema.judging import Classifier
from harness.schema.name import KindName
from harness.schema.scenario import Scenario

__all__ = ["CLASSIFIER", "Order"]

_Pair = Annotated[tuple[KindName, KindName], Field(strict=False)]


class _Between(Frozen):
    """No call of kind ``never`` stands between any call of kind ``after`` and the next one of kind ``before``."""

    never: KindName
    after: KindName
    before: KindName


class _Needed(Frozen):
    """Between a call of kind ``before`` and the last call of kind ``after`` ahead of it stands one of kind ``some``.

    What was learned before ``after`` is old; without a call of kind ``after`` nothing is asked.
    """

    some: tuple[KindName, ...] = Field(min_length=1, max_length=16)
    after: KindName
    before: KindName


class Order(Classifier):
    """Orders of kinds, of calls that ran and ended well; with ``attempted`` of all calls, whatever became of them.

    ``before``: pairs. A call of the second kind needs one of the first kind before it. Kinds in no pair come at any
    time, and so do two that are in no chain of pairs. ``never_between``: none of a kind between two others;
    ``some_between``: one of some kinds between two others.
    """

    grounds: ClassVar[tuple[str, ...]] = ("before", "between", "missing")

    before: tuple[_Pair, ...] = Field(default=(), max_length=64)
    never_between: tuple[_Between, ...] = Field(default=(), max_length=64)
    some_between: tuple[_Needed, ...] = Field(default=(), max_length=64)
    attempted: bool = False

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        """Kinds that there are not, an order that nothing can keep, and no order at all."""
        return tuple(self._problems(scenario))

    def phrases(self) -> Sequence[str]:
        """The orders in words."""
        pairs = [_pair(*pair) for pair in self.before]
        return (*pairs, *map(_between, self.never_between), *map(_needed, self.some_between))

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """Calls that came too early, then calls that stand where none may, then those that lack one before them."""
        calls = [call for call in evidence.calls if self.attempted or call.became == "executed"]
        early = (found for pair in self.before for found in _early(calls, *pair))
        inside = (found for one in self.never_between for found in _inside(calls, one))
        return (*early, *inside, *(found for one in self.some_between for found in _lacking(calls, one)))

    def _idle(self) -> Iterator[SettingProblem]:
        """Orders that nobody can break, or nobody can keep."""
        for index, one in enumerate(self.never_between):
            if one.never == one.before:
                text = f"{one.never!r} is what it ends with, and never in between"
                yield SettingProblem(
                    at=("never_between", index, "never"), text=text, allowed="another kind than before"
                )
        for index, need in enumerate(self.some_between):
            for place, kind in enumerate(need.some):
                if kind == need.after:
                    text = f"{kind!r} is what it begins with, and never in between"
                    at = ("some_between", index, "some", place)
                    yield SettingProblem(at=at, text=text, allowed="other kinds than after")

    def _problems(self, scenario: Scenario) -> Iterator[SettingProblem]:
        kinds = [kind.name for kind in scenario.kind]
        named: list[tuple[tuple[str | int, ...], str]] = []
        for index, pair in enumerate(self.before):
            named += [(("before", index, place), kind) for place, kind in enumerate(pair)]
        for index, one in enumerate(self.never_between):
            named += [(("never_between", index, key), getattr(one, key)) for key in ("never", "after", "before")]
        for index, need in enumerate(self.some_between):
            named += [(("some_between", index, "some", place), kind) for place, kind in enumerate(need.some)]
            named += [(("some_between", index, key), getattr(need, key)) for key in ("after", "before")]
        yield from self._idle()
        for at, kind in named:
            if kind not in kinds:
                yield SettingProblem(at=at, text=f"there is no kind {kind!r}", allowed=", ".join(kinds))
        if not named:
            yield SettingProblem(at=(), text="no order is asked for", allowed="before, never_between, some_between")
        for index, (first, second) in enumerate(self.before):
            if _leads(self.before, second, first):
                text = f"{first!r} would have to come before itself"
                yield SettingProblem(at=("before", index), text=text, allowed="pairs that lead in no circle")


def _leads(pairs: Sequence[_Pair], start: str, end: str) -> bool:
    reached, waiting = {start}, [start]
    while waiting:
        kind = waiting.pop()
        following = {second for first, second in pairs if first == kind} - reached
        reached |= following
        waiting += following
    return end in reached


def _early(calls: Sequence[CallEvidence], first: str, second: str) -> Iterator[Violation]:
    """Calls of the second kind before the first of the first kind; with the one that came too late, if any did."""
    start = next((call.step for call in calls if call.kind == first), None)
    for call in calls:
        if call.kind == second and (start is None or call.step < start):
            late = () if start is None else (start,)
            yield Violation(ground="before", steps=(call.step, *late), expected=_pair(first, second))


def _inside(calls: Sequence[CallEvidence], rule: _Between) -> Iterator[Violation]:
    opened: int | None = None
    inside: list[int] = []
    for call in calls:
        if call.kind == rule.before and opened is not None:
            for step in inside:
                yield Violation(ground="between", steps=(step, opened, call.step), expected=_between(rule))
            opened, inside = None, []
        elif call.kind == rule.never and opened is not None:
            inside.append(call.step)
        if call.kind == rule.after and opened is None:
            opened = call.step


def _lacking(calls: Sequence[CallEvidence], rule: _Needed) -> Iterator[Violation]:
    opened: int | None = None
    for call in calls:
        if call.kind == rule.before and opened is not None:
            yield Violation(ground="missing", steps=(call.step, opened), expected=_needed(rule))
        if call.kind in rule.some:
            opened = None
        if call.kind == rule.after:
            opened = call.step


def _pair(first: str, second: str) -> str:
    return f"{first} before {second}"


def _between(rule: _Between) -> str:
    return f"no {rule.never} between {rule.after} and {rule.before}"


def _needed(rule: _Needed) -> str:
    return f"{' or '.join(rule.some)} between {rule.after} and {rule.before}"


CLASSIFIER = Order
