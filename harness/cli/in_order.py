"""Receipts on standard output, one a line, in plan order."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.cli.output import say

__all__ = ["InOrder"]


@dataclass(slots=True)
class InOrder:
    """Prints receipts in plan order although episodes finish in another; attempts at one place together."""

    waiting: dict[int, list[str]] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    following: int = 0

    def add(self, index: int, text: str, *, last: bool) -> None:
        """A text of the place ``index``, from 0; after the ``last`` one what is due is printed."""
        self.waiting.setdefault(index, []).append(text)
        if last:
            self.over.add(index)
        while self.following in self.over:
            self._say(self.following)
            self.following += 1

    def rest(self) -> None:
        """Print what still waits for places that nothing came of."""
        for index in sorted(self.waiting):
            self._say(index)

    def _say(self, index: int) -> None:
        for text in self.waiting.pop(index):
            say(text)
