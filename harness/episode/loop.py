"""The only loop: open, turns, close."""

from __future__ import annotations

from contextlib import ExitStack

from harness.episode.close import close
from harness.episode.endings import machine_ending
from harness.episode.latch import Bounds
from harness.episode.open import open_world
from harness.episode.parts import EpisodeParts
from harness.episode.turn import run_turn
from harness.episode.world import World
from harness.errors import ControlPlaneError, MachineError, OutOfTimeError, SetupRejectedError
from harness.journal import Journal, MemorySpool
from harness.receipt import line
from harness.schema.outcome import Outcome
from harness.schema.receipt import Receipt
from harness.schema.record import Acknowledged, Closed
from harness.schema.run import EpisodeResult, RunLogEntry
from harness.schema.trace import EpisodeTrace

__all__ = ["run"]


def run(
    parts: EpisodeParts, journal: Journal | None = None, spool: MemorySpool | None = None
) -> tuple[EpisodeResult, EpisodeTrace | None]:
    """Run one episode to one of the endings of the closed taxonomy; always a receipt, always a clean workspace.

    With the journal and spool of an episode that is closed already, its stored receipt is returned: nothing is
    built, asked or run, whatever has changed since (runner specification E4). The trace is None where the episode
    was not played or could not be opened. Raises only what is no ending of an episode: bad input (InputError), an
    interruption, or a bug.
    """
    journal, spool = journal or Journal(), spool or MemorySpool()
    started, began = parts.clock.now(), parts.clock.monotonic()
    problem: str | None = None
    by_plane = False
    world: World | None = None
    receipt = _stored(journal, spool)
    with ExitStack() as stack:
        stack.callback(parts.actor.close)
        if receipt is None:
            try:
                world = open_world(parts, journal, spool, stack)
                outcome = _turns(world)
            except MachineError as error:
                problem, outcome = str(error), machine_ending()
            except OutOfTimeError as error:
                problem, outcome = str(error), Outcome(status="limit_exceeded", reason="duration", detail="deadline")
            except SetupRejectedError as error:
                problem, by_plane = str(error), error.by_plane
                outcome = Outcome(status="rejected", reason="setup_rejected")
            except ControlPlaneError as error:
                problem, outcome = str(error), _broken(parts)
            receipt = _closed(parts, journal, spool, world, outcome, by_plane=by_plane)
        log = RunLogEntry(
            key=receipt.key,
            started_at=started.isoformat(timespec="milliseconds"),
            seconds=parts.clock.monotonic() - began,
            executor=parts.job.options.executor,
            attempts=tuple(world.attempts) if world else (),
            plane_calls=world.plane_calls if world else 0,
            plane_seconds=world.plane_seconds if world else 0.0,
            problem=problem or (world.problem if world else None),
            dropped_observers=journal.dropped,
            workspace=str(world.workspace.root) if world and parts.job.options.keep_workspace else None,
        )
        trace = _trace(world) if world else None
    return EpisodeResult(receipt=receipt, log=log), trace


def _stored(journal: Journal, spool: MemorySpool) -> Receipt | None:
    """The receipt of an episode that is over and was published."""
    digest = journal.state.acknowledged
    return None if digest is None else Receipt.model_validate_json(spool.get(digest))


def _closed(
    parts: EpisodeParts,
    journal: Journal,
    spool: MemorySpool,
    world: World | None,
    outcome: Outcome,
    *,
    by_plane: bool,
) -> Receipt:
    outcome = _looked_at(world, outcome) if world else outcome
    journal.append(Closed(outcome=outcome))
    receipt = close(parts, journal, world, outcome, by_plane=by_plane)
    spool.purge()
    journal.append(Acknowledged(receipt=spool.put(line(receipt).encode("utf-8"))))
    return receipt


def _broken(parts: EpisodeParts) -> Outcome:
    """The control plane could not be run; where we were asked to stop, we may have ended it ourselves."""
    asked = Bounds(parts.cancelled, parts.clock, 0.0).cancellation()
    return asked or Outcome(status="failed", reason="tool_error", detail="control_plane")


def _looked_at(world: World, outcome: Outcome) -> Outcome:
    """Observe the world a last time; the outcome changes only where that cannot be done."""
    try:
        world.observe_changes("unknown")
    except MachineError as error:
        world.problem = world.problem or str(error)
        return machine_ending()
    return outcome


def _turns(world: World) -> Outcome:
    while True:
        outcome = run_turn(world)
        if outcome is not None:
            return outcome


def _trace(world: World) -> EpisodeTrace:
    files = {
        path: text
        for tool in world.scenario.tool.values()
        for path in tool.content
        if (text := world.file_text(path)) is not None
    }
    return EpisodeTrace(
        bound=world.scenario,
        requests=tuple(world.requests),
        steps=tuple(world.trace),
        files=files,
        kinds_of=world.kinds_of,
    )
