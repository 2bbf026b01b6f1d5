"""What an episode came to, apart from its verdict: facts, changes, what the control plane holds, what was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from harness.schema.base import JsonValue
from harness.schema.name import Fact
from harness.schema.receipt import Receipt
from harness.schema.trace import EpisodeTrace
from harness.suite.differing import first_difference

__all__ = ["Effects"]

#: Path, what happened to it, and by whom.
Change = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Effects:
    """All that an episode leaves behind that can be measured.

    ``state`` is what the control plane holds at the end (None: it cannot tell), ``answer`` the final answer where
    checks of the end look at one. Calls that change nothing, and the order of calls, leave no trace here.
    """

    facts: frozenset[Fact]
    changes: frozenset[Change]
    state: JsonValue
    answer: JsonValue

    @classmethod
    def of(cls, receipt: Receipt, trace: EpisodeTrace) -> Self:
        """Of an episode that was opened."""
        return cls(
            facts=frozenset(receipt.facts),
            changes=frozenset((one.path, one.change, one.by) for one in trace.changes),
            state=trace.state,
            answer=None if trace.ending is None else trace.ending.get("answer"),
        )

    def unlike(self, other: Effects) -> str | None:
        """In what it differs from another's, in words; None where it does not."""
        if self.facts != other.facts:
            return f"the facts are {_listed(self.facts)}, and not {_listed(other.facts)}"
        if self.changes != other.changes:
            changed = sorted({path for path, _, _ in self.changes ^ other.changes})
            return f"other changes of the workspace: {', '.join(changed[:3])}"
        for what, mine, others in (
            ("what the control plane holds", self.state, other.state),
            ("the answer", self.answer, other.answer),
        ):
            at = first_difference(mine, others)
            if at is not None:
                return f"{what} differs at {at or '/'}"
        return None


def _listed(facts: frozenset[Fact]) -> str:
    return ", ".join(sorted(facts)) or "none"
