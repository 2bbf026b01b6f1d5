"""A run as the index of runs tells it."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from harness.schema.actor import ActorKind
from harness.schema.base import Digest, Frozen, Numerous
from harness.schema.process import PlaneIdentity
from harness.schema.quarantine import QuarantineEntry

__all__ = ["IndexedEpisode", "IndexedRun"]


class IndexedEpisode(Numerous):
    """One receipt of a run, in its order, with what its log says of cost. Unknown tokens are None, never zero.

    ``models`` and ``fingerprints`` are those that the provider named, each once. ``micro_usd`` is what its calls cost,
    in millionths of a US dollar, of those of its ``calls`` of which that is known; ``unknown_calls`` are the others.
    """

    scenario: str
    scenario_digest: Digest
    actor: str
    actor_digest: Digest
    kind: ActorKind
    plane: PlaneIdentity
    classifier_version: int
    trial: int
    attempt: int
    verdict: str
    code: str | None
    cause: str | None
    outcome: str
    models: tuple[str, ...]
    fingerprints: tuple[str, ...]
    seconds: float
    tokens: int | None
    calls: int
    unknown_calls: int
    micro_usd: Decimal


class IndexedRun(Frozen):
    """``folder`` is relative to the folder of the index; times are UTC ISO 8601; ``state`` is that of the manifest.

    ``stamp`` are change times and sizes of the files that tell how far the run is: while they stay, so does all of it.
    ``shard``: it played a part of its plan only. ``ended_early``: who passes more often was known before all of it
    was played. What ``quarantine`` covers was not held against it.
    """

    folder: str
    run_id: str
    created_at: str
    finished_at: str | None
    state: Literal["running", "complete", "interrupted"]
    harness_version: str
    planned: int
    seal: Digest | None
    episodes: tuple[IndexedEpisode, ...]
    shard: bool = False
    ended_early: bool = False
    quarantine: tuple[QuarantineEntry, ...] = ()
    stamp: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether all of its plan was played, whatever came out; shards are told where they are put together."""
        return self.state == "complete" and not self.shard and not self.ended_early
