"""Everything one episode is run with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from harness.episode.detached import DETACHED, DetachedCalls
from harness.episode.durable import DurablePlace
from harness.episode.late import LATE, LateReplies
from harness.ports import Actor, Classifiers, Clock, ControlPlane, Executor, Meter, Pace, Quota, Witness
from harness.scenario import NoClassifiers
from harness.schema.run import EpisodeJob, LateRow
from harness.schema.scenario import LoadedScenario
from harness.schema.tool import ToolSpec
from harness.workspace import Left, Workspace

__all__ = ["CLASSIFIER_VERSION", "EpisodeParts", "judged_by"]

#: Raised whenever the same evidence may be judged differently; part of every receipt.
CLASSIFIER_VERSION = 1


def judged_by(loaded: LoadedScenario) -> int:
    """The version of all that judges a scenario's episodes, as receipts and recordings have it.

    That of the rules, and with each version of a classifier that the scenario names one more.
    """
    return CLASSIFIER_VERSION + loaded.judged_by


def _never() -> bool:
    return False


def _pause(seconds: float) -> None:
    Event().wait(seconds)


def _drop(_: LateRow) -> None:
    """Nobody keeps a ledger of an episode that is over."""


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """A job and the live objects for it.

    ``open_plane`` opens the control plane on the workspace; ``executor`` runs bounded reads; ``cancelled`` may be
    asked from any thread and is believed once it said yes; ``search_path`` is the PATH that reads are found on;
    ``host_denied`` are tools this machine does not permit; ``temporary`` is where workspaces are made (None: the
    system's temporary directory); ``witness`` records the episode or compares it with a recording; ``durable`` is
    where it is kept on disk (None: in memory only); ``keep_output`` keeps a large final text and says where, None
    where it did not. ``shutdown`` tells of an end of the process, as ``cancelled`` of a
    wish to cancel. ``pause`` waits some seconds between two attempts at a model call. ``detached`` counts calls that
    were given up, ``late`` accounts for what they bring, and ``late_row`` keeps that once the episode is told.
    ``operations`` are those of the control plane that can be tools. ``meter`` counts what it costs (None: its own
    ledger does, at the actor's prices); ``quota`` is asked before it begins and before each model attempt (None: nobody
    is); ``pace`` says when an attempt may be sent (None: at once). ``remove_later`` is given the workspace where its
    removal need not wait (None: it is done at once). ``classifiers`` are those that a scenario may name.
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
    pace: Pace | None = None
    keep_output: Callable[[bytes], str | None] | None = None
    shutdown: Callable[[], bool] = _never
    pause: Callable[[float], None] = _pause
    detached: DetachedCalls = DETACHED
    late: LateReplies = LATE
    late_row: Callable[[LateRow], None] = _drop
    operations: Mapping[str, ToolSpec] = field(default_factory=dict)
    remove_later: Callable[[Path, Left], None] | None = None
    classifiers: Classifiers = field(default_factory=NoClassifiers)

    @property
    def classifier_version(self) -> int:
        """The version of all that judges this episode: of the rules, and of the classifiers that its scenario names."""
        return judged_by(self.job.loaded)
