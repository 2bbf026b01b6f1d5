"""Episodes in processes of their own: for those that compute instead of waiting, where threads share one processor.

Each process opens its own player once, and knows all jobs: only the place in the plan goes to it, and the result comes
back. A process ends what it plays when it is told to, and when the one that began it is no more.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import Protocol

from harness.collecting import rare_collections
from harness.errors import EnvironmentProblem, UsageError, WorkerCrashError
from harness.pools._ending import Told, hear, held_back, played
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["Player", "Processes", "build"]

#: Ended processes are finalized in the order of these numbers, the largest first; this is before all of the library's.
_FIRST = 100
#: How long the end of a process waits for somebody to say that all of it is to end, in seconds: signals reach a group
#: one after the other.
_GRACE_S = 0.5


class Player(Protocol):
    """Plays episodes, one after another."""

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode. Raises InputError."""

    def cancel(self) -> None:
        """End what runs; may be called from any thread."""


#: Opens the player of a process; goes there as a pickle, so it is a function of a module, or a partial of one.
OpenPlayer = Callable[[], AbstractContextManager[Player]]


@dataclass(slots=True)
class _Process:
    """What a process holds from its beginning on."""

    jobs: Sequence[EpisodeJob] = ()
    player: Player | None = None
    stack: ExitStack = field(default_factory=ExitStack)
    ending: threading.Event = field(default_factory=threading.Event)


_here = _Process()


def build(jobs: Sequence[EpisodeJob], at_once: int, open_player: OpenPlayer) -> Processes:
    """A pool of ``at_once`` processes for these jobs."""
    return Processes(jobs, at_once, open_player)


class Processes:
    """A pool of processes; they start when the first episode is given to it."""

    def __init__(self, jobs: Sequence[EpisodeJob], at_once: int, open_player: OpenPlayer) -> None:
        context = multiprocessing.get_context("spawn")
        with held_back():
            resource_tracker.ensure_running()  # the library's own process, which a closed terminal would end
        told, self._tells = context.Pipe(duplex=False)
        self._told = told
        self._is_ended = threading.Event()
        # one pickle for all jobs: what they share stays shared there
        given = pickle.dumps((tuple(jobs), open_player))
        self._pool = ProcessPoolExecutor(at_once, mp_context=context, initializer=_begin, initargs=(given, told))

    def submit(self, place: int, job: EpisodeJob, pause_s: float) -> Future[EpisodeResult | None]:
        """Play the job at that place of the plan, under the attempt that ``job`` has, after a pause in seconds.

        The future's result is None where it was ended in the pause, or with its process after ``cancel``. It raises
        UsageError for what the episode's InputError said, WorkerCrashError for a bug, EnvironmentProblem where the
        process is gone.
        """
        ended: Future[EpisodeResult | None] = Future()
        try:
            with held_back():
                running = self._pool.submit(_play, place, job.attempt, pause_s)
        except BrokenProcessPool:
            self._lose(ended)
            return ended

        def pass_on(done: Future[Told]) -> None:
            error = done.exception()
            if isinstance(error, BrokenProcessPool):
                self._lose(ended)
            elif error is not None:
                ended.set_exception(error)
            else:
                _settle(ended, done.result())

        running.add_done_callback(pass_on)
        return ended

    def _lose(self, ended: Future[EpisodeResult | None]) -> None:
        """A process is gone: asked for, or for a reason of its own."""
        if self._is_ended.wait(_GRACE_S):
            ended.set_result(None)
        else:
            ended.set_exception(_gone())

    def cancel(self) -> None:
        """End what runs in all processes; idempotent."""
        self._is_ended.set()
        self._tells.close()

    def shut_down(self) -> None:
        """As ``cancel``: nothing that is played here is gone on with."""
        self.cancel()

    def close(self) -> None:
        """Wait for what runs, and end the processes; idempotent."""
        self._pool.shutdown(cancel_futures=True)
        self._tells.close()
        self._told.close()


def _gone() -> EnvironmentProblem:
    return EnvironmentProblem(
        "a process that played episodes was ended from outside, perhaps for want of memory; run with fewer --jobs"
    )


def _settle(ended: Future[EpisodeResult | None], told: Told) -> None:
    try:
        ended.set_result(told.taken())
    except (UsageError, WorkerCrashError) as error:
        ended.set_exception(error)


def _begin(given: bytes, told: Connection[bytes, bytes]) -> None:
    """First thing in a process: what it plays with, and who ends it. A terminal talks to the one that began it."""
    hear()
    open_player: OpenPlayer
    _here.jobs, open_player = pickle.loads(given)  # noqa: S301  (our own parent's)
    _here.player = _here.stack.enter_context(open_player())
    _here.stack.enter_context(rare_collections())
    Finalize(None, _here.stack.close, exitpriority=_FIRST)
    threading.Thread(target=_watch, args=(told, _here.player), name="pool-watch", daemon=True).start()


def _watch(told: Connection[bytes, bytes], player: Player) -> None:
    with suppress(EOFError, OSError):
        told.recv_bytes()
    _here.ending.set()
    player.cancel()
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    # nobody takes results any more; what was opened is closed all the same
    _here.stack.close()
    os._exit(1)


def _play(place: int, attempt: int, pause_s: float) -> Told:
    if _here.player is None or (pause_s and _here.ending.wait(pause_s)):
        return Told()
    job = _here.jobs[place]
    if job.attempt != attempt:
        job = job.model_copy(update={"attempt": attempt})
    return played(partial(_here.player.run, job))
