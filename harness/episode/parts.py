"""Everything one episode is run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.episode.durable import DurablePlace
from harness.ports import Actor, Clock, ControlPlane, Executor, Meter, Quota, Witness
from harness.schema.run import EpisodeJob
from harness.workspace import Workspace

__all__ = ["CLASSIFIER_VERSION", "EpisodeParts"]

#: Raised whenever the same evidence may be judged differently; part of every receipt.
CLASSIFIER_VERSION = 1


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """A job and the live objects for it.

    ``open_plane`` opens the control plane on the workspace; ``executor`` runs bounded reads; ``cancelled`` may be
    asked from any thread and is believed once it said yes; ``search_path`` is the PATH that reads are found on;
    ``host_denied`` are tools this machine does not permit; ``temporary`` is where workspaces are made (None: the
    system's temporary directory); ``witness`` records the episode or compares it with a recording; ``durable`` is
    where it is kept on disk (None: in memory only). ``meter`` counts what it costs (None: its own ledger does, at the
    actor's prices); ``quota`` is asked before it begins and before each model attempt (None: nobody is).
    """

    job: EpisodeJob
    actor: Actor
    open_plane: Callable[[Workspace], ControlPlane]
    executor: Executor
    clock: Clock
    cancelled: Callable[[], bool]
    search_path: str
    host_denied: frozenset[str] = frozenset()
    temporary: Path | None = None
    witness: Witness | None = None
    durable: DurablePlace | None = None
    meter: Meter | None = None
    quota: Quota | None = None
