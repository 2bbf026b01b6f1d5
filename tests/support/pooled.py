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
from harness.wiring.worker import Desk

__all__ = [
    "DeskPlayer",
    "Player",
    "asks",
    "breaks",
    "desk_players",
    "dies",
    "first_dies",
    "passes",
    "players",
    "refuses",
    "sits",
    "waits",
]

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


class DeskPlayer(Player):
    """One for several threads, which may ask at a desk."""

    def __init__(self, play: Callable[[DeskPlayer, EpisodeJob], EpisodeResult], folder: Path, desk: Desk) -> None:
        super().__init__(passes, folder)
        self._plays, self.desk = play, desk
        self.is_shut = threading.Event()

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode."""
        return self._plays(self, job)

    def shut_down(self) -> None:
        """The process is to end."""
        self.is_shut.set()
        self.cancel()


def desk_players(play: Callable[[DeskPlayer, EpisodeJob], EpisodeResult], folder: Path) -> Callable[[Desk], object]:
    """What opens such a player in a process."""
    return partial(_at_desk, play, folder)


@contextmanager
def _at_desk(play: Callable[[DeskPlayer, EpisodeJob], EpisodeResult], folder: Path, desk: Desk) -> Iterator[DeskPlayer]:
    player = DeskPlayer(play, folder, desk)
    yield player
    (folder / f"closed-{os.getpid()}{'-shut' if player.is_shut.is_set() else ''}").touch()


def asks(player: DeskPlayer, job: EpisodeJob) -> EpisodeResult:
    """Asks for twice its trial, says so, and reports from another thread."""
    for number in range(20):
        assert player.desk.ask((job.trial, number)) == (job.trial, 2 * number)
    player.desk.tell(f"told by {job.trial}")
    reporting = threading.Thread(target=player.desk.report, args=(f"reported by {job.trial}",))
    reporting.start()
    reporting.join()
    return passes(player, job)


def first_dies(player: DeskPlayer, job: EpisodeJob) -> EpisodeResult:
    """The process of the first trial is killed while it asks."""
    player.desk.ask(job.trial)
    return dies(player, job) if job.trial == 1 else passes(player, job)


def sits(player: DeskPlayer, job: EpisodeJob) -> EpisodeResult:
    """Until it is told to end, or nobody answers any more."""
    (player.folder / f"began-{job.trial}-{os.getpid()}").touch()
    assert player.cancelled.wait(60)
    return passes(player, job)
