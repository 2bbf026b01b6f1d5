"""Episodes in processes of their own: for those that compute instead of waiting, where threads share one processor.

Each process opens its own player once, and knows all jobs: only the place in the plan goes to it, and the result comes
back. Orders lie in one pipe, from which whoever is free takes the next; each process has a pipe of its own for what
came of them. A process ends what it plays when it is told to, and when the one that began it is no more.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from itertools import count
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from struct import Struct
from typing import Final, Protocol

from harness.collecting import rare_collections
from harness.errors import EnvironmentProblem, UsageError, WorkerCrashError
from harness.pools._ending import Line, Told, hear, held_back, played, receive, send
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["Player", "Processes", "build"]

#: An order: its number, the place in the plan, the attempt, and the pause before in seconds. A pipe takes in one of
#: this size as a whole, and hands it out as a whole (it divides a page): several may read.
_ORDER: Final = Struct("<QQQd")
#: How long the end of a process waits for somebody to say that all of it is to end, in seconds: signals reach a group
#: one after the other.
_GRACE_S: Final = 0.5


class Player(Protocol):
    """Plays episodes, one after another."""

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode. Raises InputError."""

    def cancel(self) -> None:
        """End what runs; may be called from any thread."""


#: Opens the player of a process; goes there as a pickle, so it is a function of a module, or a partial of one.
OpenPlayer = Callable[[], AbstractContextManager[Player]]


def build(jobs: Sequence[EpisodeJob], at_once: int, open_player: OpenPlayer) -> Processes:
    """A pool of ``at_once`` processes for these jobs."""
    return Processes(jobs, at_once, open_player)


class Processes:
    """A pool of processes; they start when episodes are given to it."""

    def __init__(self, jobs: Sequence[EpisodeJob], at_once: int, open_player: OpenPlayer) -> None:
        self._context, self._most = multiprocessing.get_context("spawn"), at_once
        with held_back():
            resource_tracker.ensure_running()  # the library's own process, which a closed terminal would end
        self._told, self._tells = self._context.Pipe(duplex=False)
        self._orders, self._gives = self._context.Pipe(duplex=False)
        # one pickle for all jobs: what they share stays shared there
        self._given = pickle.dumps((tuple(jobs), open_player))
        self._is_ended = threading.Event()
        self._is_broken = self._is_closed = False
        self._lock, self._numbers = threading.Lock(), count()
        self._out: dict[int, Future[EpisodeResult | None]] = {}
        self._processes: list[SpawnProcess] = []
        self._readers: list[threading.Thread] = []

    def submit(self, place: int, job: EpisodeJob, pause_s: float) -> Future[EpisodeResult | None]:
        """Play the job at that place of the plan, under the attempt that ``job`` has, after a pause in seconds.

        The future's result is None where it was ended in the pause, or with its process after ``cancel``. It raises
        UsageError for what the episode's InputError said, WorkerCrashError for a bug, EnvironmentProblem where a
        process is gone.
        """
        ended: Future[EpisodeResult | None] = Future()
        with self._lock:
            is_broken = self._is_broken
            if not is_broken:
                if len(self._processes) < min(len(self._out) + 1, self._most):
                    self._begin()
                number = next(self._numbers)
                self._out[number] = ended
                order = _ORDER.pack(number, place, job.attempt, pause_s)
                if os.write(self._gives.fileno(), order) != len(order):  # pragma: no cover  (a pipe takes it whole)
                    raise AssertionError(number)
        if is_broken:
            self._lose((ended,))
        return ended

    def _begin(self) -> None:
        results, says = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_work, args=(self._given, self._told, self._orders, says), name="episodes"
        )
        with held_back():
            process.start()
        says.close()
        reader = threading.Thread(target=self._read, args=(results,), name="results", daemon=True)
        self._processes.append(process)
        self._readers.append(reader)
        reader.start()

    def _read(self, results: Line) -> None:
        """Settle what comes from a process until that is gone."""
        with results, suppress(EOFError, OSError):
            while True:
                match receive(results):
                    case (int() as number, Told() as told):
                        with self._lock:
                            ended = self._out.pop(number, None)
                        if ended is not None:
                            _settle(ended, told)
                    case other:  # pragma: no cover  (a process says nothing else)
                        raise TypeError(type(other).__name__)
        self._break()

    def _break(self) -> None:
        """A process is gone before the pool is closed: what it had taken is not known, so all that is out is lost."""
        with self._lock:
            if self._is_closed:
                return
            others = [] if self._is_broken else list(self._processes)
            self._is_broken = True
            lost = tuple(self._out.values())
            self._out.clear()
        for process in others:
            process.terminate()
        self._lose(lost)

    def _lose(self, lost: Sequence[Future[EpisodeResult | None]]) -> None:
        """A process is gone: asked for, or for a reason of its own."""
        was_asked_for = bool(lost) and self._is_ended.wait(_GRACE_S)
        for ended in lost:
            if was_asked_for:
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
        """Wait for what runs, and end the processes; what nobody has taken is cancelled. Idempotent."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._gives.close()
            while order := os.read(self._orders.fileno(), _ORDER.size):  # nobody writes any more, so this ends
                ended = self._out.pop(_ORDER.unpack(order)[0], None)
                if ended is not None:
                    ended.cancel()
        for process, reader in zip(self._processes, self._readers, strict=True):
            process.join()
            reader.join()
        self._lose(tuple(self._out.values()))
        for end in (self._tells, self._told, self._orders):
            end.close()


def _gone() -> EnvironmentProblem:
    return EnvironmentProblem(
        "a process that played episodes was ended from outside, perhaps for want of memory; run with fewer --jobs"
    )


def _settle(ended: Future[EpisodeResult | None], told: Told) -> None:
    try:
        ended.set_result(told.taken())
    except (UsageError, WorkerCrashError) as error:
        ended.set_exception(error)


class _Table:
    """What a process plays at. It is left once, by whoever comes first: the end of its orders, or of its parent."""

    def __init__(self, jobs: Sequence[EpisodeJob], open_player: OpenPlayer) -> None:
        self._jobs, self._stack, self._leaving = jobs, ExitStack(), threading.Lock()
        self._ending = threading.Event()
        self._player = self._stack.enter_context(open_player())
        self._stack.enter_context(rare_collections())

    def play(self, place: int, attempt: int, pause_s: float) -> Told:
        """An episode; it is not begun any more where all is to end."""
        if self._ending.wait(pause_s) if pause_s else self._ending.is_set():
            return Told()
        job = self._jobs[place]
        if job.attempt != attempt:
            job = job.model_copy(update={"attempt": attempt})
        return played(partial(self._player.run, job))

    def watch(self, told: Connection[bytes, bytes]) -> None:
        """Wait for the word that all is to end, or for the end of whoever would say it."""
        with suppress(EOFError, OSError):
            told.recv_bytes()
        self._ending.set()
        self._player.cancel()
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
        # nobody takes results any more; what was opened is closed all the same
        self.leave()
        os._exit(1)

    def leave(self) -> None:
        """Close what was opened; idempotent."""
        with self._leaving:
            self._stack.close()


def _work(given: bytes, told: Line, orders: Line, results: Line) -> None:
    """What a process does: it takes orders until there are none. A terminal talks to the one that began it."""
    hear()
    jobs: Sequence[EpisodeJob]
    open_player: OpenPlayer
    jobs, open_player = pickle.loads(given)  # noqa: S301  (our own parent's)
    table = _Table(jobs, open_player)
    try:
        threading.Thread(target=table.watch, args=(told,), name="pool-watch", daemon=True).start()
        with suppress(OSError):  # nobody takes results any more
            while order := os.read(orders.fileno(), _ORDER.size):
                number, place, attempt, pause_s = _ORDER.unpack(order)
                send(results, (number, table.play(place, attempt, pause_s)))
    finally:
        table.leave()
