"""How many calls of a provider may be out at once: fewer at once after a refusal, more by and by after answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

__all__ = ["Window"]


@dataclass(frozen=True, slots=True)
class Window:
    """Additive increase, multiplicative decrease, as networks share a line.

    ``size`` stays between 1 and ``ceiling`` (1 or more). ``refusals`` counts the times that it was halved: calls that
    began before the last of them learn nothing new of the provider when they are refused too.
    """

    ceiling: int
    size: float
    refusals: int = 0

    @classmethod
    def whole(cls, ceiling: int) -> Self:
        """Nothing was refused yet."""
        return cls(ceiling, float(ceiling))

    @property
    def at_once(self) -> int:
        """How many may be out."""
        return int(self.size)

    def refused(self, begun: int, out: int) -> Self:
        """After a refusal of a call that began after ``begun`` refusals, while ``out`` calls were out, it included."""
        if begun < self.refusals:
            return self
        return replace(self, size=max(1.0, min(self.size, float(out)) / 2), refusals=self.refusals + 1)

    def answered(self) -> Self:
        """After an answer: a whole window of them makes it one wider."""
        return replace(self, size=min(float(self.ceiling), self.size + 1 / self.size))

    def told(self, left: int) -> Self:
        """After a provider said how many more calls it takes for now, 0 or more."""
        return replace(self, size=min(self.size, float(max(1, left))))
