"""How the providers of live models are spared: how many episodes at once, how often again, when to leave them alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["REFUSALS", "RETRIES", "Care"]

#: Further attempts at an episode that an outage kept from being judged.
RETRIES: Final = 2
#: Refusals in a row after which nothing more is asked of a provider.
REFUSALS: Final = 3
#: Longest pause before a further attempt, in seconds.
_PAUSE_MAX_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Care:
    """``concurrency`` is how many episodes of a provider run at once, by its name; without one ``--jobs`` alone counts.

    ``retries`` (0 or more) are further attempts at an episode of a live model where its provider's outage left
    nothing to judge; they are no trials. After ``refusals`` refusals of a key or for a quota in a row (0: never) a
    provider is left alone. ``pause_s`` is how long the first further attempt waits; each later one waits twice as long.
    """

    concurrency: Mapping[str, int] = field(default_factory=dict)
    retries: int = 0
    refusals: int = REFUSALS
    pause_s: float = 1.0

    def pause(self, retry: int) -> float:
        """Seconds to wait before the ``retry``-th further attempt, from 1."""
        return float(min(self.pause_s * 2 ** min(retry - 1, 16), _PAUSE_MAX_S))
