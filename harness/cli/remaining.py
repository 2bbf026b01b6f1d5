"""Plays what is left of a plan: every result is kept, printed and counted as it comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from harness import recording, wiring
from harness.cli.ceilings import opened, told
from harness.cli.in_order import InOrder
from harness.cli.interrupt import stoppable
from harness.cli.order import Order
from harness.cli.output import note
from harness.cli.pooling import Shared, at_hand, endings, played_by
from harness.cli.progress import Progressing, progress
from harness.cli.responses import Held
from harness.clock import SystemClock
from harness.errors import HarnessError
from harness.qualification.stopping import Stopping
from harness.receipt import RunStore, keep_late, keep_output, line
from harness.redaction import SecretGuard
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite import SuiteEnd, run_suite
from harness.wiring.pacing import Paces

__all__ = ["play_remaining"]


@dataclass(slots=True)
class _Results:
    """Where results go; ``left`` are jobs with their places in the plan, which results name by their index."""

    left: Sequence[tuple[int, EpisodeJob]]
    store: RunStore
    session: wiring.Session
    cancel: Callable[[], None]
    advance: Progressing
    line_by_line: bool
    printed: InOrder = field(default_factory=InOrder)

    def done(self, index: int, result: EpisodeResult) -> None:
        """The last one of an episode."""
        self._keep(index, result, last=True)
        self.advance(result)

    def again(self, index: int, result: EpisodeResult) -> None:
        """One after which the episode is tried again."""
        self._keep(index, result, last=False)
        self.advance.again(result)

    def _keep(self, index: int, result: EpisodeResult, *, last: bool) -> None:
        place, job = self.left[index]
        try:
            self.store.add(place, result)
            if not result.log.resumable:
                self.session.forget(job.model_copy(update={"attempt": result.receipt.attempt}))
            if self.line_by_line:
                self.printed.add(index, line(result.receipt), last=last)
        except HarnessError:
            self.cancel()
            raise


def play_remaining(
    settings: wiring.Settings,
    left: Sequence[tuple[int, EpisodeJob]],
    order: Order,
    store: RunStore,
    guard: SecretGuard,
    *,
    held: Held,
    before: Sequence[EpisodeResult] = (),
    stopping: Stopping | None = None,
) -> tuple[SuiteEnd, str | None]:
    """Play jobs, given with their places in the plan. Also tells which ceiling ended it, None where none did.

    What was said to episodes that are ``held`` is recorded when nothing can be refused any more; ``before`` are
    results of this run from before it was killed; ``stopping`` may end it early. Raises InputError and StoreError.
    """
    stop = threading.Event()
    jobs = [job for _, job in left]
    kept = _keeping(settings, jobs, order, store)
    line_by_line = order.form == "jsonl"
    outputs = None if order.keep == "none" else partial(keep_output, store.folder, guard=guard)
    late = partial(keep_late, store.folder)
    paces = Paces(SystemClock(), order.care.concurrency, at_once=order.jobs_at_once)
    with (
        opened(store.folder, order.ceilings) as ceiling,
        wiring.Session(
            *(settings, kept, store.folder / "episodes", outputs),
            late_row=late,
            ceiling=ceiling,
            paces=paces,
            is_new=order.resume is None,
        ) as session,
        played_by(order, settings, jobs, Shared(store, ceiling, paces, late, outputs, stop)) as pool,
        stoppable(stop, *(ends := endings(session, pool))),
        _shown(len(jobs), paces, at_most=stopping is not None, hidden=line_by_line) as advance,
    ):
        held.record()
        results = _Results(left, store, session, ends[0], advance, line_by_line)
        try:
            end = run_suite(
                jobs,
                episode=session.run,
                jobs_at_once=at_hand(order, jobs),
                done=results.done,
                stop=stop,
                care=order.care,
                may_start=ceiling.is_open,
                again=results.again,
                pool=pool,
                before=before,
                pacing=paces,
                stopping=stopping,
                fewer=advance.fewer,
            )
        finally:
            recording.prune(kept.folder)
    results.printed.rest()
    for slowed in paces.ended:
        note(f"harness: {slowed}")
    return end, None if stop.is_set() else told(ceiling, order.ceilings)


def _shown(count: int, paces: Paces, *, at_most: bool, hidden: bool) -> AbstractContextManager[Progressing]:
    """How far it is; receipts that come line by line are progress enough, and a bar would break into them."""
    return progress(count, at_most=at_most, hidden=hidden, verdicts=True, beside=lambda: paces.told)


def _keeping(settings: wiring.Settings, jobs: Sequence[EpisodeJob], order: Order, store: RunStore) -> wiring.Keeping:
    return wiring.keeping(
        *(settings, [job.actor for job in jobs], store.folder / "recordings", order.keep),
        mode=0o700,
        in_versions=store.in_versions,
    )
