"""Plays a plan into a run folder and prints what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from harness import wiring
from harness.cli.ceilings import higher, refuse_too_small
from harness.cli.conclusion import of_receipts, of_suite, tell_beside, tell_left_out, why_stopped
from harness.cli.damaged import tell_damaged
from harness.cli.decision_told import as_text
from harness.cli.early import stopping_of
from harness.cli.exit_codes import ExitCode
from harness.cli.folder import as_json, starting_manifest, summary, timestamp
from harness.cli.judging import ended
from harness.cli.order import Order
from harness.cli.output import colored, folded, note, say, say_json, width
from harness.cli.remaining import play_remaining
from harness.cli.reporting import write_reports
from harness.cli.resuming import Resumed, keep, kept, resumed
from harness.cli.waiting import tell_waiting
from harness.clock import SystemClock, new_run_id
from harness.errors import HarnessError, InputError, RedactionError, UsageError
from harness.qualification.not_needed import told_early
from harness.receipt import RunStore, go_on, last_attempts, read_run
from harness.redaction import SecretGuard
from harness.schema.confinement import Confinement, weakest
from harness.schema.decision import Decision
from harness.schema.early import EarlyStop
from harness.schema.run import EpisodeJob, Manifest, RunView
from harness.wiring.indexing import note_run
from harness.wiring.places import own_file
from harness.wiring.quarantine import quarantine

__all__ = ["play"]


def play(settings: wiring.Settings, jobs: Sequence[EpisodeJob], order: Order) -> ExitCode:
    """Run all jobs and write the run folder; the exit code is that of the gravest thing that happened.

    Raises InputError and StoreError; what was finished until then is in the folder.
    """
    wiring.refuse_ordinary_keys(settings, jobs)
    clock = SystemClock()
    standing = quarantine(settings, clock.now(), wiring.scenarios)
    places = {(job.loaded.scenario.id, job.actor.identity.ref) for job in jobs}
    guard = wiring.secret_guard(settings, [job.actor for job in jobs])
    before = None if order.resume is None else _resumed(order.resume, jobs, order)
    stopping = stopping_of(jobs, None if before is None else before.left) if order.early else None
    run_id = new_run_id(clock.now()) if before is None else before.manifest.run_id
    folder = order.resume or order.out or settings.reports / run_id
    manifest = starting_manifest(
        jobs,
        order.options,
        run_id=run_id,
        created_at=timestamp(clock) if before is None else before.manifest.created_at,
        tolerate_stale=order.tolerate_stale,
        shard=order.shard,
        max_cost_usd=order.ceilings.cost_usd,
        confinement=_held_throughout(order, before),
        early=None if stopping is None else EarlyStop(alpha=stopping.alpha, planned=stopping.planned),
        quarantine=standing.applied(places),
        files={job.loaded.scenario.id: own_file(settings, job.loaded) for job in jobs},
    )
    # what a live model said is paid for: it survives a power cut too; a script is simply played again
    sync = any(job.actor.identity.kind == "live" for job in jobs)
    left = tuple(enumerate(jobs)) if before is None else before.left.jobs
    with order.responses.held(order.resume) as held:
        held.refuse_left_out({job.key for _, job in left})
        refuse_too_small([job for _, job in left], order.ceilings, order.resume)
        if before is not None:
            before.tell()
        if order.judging is not None:
            order.judging.refuse(str(folder), manifest, jobs)
        with _begun(settings, folder, manifest, guard, sync=sync, before=before, order=order) as store:
            with _finished(store, clock):
                if before is not None:
                    before.keep_damaged()
                    before.forget_finished()
                    if order.asked is not None:
                        keep(store, order.asked)
                earlier = () if before is None else before.left.before
                end, reached = play_remaining(
                    settings, left, order, store, guard, held=held, before=earlier, stopping=stopping
                )
                found_early = None if stopping is None else stopping.told
                store.tell_stopped(why_stopped(end, reached, len(jobs)), found_early)
            broken_off = end.stopped and reached is None
            view, decisions, undecided = _decided(order, folder, read_run(folder), is_broken_off=broken_off)
            write_reports(store, order.reporters, view, settings.reports)
    tell_left_out(view)
    _print(settings, view, folder, order, decisions)
    _tell_rest(settings, view, folder, standing.remarks(places))
    found = order.playing.tell(tolerate_strays=order.tolerate_stale)
    command = go_on(folder, view.manifest, most=higher(reached, order.ceilings))
    besides = of_suite(end, reached, len(last_attempts(view.receipts)), len(jobs), folder, command=command)
    return ended({*found, *undecided, *of_receipts(view, len(jobs)), *besides}, decisions)


def _tell_rest(settings: wiring.Settings, view: RunView, folder: Path, remarks: Iterable[str]) -> None:
    """What is to be done about the run, and what went wrong beside it."""
    tell_waiting(settings, view, folder)
    tell_damaged(view, folder)
    tell_beside(view)
    for remark in filter(None, (*remarks, note_run(folder, settings.reports, view))):
        note(f"harness: {remark}")


def _resumed(folder: Path, jobs: Sequence[EpisodeJob], order: Order) -> Resumed:
    return resumed(folder, jobs, retries=order.care.retries, replay_damaged=order.replay_damaged)


def _held_throughout(order: Order, before: Resumed | None) -> Confinement:
    """What holds now, and held when the run began."""
    earlier = [] if before is None else [before.manifest.enforcement.confinement]
    return weakest([order.confinement, *earlier])


def _begun(
    settings: wiring.Settings,
    folder: Path,
    manifest: Manifest,
    guard: SecretGuard,
    *,
    sync: bool,
    before: Resumed | None,
    order: Order,
) -> RunStore:
    """The folder of a new run, or of one that is gone on with."""
    try:
        if before is None:
            return RunStore(folder, manifest, guard, sync=sync, private=kept(order.asked))
        aside = partial(before.set_aside, settings, guard)
        return RunStore(folder, manifest, guard, sync=sync, finished=before.left.finished, aside=aside, lock=order.lock)
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


def _decided(
    order: Order, folder: Path, view: RunView, *, is_broken_off: bool
) -> tuple[RunView, tuple[Decision, ...], set[ExitCode]]:
    """A run with what the policy says, where there is one, and the code where it cannot.

    What was broken off is no whole run.
    """
    judging, name = order.judging, str(folder)
    if judging is None:
        return view, (), set()
    if is_broken_off:
        note(f"harness: nothing is decided by {judging.where}: the run was broken off")
        return view, (), set()
    try:
        decisions = judging.decisions({name: view})
    except UsageError as error:
        # what was played is paid for and told all the same
        note(f"harness: {error}")
        return view, (), {ExitCode.BAD_INPUT}
    return judging.told(decisions, name, view), decisions, set()


def _print(settings: wiring.Settings, view: RunView, folder: Path, order: Order, decisions: Sequence[Decision]) -> None:
    if order.form == "text":
        written = [reporter.filename for reporter in order.reporters]
        say(summary(view, width=width(), color=colored(settings.environ), folder=folder, written=written))
        for told in told_early(view):
            say(folded(told))
        kept = {entry.key: entry.workspace for entry in view.log if entry.workspace is not None}
        for number, receipt in enumerate(view.receipts, start=1):
            if receipt.key in kept:
                trial = "" if receipt.trial == 1 else f", trial {receipt.trial}"
                episode = f"{number}. {receipt.scenario}, {receipt.actor.ref}{trial}"
                say(f"workspace kept of {episode}: {kept[receipt.key]}")
    judging = order.judging if decisions else None
    if order.form == "json":
        say_json({**(judging.as_json(decisions) if judging else {}), **as_json(view, folder)}, indent=2)
    elif judging is not None:
        told = as_text(view.decisions)
        # receipts come line by line, and nothing else stands between them
        if order.form == "text":
            say(f"\n{told}")
        else:
            note(told)
