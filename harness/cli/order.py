"""What ``harness run`` was told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from harness.cli.cast import Cast
from harness.cli.ceilings import Ceilings
from harness.cli.judging import Judging
from harness.cli.responses import Responses
from harness.cli.resuming import Asked
from harness.ports import Reporter
from harness.schema.confinement import Confinement
from harness.schema.run import EpisodeOptions, Shard
from harness.suite import Care

__all__ = ["Order"]


@dataclass(frozen=True, slots=True)
class Order:
    """What ``harness run`` was told besides what to play. ``out`` None: ``reports/RUN-ID`` below the working folder.

    ``resume`` is the folder of a run that is gone on with; ``asked`` is kept beside a new one, for that. ``ceilings``
    bound all of its episodes together, ``responses`` are for those that wait, ``pool`` is where they run.
    ``replay_damaged`` lets what cannot be gone on with be played anew. ``lock`` is the descriptor of the folder of the
    run that is gone on with, locked before anything in it was read. ``confinement`` is what was seen to hold.
    ``judging`` decides about the run once it ended; None: its receipts alone say how it ends.
    """

    options: EpisodeOptions
    reporters: tuple[Reporter, ...]
    form: str
    jobs_at_once: int
    out: Path | None
    keep: Literal["failed", "judged", "all", "none"] = "failed"
    tolerate_stale: bool = False
    playing: Cast = field(default_factory=Cast)
    resume: Path | None = None
    asked: Asked | None = None
    care: Care = field(default_factory=Care)
    shard: Shard | None = None
    ceilings: Ceilings = field(default_factory=Ceilings)
    pool: str = "threads"
    responses: Responses = field(default_factory=Responses)
    replay_damaged: bool = False
    lock: int | None = None
    confinement: Confinement = field(default_factory=Confinement)
    judging: Judging | None = None
