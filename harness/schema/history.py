"""A run as the index of runs tells it."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Digest, Frozen

__all__ = ["IndexedEpisode", "IndexedRun"]


class IndexedEpisode(Frozen):
    """One receipt of a run, in its order, with what its log says of cost. Unknown tokens are None, never zero."""

    scenario: str
    scenario_digest: Digest
    actor: str
    actor_digest: Digest
    plane: str
    trial: int
    attempt: int
    verdict: str
    code: str | None
    outcome: str
    model: str | None
    seconds: float
    tokens: int | None


class IndexedRun(Frozen):
    """``folder`` is relative to the folder of the index; times are UTC ISO 8601; ``state`` is that of the manifest.

    ``stamp`` are change times and sizes of the files that tell how far the run is: while they stay, so does all of it.
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
    stamp: str = ""
