"""How often tools and kinds of calls may be used, and have to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from harness.schema.base import Frozen
from harness.schema.classifier import Became, CallEvidence, Evidence, SettingProblem, Violation
from harness.schema.counting import counted
from harness.schema.judging import Classifier
from harness.schema.name import KindName
from harness.schema.scenario import Scenario

__all__ = ["CLASSIFIER", "ToolBudget"]

_Count = Annotated[int, Field(ge=0, le=100_000)]


class _Use(Frozen):
    """Of a ``tool`` or a ``kind``: ``least`` to ``most`` calls that became one of ``counts`` (none given: any call)."""

    tool: str | None = None
    kind: KindName | None = None
    least: _Count = 0
    most: _Count | None = None
    counts: tuple[Became, ...] = ()

    @property
    def subject(self) -> str:
        """What is counted, in words."""
        how = f" {' or '.join(self.counts)}" if self.counts else ""
        return f"of {self.tool or self.kind}{how}"

    def counts_in(self, call: CallEvidence) -> bool:
        """Whether a call is one of these."""
        if self.counts and call.became not in self.counts:
            return False
        return call.tool == self.tool if self.tool is not None else call.kind == self.kind

    @property
    def wanted_least(self) -> str:
        """The lower bound in words."""
        return f"at least {counted(self.least, 'call')} {self.subject}"

    @property
    def wanted_most(self) -> str:
        """The upper bound in words."""
        return f"at most {counted(self.most or 0, 'call')} {self.subject}"


class ToolBudget(Classifier):
    """Bounds on numbers of calls."""

    grounds: ClassVar[tuple[str, ...]] = ("most", "least")

    use: tuple[_Use, ...] = Field(min_length=1, max_length=64)

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        """Tools and kinds that there are not, bounds that exclude each other, and entries without a bound."""
        return [found for index, use in enumerate(self.use) for found in _problems(scenario, use, index)]

    def phrases(self) -> Sequence[str]:
        """The bounds in words."""
        return [text for use in self.use for text in (use.wanted_least, use.wanted_most)]

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """Too many, with the calls, the first one above the bound first; too few, with those that there are."""
        found: list[Violation] = []
        for use in self.use:
            steps = [call.step for call in evidence.calls if use.counts_in(call)]
            if use.most is not None and len(steps) > use.most:
                told = (*steps[use.most :], *steps[: use.most])
                found.append(Violation(ground="most", steps=told, expected=use.wanted_most))
            if len(steps) < use.least:
                found.append(
                    Violation(ground="least", steps=tuple(steps), expected=use.wanted_least, missing=not steps)
                )
        return found


def _problems(scenario: Scenario, use: _Use, index: int) -> Iterator[SettingProblem]:
    kinds = tuple(kind.name for kind in scenario.kind)
    if (use.tool is None) == (use.kind is None):
        yield SettingProblem(
            at=("use", index), text="what is counted is not clear", allowed="tool or kind, one of them"
        )
    if use.tool is not None and use.tool not in scenario.tool:
        text = f"there is no tool {use.tool!r}"
        yield SettingProblem(at=("use", index, "tool"), text=text, allowed=", ".join(scenario.tool))
    if use.kind is not None and use.kind not in kinds:
        text = f"there is no kind {use.kind!r}"
        yield SettingProblem(at=("use", index, "kind"), text=text, allowed=", ".join(kinds))
    if use.most is None and not use.least:
        yield SettingProblem(at=("use", index), text="no bound is given", allowed="least, most or both")
    if use.most is not None and use.most < use.least:
        yield SettingProblem(at=("use", index, "most"), text="fewer than the least", allowed=f"{use.least} or more")


CLASSIFIER = ToolBudget
