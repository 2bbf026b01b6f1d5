"""What is different in a run from an earlier one."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen
from harness.schema.qualification import Difference
from harness.schema.trend import Moved

__all__ = ["ActorChanges", "Counts", "PlaceChange", "PlaceKind", "RunChanges", "Shift", "Side"]

#: ``new_fail``, ``fixed``: most judged trials passed and do not any more, or the other way round. ``worse``,
#: ``better``: the rate moved by more than chance explains. ``not_judged``: trials say nothing about the actor where
#: none did before, or more of them by more than chance; ``judged``: the other way round. ``changed``: the scenario or
#: how it is judged is another one, so verdicts are not held against each other. ``added``, ``removed``: played in one
#: of them only.
PlaceKind = Literal["new_fail", "fixed", "worse", "better", "not_judged", "judged", "changed", "added", "removed"]


class Side(Frozen):
    """One of the two runs: its folder, when it was begun (UTC ISO 8601), and how far it is."""

    run: str
    created_at: str
    state: str


class Counts(Frozen):
    """``passes`` of ``n`` judged trials; those that were not judged by cause, failures by code."""

    passes: int
    n: int
    not_judged: dict[str, int] = {}
    codes: dict[str, int] = {}


class PlaceChange(Frozen):
    """One scenario. ``chance`` is that of rates as far apart without a difference, two-sided, one scenario by itself.

    ``corrected`` is that where all scenarios are looked at (Benjamini and Hochberg); both None where a side has only
    one trial, or nothing can be held against each other. ``is_sure``: by that more than chance explains, or every trial
    of somebody who leaves nothing to chance came out the other way. ``set_aside``: it is in quarantine in the later
    run. ``parts`` are the dotted keys of the scenario's file in which a changed one differs, where both runs tell them.
    """

    scenario: str
    kinds: tuple[PlaceKind, ...]
    before: Counts | None
    now: Counts | None
    chance: float | None = None
    corrected: float | None = None
    is_sure: bool = False
    set_aside: bool = False
    parts: tuple[str, ...] = ()


class Shift(Frozen):
    """Medians of episodes, and how likely they are as far apart by chance (ranks within scenarios, two-sided).

    ``is_beyond``: further apart than that is worth, and than chance explains.
    """

    before: float
    now: float
    chance: float
    is_beyond: bool


class ActorChanges(Frozen):
    """One actor, on one version of a control plane where a run has several of them, else ``plane`` is empty.

    ``before`` or ``now`` is None where it played in one run only. ``rate`` is the difference over ``scenarios`` that
    can be held against each other, with its ``chance``, and ``finding`` where that is more than chance explains.
    Of what ``moved`` the texts are in ``models``, ``fingerprints`` and ``planes``: before, and now.
    """

    actor: str
    plane: str
    before: Counts | None
    now: Counts | None
    places: tuple[PlaceChange, ...] = ()
    alike: int = 0
    moved: tuple[Moved, ...] = ()
    models: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    fingerprints: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    planes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    rate: Difference | None = None
    chance: float | None = None
    finding: Literal["worse", "better"] | None = None
    seconds: Shift | None = None
    usd: Shift | None = None


class RunChanges(Frozen):
    """All actors of both runs, those of the later one first."""

    before: Side
    now: Side
    actors: tuple[ActorChanges, ...]

    def count(self, kind: PlaceKind, *, sure: bool = False) -> int:
        """Scenarios of all actors that such a change was found of, without those in quarantine.

        ``sure``: only where chance does not explain that rates differ.
        """
        found = (place for one in self.actors for place in one.places if kind in place.kinds)
        return sum((place.is_sure or not sure) and not place.set_aside for place in found)
