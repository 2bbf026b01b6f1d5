"""Plays a plan into a run folder and prints what came of it."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from harness import recording, wiring
from harness.cli.cast import Cast
from harness.cli.exit_codes import BY_VERDICT, ExitCode, gravest
from harness.cli.folder import starting_manifest, summary, timestamp
from harness.cli.interrupt import stoppable
from harness.cli.output import colored, note, say, say_json, width
from harness.cli.progress import progress
from harness.cli.resuming import Asked, keep, resumed
from harness.clock import SystemClock, new_run_id
from harness.errors import HarnessError, InputError, RedactionError, UsageError
from harness.ports import Reporter
from harness.receipt import RunStore, keep_output, line, read_run
from harness.redaction import SecretGuard
from harness.schema.base import JsonValue
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult, Manifest, RunView
from harness.suite import SuiteEnd, conclude, is_stale, run_suite
from harness.wiring.indexing import note_run

__all__ = ["Order", "play"]


@dataclass(frozen=True, slots=True)
class Order:
    """What ``harness run`` was told besides what to play. ``out`` None: ``reports/RUN-ID`` below the working folder.

    ``resume`` is the folder of a run that is gone on with; ``asked`` is kept beside a new one, for that.
    """

    options: EpisodeOptions
    reporters: tuple[Reporter, ...]
    form: str
    jobs_at_once: int
    out: Path | None
    keep: Literal["failed", "judged", "all", "none"] = "failed"
    tolerate_stale: bool = False
    playing: Cast = field(default_factory=Cast)
    resume: Path | None = None
    asked: Asked | None = None


@dataclass(slots=True)
class _InOrder:
    """Prints receipts in plan order although episodes finish in another."""

    waiting: dict[int, str] = field(default_factory=dict)
    following: int = 0

    def add(self, index: int, text: str) -> None:
        self.waiting[index] = text
        while self.following in self.waiting:
            say(self.waiting.pop(self.following))
            self.following += 1

    def rest(self) -> None:
        for index in sorted(self.waiting):
            say(self.waiting.pop(index))


def play(settings: wiring.Settings, jobs: Sequence[EpisodeJob], order: Order) -> ExitCode:
    """Run all jobs and write the run folder; the exit code is that of the gravest thing that happened.

    Raises InputError and StoreError; what was finished until then is in the folder.
    """
    wiring.refuse_ordinary_keys(settings, jobs)
    clock = SystemClock()
    guard = wiring.secret_guard(settings, [job.actor for job in jobs])
    before = None if order.resume is None else resumed(order.resume, jobs, guard)
    run_id = new_run_id(clock.now()) if before is None else before.manifest.run_id
    folder = order.resume or order.out or settings.cwd / "reports" / run_id
    manifest = starting_manifest(
        jobs,
        order.options,
        run_id=run_id,
        created_at=timestamp(clock) if before is None else before.manifest.created_at,
        tolerate_stale=order.tolerate_stale,
    )
    # what a live model said is paid for: it survives a power cut too; a script is simply played again
    sync = any(job.actor.identity.kind == "live" for job in jobs)
    left = tuple(enumerate(jobs)) if before is None else before.left.jobs
    finished = None if before is None else before.left.finished
    with _begun(folder, manifest, guard, sync=sync, finished=finished) as store:
        with _finished(store, clock):
            if before is None and order.asked is not None:
                keep(store, order.asked)
            end = _episodes(settings, left, order, store, guard)
        view = read_run(folder)
        for reporter in order.reporters:
            store.write_report(reporter.filename, reporter.render(view))
    _print(settings, view, folder, order)
    problem = note_run(folder, settings.cwd / "reports")
    if problem is not None:
        note(f"harness: {problem}")
    found = order.playing.tell(tolerate_strays=order.tolerate_stale)
    return gravest({*found, _conclusion(view, end, len(jobs), folder, tolerate_stale=order.tolerate_stale)})


def _begun(
    folder: Path,
    manifest: Manifest,
    guard: SecretGuard,
    *,
    sync: bool,
    finished: Sequence[tuple[int, EpisodeResult]] | None,
) -> RunStore:
    try:
        return RunStore(folder, manifest, guard, sync=sync, finished=finished)
    except RedactionError:
        raise UsageError("a key is an ordinary text: it occurs in the run's own manifest; set a real key") from None


@contextmanager
def _finished(store: RunStore, clock: SystemClock) -> Iterator[None]:
    """Lay out what was finished, also where something is raised; then that is what is told.

    Of a run that was refused before any episode was finished nothing stays.
    """
    try:
        yield
    except InputError:
        if not store.discard():
            _lay_out(store, clock)
        raise
    except BaseException:
        _lay_out(store, clock)
        raise
    store.finish(timestamp(clock))


def _lay_out(store: RunStore, clock: SystemClock) -> None:
    """While something else is being raised, which is what counts."""
    try:
        store.finish(timestamp(clock))
    except HarnessError as error:
        note(f"harness: {error}")


def _episodes(
    settings: wiring.Settings, left: Sequence[tuple[int, EpisodeJob]], order: Order, store: RunStore, guard: SecretGuard
) -> SuiteEnd:
    """Play what is left of the plan: jobs with their places in it."""
    stop, printed = threading.Event(), _InOrder()
    jobs = [job for _, job in left]
    kept = wiring.keeping(settings, [job.actor for job in jobs], store.folder / "recordings", order.keep, mode=0o700)
    outputs = None if order.keep == "none" else partial(keep_output, store.folder, guard=guard)
    with (
        wiring.Session(settings, kept, store.folder / "episodes", outputs) as session,
        stoppable(stop, session.cancel),
        # receipts that come line by line are progress enough, and a bar would break into them
        progress(len(jobs), hidden=order.form == "jsonl") as advance,
    ):

        def done(index: int, result: EpisodeResult) -> None:
            try:
                store.add(left[index][0], result)
                if not result.log.resumable:
                    session.forget(jobs[index])
                if order.form == "jsonl":
                    printed.add(index, line(result.receipt))
            except HarnessError:
                session.cancel()
                raise
            advance(result)

        try:
            end = run_suite(jobs, episode=session.run, jobs_at_once=order.jobs_at_once, done=done, stop=stop)
        finally:
            recording.prune(kept.folder)
    printed.rest()
    return end


def _print(settings: wiring.Settings, view: RunView, folder: Path, order: Order) -> None:
    if order.form == "text":
        written = [reporter.filename for reporter in order.reporters]
        say(summary(view, width=width(), color=colored(settings.environ), folder=folder, written=written))
        kept = {entry.key: entry.workspace for entry in view.log if entry.workspace is not None}
        for number, receipt in enumerate(view.receipts, start=1):
            if receipt.key in kept:
                trial = "" if receipt.trial == 1 else f", trial {receipt.trial}"
                episode = f"{number}. {receipt.scenario}, {receipt.actor.ref}{trial}"
                say(f"workspace kept of {episode}: {kept[receipt.key]}")
    elif order.form == "json":
        receipts: list[JsonValue] = [receipt.model_dump(mode="json") for receipt in view.receipts]
        say_json({"receipts": receipts, "verdicts": dict(view.manifest.verdicts)}, indent=2)


def _conclusion(view: RunView, end: SuiteEnd, total: int, folder: Path, *, tolerate_stale: bool) -> ExitCode:
    different = sum(entry.shadow_differences for entry in view.log)
    if different:
        note(f"harness: {different} warm calls of the control plane differ from cold ones; use --executor cold")
    stale = [receipt for receipt in view.receipts if is_stale(receipt)]
    codes = {BY_VERDICT[verdict] for verdict in conclude(view.receipts)}
    if different:
        codes.add(ExitCode.BUG)
    if stale and not tolerate_stale:
        codes.add(ExitCode.DRIFT)
    elif stale:
        note(f"harness: {len(stale)} of {total} recordings no longer fit; they prove nothing until recorded anew")
    for crash in end.crashes:
        note(f"harness: a bug of harness in episode {crash.index + 1} of {total}: {crash.place}")
        codes.add(ExitCode.BUG)
    if end.stopped:
        note(
            f"harness: interrupted; {len(view.receipts)} of {total} episodes are finished and kept in {folder}; "
            f"go on with: harness run --resume {shlex.quote(str(folder))}"
        )
        codes.add(ExitCode.INTERRUPTED)
    return gravest(codes)
