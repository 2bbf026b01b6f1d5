"""The run log of episodes that are played to be recorded: what was paid for is told, whatever came of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from harness import wiring
from harness.cli.folder import starting_manifest, timestamp
from harness.clock import SystemClock, new_run_id
from harness.receipt import RunStore
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.wiring.sandboxing import confinement

__all__ = ["PaidLog"]


class PaidLog:
    """A run folder ``reports/RUN-ID`` that is made when the first episode comes that may have cost something."""

    def __init__(self, settings: wiring.Settings, jobs: Sequence[EpisodeJob], options: EpisodeOptions) -> None:
        self._clock = SystemClock()
        run_id = new_run_id(self._clock.now())
        self._folder = settings.reports / run_id
        self._manifest = starting_manifest(
            jobs, options, run_id=run_id, created_at=timestamp(self._clock), confinement=confinement(options.sandbox)
        )
        self._guard = wiring.secret_guard(settings, [job.actor for job in jobs])
        self._waiting: list[tuple[int, EpisodeResult]] = []
        self._store: RunStore | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._store is not None:
            with self._store:
                self._store.finish(timestamp(self._clock))

    @property
    def folder(self) -> Path | None:
        """The run folder; None where nothing was paid for."""
        return None if self._store is None else self._folder

    def add(self, position: int, result: EpisodeResult) -> None:
        """Keep a finished episode, ``position`` from 0. Raises StoreError."""
        self._waiting.append((position, result))
        if self._store is None and not any(row.status != "not_sent" for row in result.log.attempts):
            return
        if self._store is None:
            self._store = RunStore(self._folder, self._manifest, self._guard)
        while self._waiting:
            self._store.add(*self._waiting[0])
            self._waiting.pop(0)
