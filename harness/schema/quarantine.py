"""What is known to be broken, and is not held against a run for a while."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from harness.schema.actor import is_called
from harness.schema.base import Frozen

__all__ = ["QuarantineEntry", "entry_for"]


class QuarantineEntry(Frozen):
    """Episodes of ``scenario``, an id or a glob, by ``actor``.

    An actor is meant by its name or a glob; ``script`` means all scripts, None anybody. ``owner`` sees to it,
    ``reason`` says why, both one line. ``expires`` is the last day, UTC, on which it holds, ISO 8601.
    """

    scenario: str
    actor: str | None = None
    owner: str
    reason: str
    expires: str

    def covers(self, scenario: str, actor: str) -> bool:
        """Whether such an episode is meant."""
        return fnmatchcase(scenario, self.scenario) and is_called(actor, self.actor or "*")

    @property
    def told(self) -> str:
        """What it is about: ``pack/a`` or ``pack/a by script``."""
        return self.scenario if self.actor is None else f"{self.scenario} by {self.actor}"

    @property
    def terms(self) -> str:
        """Until when, whose it is, and why."""
        return f"until {self.expires}, {self.owner} sees to it: {self.reason}"


def entry_for(entries: Iterable[QuarantineEntry], scenario: str, actor: str) -> QuarantineEntry | None:
    """The first entry that covers such an episode."""
    return next((one for one in entries if one.covers(scenario, actor)), None)
