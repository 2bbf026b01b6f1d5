"""The only loop: open, turns, close."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from harness import meter
from harness.episode.beside import late_sink
from harness.episode.budgets import at_start, used
from harness.episode.classifying import codes_found, evidence_to_keep
from harness.episode.close import close
from harness.episode.durable import DurableEpisode, DurablePlace
from harness.episode.end_state import ending_document
from harness.episode.endings import machine_ending
from harness.episode.erring import in_our_words
from harness.episode.latch import Bounds
from harness.episode.late import LateBook
from harness.episode.ledger import told_again
from harness.episode.open import open_world
from harness.episode.operations import with_operations
from harness.episode.parts import EpisodeParts
from harness.episode.refusing import Played, could_not_write, lost_records, refused, unwritten
from harness.episode.settling import account_late, bill
from harness.episode.times import Times
from harness.episode.turn import run_turn
from harness.episode.verdict import scenario_rule
from harness.episode.waiting import WAITS
from harness.episode.world import World
from harness.errors import (
    AccountingError,
    ControlPlaneError,
    MachineError,
    OpeningRefusedError,
    OutOfTimeError,
    SetupRejectedError,
    StorageError,
)
from harness.journal import Journal, MemorySpool, Spool, as_kept, fold, recovery_class, recovery_flags
from harness.receipt import line
from harness.schema.base import Digest
from harness.schema.finding import RawFinding
from harness.schema.outcome import Outcome
from harness.schema.receipt import Receipt
from harness.schema.record import Acknowledged, Record
from harness.schema.run import EpisodeResult, RecoveryClass, RunLogEntry
from harness.schema.trace import EpisodeTrace, TraceChange

__all__ = ["run"]


def run(
    parts: EpisodeParts, journal: Journal | None = None, spool: Spool | None = None
) -> tuple[EpisodeResult, EpisodeTrace | None]:
    """Run one episode to one of the endings of the closed taxonomy; always a receipt, always a clean workspace.

    With the journal and spool of an episode that is closed already, its stored receipt is returned: nothing is
    built, asked or run, whatever has changed since (runner specification E4). The trace is None where the episode
    was not played or could not be opened. Raises only what is no ending of an episode: bad input (InputError), an
    interruption, or a bug.
    """
    started, began = parts.clock.now(), parts.clock.monotonic()
    with ExitStack() as stack:
        stack.callback(parts.actor.close)
        if parts.pace is not None:
            stack.callback(parts.pace.leave)
        late = LateBook(late_sink(parts))
        stack.callback(late.leave)
        journal, durable = journal or Journal(), None
        try:
            durable = None if parts.durable is None else _opened(parts, parts.durable, stack)
            if durable is not None:
                journal, spool = durable.journal, durable.spool
            played = _played(parts, journal, spool or MemorySpool(), stack, durable, late=late)
        except OpeningRefusedError as error:
            played = refused(parts, error, journal, durable)
        except StorageError as error:
            played = could_not_write(parts, error, journal, durable)
        receipt, world = played.receipt, played.world
        seconds = parts.clock.monotonic() - began
        before = Times() if durable is None else durable.times
        if durable is not None and played.resumable:
            before.keep("driver", seconds)
        log = RunLogEntry(
            key=receipt.key,
            started_at=started.isoformat(timespec="milliseconds"),
            seconds=before.seconds + seconds,
            executor=parts.job.options.executor,
            attempts=bill(world) if world else played.ledger,
            plane_calls=before.plane_calls + (world.plane_calls if world else 0),
            plane_seconds=before.plane_seconds + (world.plane_seconds if world else 0.0),
            problem=played.problem or (world.problem if world else None),
            dropped_observers=world.journal.dropped if world else (),
            recovery=_flags(parts, world, () if durable is None else durable.stored),
            remarks=tuple(filter(None, (world.bounds.trouble,))) if world else (),
            channels=dict(world.channels) if world else {},
            spilled=sum(step.spilled for step in world.state.steps) if world else 0,
            resumable=played.resumable,
            recovery_class=played.recovery or _recovery(world, played.receipt.outcome),
            at_least=played.at_least,
            active_s=_active_s(world) if world else None,
            unavailable=meter.unknown(world.limits, used(world)) if world else (),
            output=world.output if world else None,
            workspace=str(world.workspace.root) if world and parts.job.options.keep_workspace else None,
        )
        trace = _trace(world, played.receipt.outcome) if world else None
    return EpisodeResult(receipt=receipt, log=log), trace


def _opened(parts: EpisodeParts, place: DurablePlace, stack: ExitStack) -> DurableEpisode:
    durable = DurableEpisode(place, parts.clock)
    stack.callback(durable.close)
    problem = lost_records(parts, durable)
    if problem is not None:
        raise OpeningRefusedError("journal_integrity_mismatch", problem)
    return durable


def _played(  # noqa: C901  (one handler an ending)
    parts: EpisodeParts,
    journal: Journal,
    spool: Spool,
    stack: ExitStack,
    durable: DurableEpisode | None,
    *,
    late: LateBook,
) -> Played:
    """Open, turns, close; or the stored receipt of an episode that is over and was published (E4)."""
    before = journal.state if durable is None else fold(durable.stored)
    times = {} if durable is None else durable.times.attempts
    if before.acknowledged is not None:
        return Played(
            _stored(spool, before.acknowledged),
            ledger=tuple(told_again(row, parts.job.actor.price, times) for row in before.usage),
            recovery=recovery_class(before),
        )
    if parts.quota is not None and not parts.quota.admits():
        return unwritten(parts, Outcome(status="rejected", reason="quota_refused"), "the run's ceiling is reached")
    problem: str | None = None
    by_plane = False
    found: tuple[RawFinding, ...] = ()
    world: World | None = None
    try:
        world = open_world(parts, journal, spool, stack, durable)
        stack.callback(world.values.close)
        world.late = late
        if parts.job.pays_again:
            world.flag("duplicate_risk")
        outcome = _turns(world)
    except MachineError as error:
        problem, outcome = str(error), machine_ending()
    except OutOfTimeError as error:
        problem, outcome = str(error), Outcome(status="limit_exceeded", reason="duration", detail="deadline")
    except SetupRejectedError as error:
        problem, by_plane, found = str(error), error.by_plane, error.found
        outcome = Outcome(status="rejected", reason="setup_rejected")
    except ControlPlaneError as error:
        problem, outcome = str(error), _broken(parts)
    except AccountingError as error:
        problem, outcome = str(error), Outcome(status="failed", reason="accounting_error")
    if durable is not None and _stays_open(parts, outcome):
        return _left_open(parts, durable, world, outcome, problem)
    outcome = _looked_at(world, outcome) if world else outcome
    account_late(world)
    if durable is not None and outcome.reason == "reconciliation_required":
        journal.suspend(outcome)
        return _left_open(parts, durable, world, outcome, problem)
    outcome = journal.close(outcome)
    late.forget_texts()
    receipt = close(parts, journal, world, outcome, by_plane=by_plane, refused=found)
    kept = spool.put(line(receipt).encode("utf-8"))
    journal.append(Acknowledged(receipt=kept))
    if durable is None:
        spool.purge(keep=kept)
    else:
        durable.finish(kept)
    return Played(receipt, world, problem)


def _stays_open(parts: EpisodeParts, outcome: Outcome) -> bool:
    """Whether an episode on disk is gone on with later; one that waits is not where its scenario judges that."""
    if outcome.reason in WAITS:
        return not scenario_rule(parts.job.loaded.scenario, outcome).is_final
    return outcome.status == "cancelled" or outcome.reason == "quota_refused"


def _left_open(
    parts: EpisodeParts,
    durable: DurableEpisode,
    world: World | None,
    outcome: Outcome,
    problem: str | None,
) -> Played:
    """Not over: it stays on disk as it is, to be gone on with, answered or decided about."""
    journal = durable.journal
    _ = journal.ahead  # what came from outside meanwhile counts
    if outcome.status == "suspended":
        durable.suspend(parts.clock.now())
    elif outcome.reason == "quota_refused":
        durable.hold(parts.clock.now(), len(journal.payloads))
    return Played(close(parts, journal, world, outcome), world, problem, resumable=True)


def _stored(spool: Spool, digest: Digest) -> Receipt:
    try:
        return as_kept(Receipt, spool.get(digest), "its receipt")
    except KeyError as error:
        raise OpeningRefusedError("journal_integrity_mismatch", "the receipt that it names is not kept") from error


def _recovery(world: World | None, outcome: Outcome) -> RecoveryClass | None:
    """By the journal that was driven; one that was never opened tells nothing, but that its time is over."""
    if world is not None:
        return recovery_class(world.state)
    return "restart_required" if outcome.reason == "deadline_passed_before_start" else None


def _flags(parts: EpisodeParts, world: World | None, stored: Sequence[Record]) -> tuple[str, ...]:
    """What this driver did to go on with the episode, and what those before it did, of which the journal tells."""
    told = world.journal.payloads if world else [record.payload for record in stored]
    before = [flag for flag in recovery_flags(told) if flag != "repeated_idempotent" or _repeats(parts, world)]
    pays_again = ("duplicate_risk",) if parts.job.pays_again and (world or stored) else ()
    return tuple(dict.fromkeys((*(world.flags if world else ()), *pays_again, *before)))


def _repeats(parts: EpisodeParts, world: World | None) -> bool:
    """Whether a call that was cut off reached beyond the workspace, as far as that is known, and was repeated."""
    return parts.job.options.repeat_idempotent and (world is None or not world.plane.confined_to_fixture)


def _broken(parts: EpisodeParts) -> Outcome:
    """The control plane could not be run; where we were asked to stop, we may have ended it ourselves."""
    asked = Bounds(parts.cancelled, parts.clock, 0.0, shutdown=parts.shutdown).cancellation()
    return asked or Outcome(status="failed", reason="tool_error", detail="control_plane")


def _looked_at(world: World, outcome: Outcome) -> Outcome:
    """Observe the world a last time; the outcome changes only where that cannot be done."""
    try:
        world.observe_changes("unknown")
        plane = with_operations(world.plane)
        if plane is not None:
            with in_our_words():
                world.plane_state = plane.snapshot()
                world.received = tuple(plane.received()) if world.scenario.classify else None
    except MachineError as error:
        world.problem = world.problem or str(error)
        return machine_ending()
    except ControlPlaneError as error:
        world.problem = world.problem or str(error)
        return Outcome(status="failed", reason="tool_error", detail="control_plane")
    return outcome


def _turns(world: World) -> Outcome:
    stop = at_start(world)
    if stop is not None:
        return stop
    while True:
        outcome = run_turn(world)
        if outcome is not None:
            return outcome


def _active_s(world: World) -> float | None:
    return None if world.limits.active_s is None else world.state.active_ms / 1000


def _trace(world: World, outcome: Outcome) -> EpisodeTrace:
    files = {
        path: text
        for tool in world.scenario.command_tools.values()
        for path in tool.content
        if (text := world.file_text(path)) is not None
    }
    return EpisodeTrace(
        bound=world.scenario,
        requests=tuple(world.requests),
        steps=tuple(world.trace),
        files=files,
        kinds_of=world.kinds_of,
        sources=world.sources,
        ending=ending_document(world) if world.scenario.end.check else None,
        changes=tuple(
            TraceChange(path=one.path, change=one.change, by=one.by, allowed=one.allowed) for one in world.changes
        ),
        state=world.plane_state,
        evidence=evidence_to_keep(world, outcome) if world.scenario.classify else None,
        judged=partial(codes_found, world.scenario, world.parts.classifiers),
    )
