"""Runs episodes in a pool; only the calling thread sees results."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from harness.collecting import rare_collections
from harness.errors import InputError, WorkerCrashError, WorkerGoneError
from harness.ports import Pacing, Pool
from harness.qualification.stopping import Stopping
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite.care import Care
from harness.suite.queue import Entry, Queue

__all__ = ["Crash", "SuiteEnd", "run_suite"]


@dataclass(frozen=True, slots=True)
class Crash:
    """An episode that ended in a bug of ours: its place in the plan, and where, without any value or message."""

    index: int
    place: str
    frames: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteEnd:
    """How a run went.

    ``delivered`` counts results, further attempts too. ``stopped``: it was told to stop, and at least one place of
    the plan is not done (or was about to be tried again). ``left_alone`` are providers that refused everybody, with
    the number of episodes that were left out without a call (0 or more); they have no result. ``lost`` are episodes
    whose process was ended from outside; neither have they, and what was kept of them on disk is still there.
    """

    delivered: int
    crashes: tuple[Crash, ...]
    stopped: bool
    left_alone: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0


@dataclass(slots=True)
class _Play:
    """A run that goes on: who is told, and what came so far. ``undone`` are places of the plan."""

    queue: Queue
    done: Callable[[int, EpisodeResult], None]
    again: Callable[[int, EpisodeResult], None]
    stop: threading.Event
    may_start: Callable[[], bool]
    undone: set[int]
    stopping: Stopping | None = None
    fewer: Callable[[int], None] = lambda _: None
    delivered: int = 0
    crashes: list[Crash] = field(default_factory=list)
    refusal: InputError | None = None
    lost: int = 0
    halted: bool = False

    @property
    def may_go_on(self) -> bool:
        """Whether anything new may start; that a ceiling says no is remembered."""
        if self.refusal is not None or self.stop.is_set():
            return False
        self.halted = self.halted or not self.may_start()
        return not self.halted

    def look(self, result: EpisodeResult) -> None:
        """Let go of what nobody needs any more, now that a place of the plan is done."""
        receipt, stopping = result.receipt, self.stopping
        if stopping is None or result.log.resumable or receipt.outcome.status == "cancelled":
            return
        if stopping.over(receipt.scenario, receipt.actor.ref, receipt.trial, receipt.verdict):
            gone = self.queue.keep(lambda job: stopping.needs(job.actor.identity.ref, job.trial))
            self.undone -= gone
            self.fewer(len(gone))


def run_suite(
    jobs: Sequence[EpisodeJob],
    *,
    episode: Callable[[EpisodeJob], EpisodeResult],
    jobs_at_once: int,
    done: Callable[[int, EpisodeResult], None],
    stop: threading.Event,
    care: Care | None = None,
    may_start: Callable[[], bool] = lambda: True,
    again: Callable[[int, EpisodeResult], None] | None = None,
    pool: Pool | None = None,
    before: Sequence[EpisodeResult] = (),
    pacing: Pacing | None = None,
    stopping: Stopping | None = None,
    fewer: Callable[[int], None] = lambda _: None,
) -> SuiteEnd:
    """Run all jobs, at most ``jobs_at_once`` at a time, and hand each result with its place in the plan to ``done``.

    They are played by ``episode`` on threads of this process, or by ``pool``, which stays the caller's.

    A result after which the place is tried once more, under the next attempt, goes to ``again`` instead (``done``
    where there is none). Both are called by the calling thread, as episodes finish. Once ``stop`` is set or
    ``may_start`` says no nothing new starts, what is in flight is finished, and an episode that was cancelled, or
    refused by the run's ceiling, counts as not run where it cost nothing or is kept on disk. A bug in one episode is
    kept as a Crash and harms no other. ``before`` are results of this run from before its process was killed: refusals
    in a row are counted on from there. ``pacing`` holds back episodes of a provider that wants fewer at once, before
    they are begun, so that their own time does not run yet. ``stopping`` lets go of what nobody needs any more, and
    ``fewer`` is told how many episodes those are. Raises the first InputError that an episode raised, after
    those in flight ended, and whatever ``done`` raises.
    """
    care = care or Care(retries=0)
    queue = Queue(jobs, care, before, pacing, in_rounds=stopping is not None)
    play = _Play(queue, done, again or done, stop, may_start, set(range(len(jobs))), stopping, fewer)
    flight: dict[Future[EpisodeResult | None], Entry] = {}
    ended = SimpleQueue[Future[EpisodeResult | None]]()
    with nullcontext(pool) if pool is not None else closing(_Threads(episode, jobs_at_once, stop)) as players:
        try:
            while True:
                while len(flight) < jobs_at_once and play.may_go_on:
                    entry = play.queue.start()
                    if entry is None:
                        break
                    future = players.submit(entry.index, entry.job, play.queue.pause_s(entry))
                    flight[future] = entry
                    future.add_done_callback(ended.put)
                if not flight:
                    break
                together = [ended.get()]
                while not ended.empty():
                    together.append(ended.get())
                for future in sorted(together, key=lambda one: flight[one].index):
                    _collect(future, flight.pop(future), play)
        except BaseException:
            stop.set()
            raise
    if play.refusal is not None:
        raise play.refusal
    stopped = (stop.is_set() or play.halted) and bool(play.undone)
    return SuiteEnd(play.delivered, tuple(play.crashes), stopped, play.queue.left_alone, play.lost)


class _Threads:
    """Threads of this process; they wait together and compute one at a time."""

    def __init__(
        self, episode: Callable[[EpisodeJob], EpisodeResult], jobs_at_once: int, stop: threading.Event
    ) -> None:
        self._episode, self._stop = episode, stop
        self._stack = ExitStack()
        self._stack.enter_context(rare_collections())
        self._pool = self._stack.enter_context(ThreadPoolExecutor(jobs_at_once, thread_name_prefix="episode"))

    def submit(self, _: int, job: EpisodeJob, pause_s: float) -> Future[EpisodeResult | None]:
        return self._pool.submit(self._after, pause_s, job)

    def _after(self, pause_s: float, job: EpisodeJob) -> EpisodeResult | None:
        return None if pause_s and self._stop.wait(pause_s) else self._episode(job)

    def close(self) -> None:
        self._stack.close()


def _collect(future: Future[EpisodeResult | None], entry: Entry, play: _Play) -> None:
    error = future.exception()
    result = future.result() if error is None else None
    if result is not None and _cut_off(result, play):
        result = None
    repeated = play.queue.ended(entry, result)
    if result is not None:
        (play.again if repeated else play.done)(entry.index, result)
        play.delivered += 1
        if not repeated:
            play.undone.discard(entry.index)
            play.look(result)
    elif isinstance(error, InputError):
        play.refusal = play.refusal or error
    elif isinstance(error, WorkerGoneError):
        play.lost += 1
    elif isinstance(error, Exception):
        play.crashes.append(_crash(entry.index, error))
        play.undone.discard(entry.index)
    elif error is not None:
        raise error


def _cut_off(result: EpisodeResult, play: _Play) -> bool:
    """Whether an episode counts as not run: it was cancelled or refused, and cost nothing or is kept on disk."""
    outcome = result.receipt.outcome
    refused = outcome.reason == "quota_refused"
    if not refused and not (play.stop.is_set() and outcome.status == "cancelled"):
        return False
    if not result.log.resumable and _is_paid_for(result):
        return False
    play.halted = play.halted or refused
    return True


def _is_paid_for(result: EpisodeResult) -> bool:
    """Whether a provider may have been paid for what an episode asked it."""
    return result.receipt.actor.kind == "live" and any(row.status != "not_sent" for row in result.log.attempts)


def _crash(index: int, error: Exception) -> Crash:
    if isinstance(error, WorkerCrashError):
        kind, frames = error.kind, error.frames
    else:
        found = traceback.extract_tb(error.__traceback__)
        kind, frames = type(error).__name__, tuple(f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in found)
    place = f"{kind} at {frames[-1]}" if frames else kind
    return Crash(index, place, frames)
