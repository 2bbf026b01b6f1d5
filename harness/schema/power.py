"""How many trials find a drop, and what those take: before the money is spent."""

from __future__ import annotations

from decimal import Decimal

from harness.schema.actor import ActorKind
from harness.schema.base import Frozen

__all__ = ["ActorPower", "PowerPlan"]


class ActorPower(Frozen):
    """Of one actor, going by how often it passed in so many ``scenarios``: ``rate`` is the mean over these.

    ``trials`` of each scenario find the drop; None where that is out of reach. ``episodes`` are that many in all
    scenarios, ``usd`` and ``seconds`` what those take, one after the other; None where that is unknown. ``has`` is how
    many judged trials of a scenario there are, ``finds`` the smallest drop that these find, a share; None where none
    is found, or there are no trials. ``low`` scenarios pass less often than the drop, so there it cannot show.
    ``ended_early``: that rate is of a run that ended when its own actors were told apart, which moved it.
    """

    run: str
    actor: str
    kind: ActorKind
    scenarios: int
    rate: float
    has: int
    low: int
    trials: int | None
    episodes: int | None
    usd: Decimal | None
    is_lower_bound: bool
    seconds: float | None
    finds: float | None
    ended_early: bool = False


class PowerPlan(Frozen):
    """A drop by ``detect``, a share, that is found as often as ``power`` says; ``alpha`` is two-sided.

    ``trials`` of each scenario find it for every actor; the rest is that of all actors with that many.
    """

    detect: float
    power: float
    alpha: float
    actors: tuple[ActorPower, ...]
    trials: int | None
    episodes: int | None
    usd: Decimal | None
    is_lower_bound: bool
    seconds: float | None
