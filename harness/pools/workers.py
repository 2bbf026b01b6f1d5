"""Episodes in a few processes with several threads each: for live models, where threads of one process wait for it.

Each thread of a process has a lane: a connection of its own to a thread of the one that began it. An order to play goes
there, and while the episode runs it asks over the lane for what all processes share; its end comes back last. So what
is shared is held once, by objects that are safe to use from threads, and a process that is gone ends its lanes only.
"""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Final, Protocol

from harness.errors import EnvironmentProblem, HarnessError, WorkerGoneError
from harness.pools._ending import Line, Told, held_back, receive, send
from harness.pools._worker import Ask, OpenPlayer, Order, Tell, Word, work
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["Clerk", "Workers", "build"]

#: How long a lane that broke waits for somebody to say that all is to end, in seconds.
_GRACE_S: Final = 0.5

_log = logging.getLogger(__name__)


class Clerk(Protocol):
    """Answers what one episode asks for, on the thread that waits for its end."""

    def answer(self, question: object) -> object:
        """The answer. What it raises ends the episode, and is raised to whoever waits for it."""

    def hear(self, news: object) -> None:
        """Something that needs no answer; what it raises ends the episode when it asks next."""

    def close(self) -> None:
        """The episode is over, or gone: what it held is given back; idempotent."""


def build(
    jobs: Sequence[EpisodeJob],
    sizes: Sequence[int],
    open_player: OpenPlayer,
    *,
    clerk_of: Callable[[EpisodeJob], Clerk],
    news: Callable[[object], None],
    stop: threading.Event,
) -> Workers:
    """Processes with so many threads each; they start at once. ``news`` is told what belongs to no episode any more.

    Pauses before episodes end once ``stop`` is set.
    """
    return Workers(jobs, sizes, open_player, clerk_of=clerk_of, news=news, stop=stop)


@dataclass(slots=True, eq=False)
class _Worker:
    """A process as the one that began it holds it."""

    process: SpawnProcess
    told: Line
    news: Line
    lanes: tuple[Line, ...]
    idle: list[Line] = field(default_factory=list)
    listener: threading.Thread | None = None
    is_gone: bool = False

    @property
    def busy(self) -> int:
        """How many episodes it plays."""
        return len(self.lanes) - len(self.idle)

    def has_ended(self) -> bool:
        """Whether it is no more."""
        self.is_gone = self.is_gone or bool(wait([self.process.sentinel], 0))
        return self.is_gone


class Workers:
    """A pool of processes with threads."""

    def __init__(
        self,
        jobs: Sequence[EpisodeJob],
        sizes: Sequence[int],
        open_player: OpenPlayer,
        *,
        clerk_of: Callable[[EpisodeJob], Clerk],
        news: Callable[[object], None],
        stop: threading.Event,
    ) -> None:
        self._clerk_of, self._news, self._stop = clerk_of, news, stop
        self._is_ended, self._is_closed = threading.Event(), False
        self._changed = threading.Condition()
        # one pickle for all jobs: what they share stays shared there
        given = pickle.dumps((tuple(jobs), open_player))
        self._workers: list[_Worker] = []
        self._pool = ThreadPoolExecutor(sum(sizes), thread_name_prefix="lane")
        try:
            with held_back():
                resource_tracker.ensure_running()  # the library's own process, which a closed terminal would end
                for size in sizes:
                    self._workers.append(_begun(given, size))
            for worker in self._workers:
                worker.listener = threading.Thread(target=self._listen, args=(worker,), name="news", daemon=True)
                worker.listener.start()
        except BaseException:
            self.close()
            raise

    def submit(self, place: int, job: EpisodeJob, pause_s: float) -> Future[EpisodeResult | None]:
        """Play the job at that place of the plan, under the attempt that ``job`` has, after a pause in seconds.

        The future's result is None where it was ended in the pause, or with its process after ``cancel``. It raises
        UsageError for what the episode's InputError said, WorkerCrashError for a bug, WorkerGoneError where its process
        is gone, EnvironmentProblem where all are, and what a clerk raised.
        """
        return self._pool.submit(self._play, place, job, pause_s)

    def _play(self, place: int, job: EpisodeJob, pause_s: float) -> EpisodeResult | None:
        if pause_s and self._stop.wait(pause_s):
            return None
        clerk = self._clerk_of(job)
        worker, lane = self._taken()
        try:
            told, refusal = _carried(lane, Order(place, job.attempt), clerk)
        except (EOFError, OSError):
            self._lose(worker)
            if self._is_ended.wait(_GRACE_S):
                return None
            raise WorkerGoneError(str(worker.process.pid)) from None
        finally:
            clerk.close()
        with self._changed:
            worker.idle.append(lane)
            self._changed.notify_all()
        if refusal is not None:
            raise refusal
        return told.taken()

    def _taken(self) -> tuple[_Worker, Line]:
        """An idle lane of the process that plays the fewest episodes, once there is one."""
        with self._changed:
            while True:
                here = [worker for worker in self._workers if not worker.has_ended()]
                if not here:
                    raise EnvironmentProblem(
                        "all processes that played episodes were ended from outside, perhaps for want of memory; run "
                        "with fewer --jobs"
                    )
                free = [worker for worker in here if worker.idle]
                if free:
                    chosen = min(free, key=lambda worker: worker.busy)
                    return chosen, chosen.idle.pop()
                self._changed.wait()

    def _lose(self, worker: _Worker) -> None:
        with self._changed:
            worker.is_gone = True
            self._changed.notify_all()

    def _listen(self, worker: _Worker) -> None:
        while True:
            try:
                news = receive(worker.news)
            except (EOFError, OSError):
                return
            try:
                self._news(news)
            except HarnessError as error:
                _log.warning("what a process told could not be kept: %s", type(error).__name__)

    def cancel(self) -> None:
        """End what runs in all processes; idempotent."""
        self._say("cancel")

    def shut_down(self) -> None:
        """End what runs, for all is to end."""
        self._say("shut_down")

    def _say(self, word: Word) -> None:
        self._is_ended.set()
        for worker in self._workers:
            with suppress(OSError):
                send(worker.told, word)

    def close(self) -> None:
        """Wait for what runs, and end the processes; idempotent."""
        self._pool.shutdown(cancel_futures=True)
        for worker in self._workers:
            for lane in worker.lanes:
                lane.close()
            worker.told.close()
        for worker in self._workers:
            worker.process.join()
            if worker.listener is not None:
                worker.listener.join()
            worker.news.close()


def _carried(lane: Line, order: Order, clerk: Clerk) -> tuple[Told, Exception | None]:
    """Have an episode played, and answer what it asks until it has ended; also what a clerk raised.

    Raises EOFError and OSError where its process is gone.
    """
    refusal: Exception | None = None
    send(lane, order)
    while True:
        match receive(lane):
            case Ask(question):
                answer = None
                if refusal is None:
                    answer, refusal = _answered(clerk.answer, question)
                send(lane, (refusal is None, answer))
            case Tell(news):
                refusal = refusal or _answered(clerk.hear, news)[1]
            case Told() as told:
                return told, refusal
            case other:  # pragma: no cover  (a process says nothing else)
                raise TypeError(type(other).__name__)


def _answered(answer: Callable[[object], object], question: object) -> tuple[object, Exception | None]:
    try:
        return answer(question), None
    except OSError as error:
        return None, EnvironmentProblem(error.strerror or type(error).__name__)
    except Exception as error:  # noqa: BLE001  (raised again where the episode's end is waited for)
        return None, error


def _begun(given: bytes, size: int) -> _Worker:
    context = multiprocessing.get_context("spawn")
    hears, told = context.Pipe(duplex=False)
    news, tells = context.Pipe(duplex=False)
    lanes, theirs = zip(*(context.Pipe() for _ in range(size)), strict=True)
    process = context.Process(target=work, args=(given, hears, tells, theirs), name="episodes")
    process.start()
    for given_away in theirs:
        given_away.close()
    hears.close()
    tells.close()
    return _Worker(process, told, news, lanes, idle=list(lanes))
