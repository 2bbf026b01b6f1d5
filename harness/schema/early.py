"""A run that ends once it is known which of its actors passes more often, with trials of the plan left."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen

__all__ = ["EarlyPair", "EarlyStop", "Finding"]

#: Of a pair: the second one passes less, or more, often than the first.
Finding = Literal["worse", "better"]


class EarlyPair(Frozen):
    """Two actors of a run. ``finding`` is None where no look decided; ``after`` counts the looks, one a trial."""

    first: str
    second: str
    finding: Finding | None = None
    after: int = 0


class EarlyStop(Frozen):
    """What looking after each trial of all scenarios came to in a run that was told to end early.

    ``planned`` is the number of looks where nothing ends it. ``alpha`` is shared evenly by all ``pairs``. ``until`` has
    the last trial that each actor was needed for, ``planned`` where some pair of it was not decided; it is empty while
    the run goes on.
    """

    alpha: float
    planned: int
    pairs: tuple[EarlyPair, ...] = ()
    until: dict[str, int] = {}

    @property
    def is_decided(self) -> bool:
        """Whether every pair is."""
        return bool(self.pairs) and all(pair.finding is not None for pair in self.pairs)

    @property
    def is_cut_short(self) -> bool:
        """Whether the trials of some actor hung on what came out."""
        return any(number < self.planned for number in self.until.values())

    def needs(self, actor: str, trial: int) -> bool:
        """Whether that trial of an actor had to be played."""
        return trial <= self.until.get(actor, trial)
