"""What lies among recordings and is none that a scenario can play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import recording
from harness.recording import Half
from harness.schema.scenario import LoadedScenario
from harness.wiring.places import Settings, scenarios
from harness.wiring.recordings import interrupted

__all__ = ["Strays", "strays"]


@dataclass(frozen=True, slots=True)
class Strays:
    """Recordings that belong to no scenario, and halves of recordings."""

    orphans: tuple[Path, ...] = ()
    halves: tuple[Half, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them, orphans first."""
        return (*map(str, self.orphans), *(str(half.path) for half in self.halves))


def strays(place: Settings, chosen: Sequence[LoadedScenario], *, everything: bool) -> Strays:
    """Halves of recordings of the chosen scenarios; where ``everything`` is chosen, all strays. Raises StoreError.

    Who chose some scenarios asked nothing of the others: what lies there is then not looked at.
    """
    halves = {half.path: half for one in chosen for half in interrupted(place, one)}
    if not everything:
        return Strays(halves=tuple(halves.values()))
    folder = place.cwd / "recordings"
    halves.update({half.path: half for half in recording.halves_below(folder)})
    known = {*scenarios(place), *(one.scenario.id for one in chosen)}
    return Strays(recording.orphans(folder, known), tuple(halves[path] for path in sorted(halves)))
