"""A pool of threads that runs episodes; only the calling thread sees results."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import InputError
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["Crash", "SuiteEnd", "run_suite"]


@dataclass(frozen=True, slots=True)
class Crash:
    """An episode that ended in a bug of ours: its place in the plan, and where, without any value or message."""

    index: int
    place: str
    frames: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteEnd:
    """How a run went: results delivered, bugs met, and whether it was stopped before the plan was done."""

    delivered: int
    crashes: tuple[Crash, ...]
    stopped: bool


@dataclass(slots=True)
class _Tally:
    delivered: int = 0
    crashes: list[Crash] = field(default_factory=list)
    refusal: InputError | None = None


def run_suite(
    jobs: Sequence[EpisodeJob],
    *,
    episode: Callable[[EpisodeJob], EpisodeResult],
    jobs_at_once: int,
    done: Callable[[int, EpisodeResult], None],
    stop: threading.Event,
    may_start: Callable[[], bool] = lambda: True,
) -> SuiteEnd:
    """Run all jobs, at most ``jobs_at_once`` at a time, and hand each result with its place in the plan to ``done``.

    ``done`` is called by the calling thread, as episodes finish. Once ``stop`` is set or ``may_start`` says no nothing
    new starts, what is in flight is finished, and an episode that was cancelled, or refused by the run's ceiling,
    counts as not run where it cost nothing or is kept on disk.
    A bug in one episode is kept as a Crash and harms no other. Raises the first InputError that an episode raised,
    after those in flight ended, and whatever ``done`` raises.
    """
    tally = _Tally()
    flight: dict[Future[EpisodeResult], int] = {}
    upcoming = iter(enumerate(jobs))
    with ThreadPoolExecutor(max_workers=jobs_at_once, thread_name_prefix="episode") as pool:
        try:
            while True:
                while len(flight) < jobs_at_once and tally.refusal is None and not stop.is_set() and may_start():
                    following = next(upcoming, None)
                    if following is None:
                        break
                    flight[pool.submit(episode, following[1])] = following[0]
                if not flight:
                    break
                for future in sorted(wait(flight, return_when=FIRST_COMPLETED).done, key=flight.__getitem__):
                    _collect(future, flight.pop(future), tally, done, stop)
        except BaseException:
            stop.set()
            raise
    if tally.refusal is not None:
        raise tally.refusal
    return SuiteEnd(tally.delivered, tuple(tally.crashes), tally.delivered + len(tally.crashes) < len(jobs))


def _collect(
    future: Future[EpisodeResult],
    index: int,
    tally: _Tally,
    done: Callable[[int, EpisodeResult], None],
    stop: threading.Event,
) -> None:
    error = future.exception()
    if error is None:
        result = future.result()
        outcome = result.receipt.outcome
        cut_off = outcome.reason == "quota_refused" or (stop.is_set() and outcome.status == "cancelled")
        if cut_off and (result.log.resumable or not _is_paid_for(result)):
            return
        done(index, result)
        tally.delivered += 1
    elif isinstance(error, InputError):
        tally.refusal = tally.refusal or error
    elif isinstance(error, Exception):
        tally.crashes.append(_crash(index, error))
    else:
        raise error


def _is_paid_for(result: EpisodeResult) -> bool:
    """Whether a provider may have been paid for what an episode asked it."""
    return result.receipt.actor.kind == "live" and any(row.status != "not_sent" for row in result.log.attempts)


def _crash(index: int, error: Exception) -> Crash:
    frames = tuple(f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in traceback.extract_tb(error.__traceback__))
    place = f"{type(error).__name__} at {frames[-1]}" if frames else type(error).__name__
    return Crash(index, place, frames)
