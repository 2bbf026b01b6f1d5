"""A run of the command line that is stopped after its first episode."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Protocol

from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["stopped"]


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """What it plays in."""

    jobs: list[EpisodeJob]
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def stopped(harness: Harness, world: World, *argv: str) -> None:
    """A run that ends after its first episode, in the folder ``out``."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        os.kill(os.getpid(), signal.SIGINT)
        return world.result(job)

    world.episode = episode
    assert harness("run", *argv, "-n", "1", "--out", "out")[0] == 130
    world.episode = None
    world.jobs.clear()
