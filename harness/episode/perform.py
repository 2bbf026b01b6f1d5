"""C12 of a call: run it, or take what it came to before; and the endings of what could not be run to its end."""

from __future__ import annotations

import json
import signal

from harness.episode.answer import HINTED
from harness.episode.erring import UNCERTAIN
from harness.episode.execute import answer_clock, run_call, run_help, run_operation, run_reads
from harness.episode.hands import CallInHand, CallStop
from harness.episode.idempotency import call_key, has_one_effect
from harness.episode.observing import result_room
from harness.episode.reading_on import read_on
from harness.episode.world import World
from harness.errors import ControlPlaneError, MachineError
from harness.journal import as_kept
from harness.schema.base import Digest
from harness.schema.command import ParsedCommand
from harness.schema.evidence import Writer
from harness.schema.observation import Observation
from harness.schema.outcome import Outcome
from harness.schema.record import Decided, OpReceipt, OpStarted, OpUnknown
from harness.schema.rules import KindSpec

__all__ = ["not_run", "perform"]

#: Signals that no program sends itself by a fault of its own: out of memory, a limit of time or size, a person.
_FROM_OUTSIDE = frozenset(
    (signal.SIGKILL, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
)


def perform(world: World, hand: CallInHand) -> CallStop | None:
    """C12: run it under its bounds; a control plane that cannot be run at all is nobody's answer.

    A program that failed where the machine lacks something is judged by nobody: the want is measured, so nothing that
    a program prints can feign it.
    """
    if world.reads_more(hand.call.name):
        if _done_before(world, hand, "tool") is None:
            hand.observation = read_on(world, hand, result_room(world, hand))
        return None
    parsed, kind = hand.parsed, hand.kind
    if kind is None or (parsed is None and hand.plane_operation is None):  # pragma: no cover  (C2 ended it)
        raise AssertionError(hand.operation)
    by: Writer = "control_plane" if parsed is None or hand.reaches_plane else "tool"
    done = _done_before(world, hand, by)
    if done is not None:
        hand.replayed = True
        return done if isinstance(done, CallStop) else None
    if world.was_cut_off() and by == "control_plane" and not world.plane.confined_to_fixture:
        if not has_one_effect(world, hand):
            return _hung(world, hand, "interrupted")
        world.flag("repeated_idempotent")
    try:
        hand.observation = _observed(world, hand, parsed, kind)
    except MachineError as error:
        return not_run(world, hand, "environment", str(error))
    except ControlPlaneError as error:
        return not_run(world, hand, "control_plane" if by == "control_plane" else "environment", str(error))
    return _proves_nothing(world, hand, hand.observation, by)


def _observed(world: World, hand: CallInHand, parsed: ParsedCommand | None, kind: KindSpec) -> Observation:
    """Run what the call was read as. Raises MachineError or ControlPlaneError."""
    if kind.hint is not None:
        return Observation(ran=False, ok=False, text=kind.hint, refused=HINTED)
    if parsed is None:
        return run_operation(world, hand.plane_operation or "", hand.call.arguments or {}, call_key(world, hand))
    return _read(world, hand, parsed, kind)


def _read(world: World, hand: CallInHand, parsed: ParsedCommand, kind: KindSpec) -> Observation:
    """Run a command the way that its kind counts."""
    if kind.is_call and parsed.call is not None:
        return run_call(world, parsed.call)
    if kind.help is not None and parsed.help is not None:
        return run_help(world, parsed.help)
    if kind.read == "clock" and parsed.clock is not None:
        return answer_clock(parsed.clock, world.scenario.command_tools[hand.call.name].clock)
    if parsed.reads is not None:
        return run_reads(world, parsed.reads)
    return Observation(ran=False, ok=False, text="", refused="not_executable")


def _proves_nothing(world: World, hand: CallInHand, seen: Observation, by: Writer) -> CallStop | None:
    """The ending of a call that the machine, a signal or a bound cut off; None where it can be judged."""
    if not seen.ran:
        return None
    asked = None if seen.ok else world.bounds.cancellation()
    if asked is not None:
        return not_run(world, hand, "environment", "it was ended because somebody asked to stop")
    world.observe_changes(by)
    # reads need no room: what they name wrongly is wrong on a full disc too
    lacking = world.lacking() if by == "control_plane" and not seen.ok else None
    if lacking is not None:
        return not_run(world, hand, "environment", f"the command failed, and the machine lacks something: {lacking}")
    if by == "control_plane" and seen.exit_code is None and not seen.timed_out:
        return not_run(world, hand, *_killed(seen.signal))
    if not seen.timed_out:
        return None
    return _overdue(world, hand) or (_hung(world, hand, "timeout") if by == "control_plane" else None)


def _done_before(world: World, hand: CallInHand, by: Writer) -> CallStop | Observation | None:
    """What the call came to before the driver was killed; None where it is to be run now."""
    ahead, before = world.journal.ahead, world.latest.digest
    kept = world.past(hand.operation)
    if kept is not None:
        hand.observation = as_kept(Observation, json.dumps(kept), "a result")
        world.flag("replayed_operations")
        if hand.observation.ran:
            world.observe_changes(by)
    if not isinstance(ahead, OpUnknown) or ahead.operation != hand.operation or ahead.detail == UNCERTAIN:
        return hand.observation
    if ahead.detail in {"timeout", "interrupted"}:
        stop = _hung(world, hand, ahead.detail)
        decided = world.journal.decided(hand.operation)
        return stop if decided is None else _as_decided(world, hand, by, decided, before)
    if ahead.detail == "deadline":
        return _ended_by_deadline(world, hand)
    return not_run(world, hand, ahead.detail, "it could not be run before the driver was killed")


def _as_decided(
    world: World, hand: CallInHand, by: Writer, decided: Decided, before: Digest
) -> CallStop | Observation | None:
    """Do what somebody decided about a call whose effect is unknown; None: run it now.

    What is run again is run in the world as it was ``before``, where the call can have done nothing outside of that.
    """
    match decided.decision:
        case "abort":
            return CallStop("effect_uncertain", "error: given up", Outcome(status="failed", reason="operator_abort"))
        case "record_failure":
            failed = OpReceipt(operation=hand.operation, attempt=hand.attempt, status="failed", detail="decided")
            world.record(failed)
            ending = Outcome(status="failed", reason="tool_error", detail="control_plane")
            return CallStop("error_terminal", "error: the tool failed", ending)
        case "replay_success":
            kept = world.kept_result(decided.spool)
            hand.observation = as_kept(Observation, json.dumps(kept), "a result")
            world.flag("replayed_operations")
            return hand.observation
        case _:
            hand.attempt, hand.observation = hand.attempt + 1, None
            if world.plane.confined_to_fixture:
                world.take_state(before)
                world.observe_changes(by)
            world.flag("duplicate_risk")
            world.record(OpStarted(operation=hand.operation, attempt=hand.attempt))
            return _done_before(world, hand, by)


def _killed(number: int | None) -> tuple[str, str]:
    """Who ended a control plane that died of a signal, and the line for it."""
    if number in _FROM_OUTSIDE:
        return "environment", f"the machine or somebody on it ended the control plane (signal {number})"
    return "control_plane", f"the control plane died of signal {number}"


def not_run(world: World, hand: CallInHand, detail: str, problem: str | None) -> CallStop:
    """A control plane that crashed, or a machine that lacks a program: nobody's answer, and not the actor's fault.

    Where we ended it ourselves because somebody asked us to stop, that is the ending.
    """
    asked = world.bounds.cancellation()
    world.problem = problem
    _leave(world, hand, detail)
    ending = Outcome(status="failed", reason="tool_error", detail=detail)
    return CallStop("error_terminal", "error: the tool could not be run", asked or ending)


def _overdue(world: World, hand: CallInHand) -> CallStop | None:
    """A call that was cut off by the episode's own deadline proves nothing about the call."""
    return None if world.bounds.passed() is None else _ended_by_deadline(world, hand)


def _ended_by_deadline(world: World, hand: CallInHand) -> CallStop:
    _leave(world, hand, "deadline")
    ending = Outcome(status="limit_exceeded", reason="duration", detail="deadline")
    return CallStop("timeout", "[timed out]", ending)


def _leave(world: World, hand: CallInHand, detail: str) -> None:
    seen = hand.observation
    kept = None if seen is None else world.keep_result(seen)
    world.record(OpUnknown(operation=hand.operation, attempt=hand.attempt, detail=detail, spool=kept))


def _hung(world: World, hand: CallInHand, detail: str) -> CallStop:
    """A control plane that did not answer in time, or whose caller was killed: nobody can tell what it did.

    It is not the actor's fault.
    """
    _leave(world, hand, detail)
    waits = Outcome(status="suspended", reason="reconciliation_required", detail="tool_effect")
    if detail == "interrupted":
        return CallStop("interrupted", "[interrupted]", waits)
    return CallStop("timeout", "[timed out]", waits)
