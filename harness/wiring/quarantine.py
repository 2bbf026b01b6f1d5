"""Which entries of ``quarantine.toml`` hold today, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatchcase

from harness.config.quarantine_file import QUARANTINE, load_quarantine
from harness.schema.quarantine import QuarantineEntry
from harness.wiring.places import Settings

__all__ = ["Quarantine", "quarantine"]

#: An entry that holds no longer than so many days is told ahead.
_SOON = 7


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The entries of the file in its order, as of ``today``, UTC; ``known`` are the ids of all scenarios there are."""

    entries: tuple[QuarantineEntry, ...]
    today: date
    known: Collection[str] = ()

    @property
    def holding(self) -> tuple[QuarantineEntry, ...]:
        """Those that are not over."""
        return tuple(one for one in self.entries if not self.is_over(one))

    @property
    def nowhere(self) -> tuple[QuarantineEntry, ...]:
        """Those that match no scenario."""
        return tuple(one for one in self.entries if not any(fnmatchcase(name, one.scenario) for name in self.known))

    def is_over(self, entry: QuarantineEntry) -> bool:
        """Whether its last day has passed."""
        return date.fromisoformat(entry.expires) < self.today

    def is_soon_over(self, entry: QuarantineEntry) -> bool:
        """Whether it holds for a week at most."""
        return not self.is_over(entry) and date.fromisoformat(entry.expires) - self.today <= timedelta(days=_SOON)

    def applied(self, places: Iterable[tuple[str, str]]) -> tuple[QuarantineEntry, ...]:
        """Those that hold and cover one of these (scenario, actor)."""
        known = set(places)
        return tuple(one for one in self.holding if any(one.covers(*place) for place in known))

    def ended(self, places: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """A line for each entry that is over and would cover one of these (scenario, actor)."""
        known = set(places)
        over = [one for one in self.entries if self.is_over(one) and any(one.covers(*place) for place in known)]
        return tuple(
            f"{QUARANTINE}: {one.told} is held against the run again: its quarantine ended on {one.expires} "
            f"({one.owner} was to see to it)"
            for one in over
        )

    def remarks(self, places: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """A line for each entry that is over and would cover one of these, and for each that matches no scenario."""
        return (
            *self.ended(places),
            *(f"{QUARANTINE}: {one.told} matches no scenario; correct it, or leave it out" for one in self.nowhere),
        )


def quarantine(settings: Settings, now: datetime, known: Callable[[Settings], Collection[str]]) -> Quarantine:
    """What the file in the working folder says at that time, with zone; ``known`` tells the ids of all scenarios.

    Raises ConfigError.
    """
    entries = load_quarantine(settings.cwd / QUARANTINE)
    return Quarantine(entries, now.astimezone(UTC).date(), tuple(known(settings)) if entries else ())
