"""Players for processes: a pool's children import them by name."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from planned import result_of

from harness.errors import UsageError
from harness.schema.outcome import Outcome
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["Player", "breaks", "dies", "passes", "players", "refuses", "waits"]

Play = Callable[["Player", EpisodeJob], EpisodeResult]


class Player:
    """Plays one way, whatever the job; ``folder`` is where it tells that it began, and that it was closed."""

    def __init__(self, play: Play, folder: Path) -> None:
        self._play, self.folder = play, folder
        self.cancelled = threading.Event()

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode."""
        return self._play(self, job)

    def cancel(self) -> None:
        """End what runs."""
        self.cancelled.set()


def players(play: Play, folder: Path) -> Callable[[], object]:
    """What opens such a player in a process."""
    return partial(_opened, play, folder)


@contextmanager
def _opened(play: Play, folder: Path) -> Iterator[Player]:
    yield Player(play, folder)
    (folder / f"closed-{os.getpid()}").touch()


def passes(_: Player, job: EpisodeJob) -> EpisodeResult:
    """The episode is played."""
    return result_of(job, "pass", Outcome(status="completed", reason="scenario_satisfied"))


def refuses(_: Player, job: EpisodeJob) -> EpisodeResult:
    """It cannot be played."""
    raise UsageError(f"trial {job.trial} cannot be played")


def breaks(_: Player, job: EpisodeJob) -> EpisodeResult:
    """A bug."""
    raise LookupError(f"a value of trial {job.trial}")


def dies(_: Player, job: EpisodeJob) -> EpisodeResult:
    """The process is killed in the middle."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(job.trial)


def waits(player: Player, job: EpisodeJob) -> EpisodeResult:
    """Until it is told to end."""
    (player.folder / f"began-{os.getpid()}").touch()
    assert player.cancelled.wait(60)
    raise UsageError(f"trial {job.trial} was ended")
