"""The processes that play a plan, where it is not played on threads of this one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from harness import catalog, wiring
from harness.cli.order import Order
from harness.meter import Ceiling
from harness.ports import Pool
from harness.receipt import RunStore
from harness.schema.run import EpisodeJob, LateRow
from harness.wiring.pacing import Paces

__all__ = ["Shared", "at_hand", "endings", "played_by"]


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes of the run that is kept in ``store`` share: it stays here, whoever plays."""

    store: RunStore
    ceiling: Ceiling
    paces: Paces
    late_row: Callable[[LateRow], None]
    keep_output: Callable[[bytes], str | None] | None
    stop: threading.Event


def at_hand(order: Order, jobs: Sequence[EpisodeJob]) -> int:
    """How many episodes are given out at a time."""
    # each process of scripts has its next episode at hand while the last one's result is kept
    return order.jobs_at_once * (2 if order.pool == "processes" and not _is_live(jobs) else 1)


@contextmanager
def played_by(
    order: Order, settings: wiring.Settings, jobs: Sequence[EpisodeJob], shared: Shared
) -> Iterator[Pool | None]:
    """The pool of processes where one was asked for; its players are sessions of their own."""
    if order.pool != "processes":
        yield None
        return
    made = _with_threads if _is_live(jobs) else _one_at_a_time
    pool = made(order, settings, jobs, shared)
    try:
        yield pool
    except BaseException:
        pool.cancel()
        raise
    finally:
        pool.close()


def _one_at_a_time(order: Order, settings: wiring.Settings, jobs: Sequence[EpisodeJob], shared: Shared) -> Pool:
    """For scripts and recordings, which compute."""
    player = partial(wiring.Session, settings, None, None, shared.keep_output)
    pool: Pool = catalog.module("pools", "processes").build(jobs, order.jobs_at_once, player)
    return pool


def _with_threads(order: Order, settings: wiring.Settings, jobs: Sequence[EpisodeJob], shared: Shared) -> Pool:
    """For live models, which are waited for: a process a processor, and threads in each."""
    from harness.wiring.sharing import Clerk, news_to  # noqa: PLC0415  (no help page has to wait for what plays episodes)
    from harness.wiring.worker import Work, opener  # noqa: PLC0415  (as above)

    actors = tuple({job.actor.identity.digest: job.actor for job in jobs}.values())
    work = Work(
        settings,
        actors,
        shared.store.folder,
        order.keep,
        is_new=order.resume is None,
        in_versions=shared.store.in_versions,
    )
    processes = min(os.cpu_count() or 1, 8, order.jobs_at_once)
    pool: Pool = catalog.module("pools", "workers").build(
        jobs,
        [len(range(first, order.jobs_at_once, processes)) for first in range(processes)],
        opener(work),
        clerk_of=partial(Clerk, ceiling=shared.ceiling, paces=shared.paces),
        news=news_to(shared.paces, shared.late_row),
        stop=shared.stop,
    )
    return pool


def endings(session: wiring.Session, pool: Pool | None) -> tuple[Callable[[], None], Callable[[], None]]:
    """How to cancel, and how to shut down, what this process plays and what the pool does where there is one."""

    def cancel() -> None:
        session.cancel()
        if pool is not None:
            pool.cancel()

    def shut_down() -> None:
        session.shut_down()
        if pool is not None:
            pool.shut_down()

    return cancel, shut_down


def _is_live(jobs: Sequence[EpisodeJob]) -> bool:
    return any(job.actor.identity.kind == "live" for job in jobs)
