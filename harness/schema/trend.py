"""How a rate went from run to run."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from harness.schema.base import Frozen, Numerous
from harness.schema.qualification import Interval

__all__ = ["Moved", "Trend", "TrendPoint"]

#: What is another one than in the run before, of what both played: the text of a scenario, the settings or the script
#: of the actor, the name of the model that answered, its fingerprint, the version of the control plane; ``selection``:
#: other scenarios were played.
Moved = Literal["selection", "scenario", "actor", "model", "fingerprint", "plane"]


class TrendPoint(Numerous):
    """One run. ``run`` is its folder as the index names it, ``created_at`` is UTC ISO 8601.

    ``passes`` of ``n`` judged trials, between what the rate lies (Wilson, 95 %; None without a judged trial), and how
    many trials were ``not_judged`` or are pending. ``median_s`` are wall-clock seconds of judged episodes. ``usd`` is
    what all attempts cost, None where that is not known of a single call; ``unknown_calls``: it is a lower bound.
    """

    run: str
    created_at: str
    passes: int
    n: int
    interval: Interval | None
    not_judged: int
    median_s: float | None
    usd: Decimal | None
    episodes: int
    unknown_calls: int
    models: tuple[str, ...]
    planes: tuple[str, ...]
    moved: tuple[Moved, ...] = ()

    @property
    def rate(self) -> float | None:
        """A share, None without a judged trial."""
        return self.passes / self.n if self.n else None

    @property
    def usd_per_episode(self) -> Decimal | None:
        """None where it is not known."""
        return None if self.usd is None or not self.episodes else self.usd / self.episodes


class Trend(Frozen):
    """Of one actor in one scenario, or in all of them together (``scenario`` is None); points from the oldest on.

    ``plane`` is empty, but where one run plays the same on several versions of a control plane: then each has its own.
    """

    scenario: str | None
    actor: str
    plane: str
    points: tuple[TrendPoint, ...]
