"""One turn: the order of checks (runner specification 2.3), as a tuple of steps."""

from __future__ import annotations

from collections.abc import Callable

from harness.episode.admission import admit
from harness.episode.answer import answer_call
from harness.episode.ask import ask
from harness.episode.budgets import after_batch, after_model, at_end, budget, in_time, preflight
from harness.episode.call import run_one
from harness.episode.closing import is_closing, too_late
from harness.episode.control import control_call
from harness.episode.directive import after_ending
from harness.episode.external import completed_outside
from harness.episode.hands import CallInHand, CallStop, TurnInHand
from harness.episode.observing import open_batch
from harness.episode.over_cap import notice, over_cap
from harness.episode.progress import compare_prose, no_progress
from harness.episode.projecting import plan_model, project
from harness.episode.replying import no_call, reply_end, valid_reply
from harness.episode.waiting import WAITS, suspend
from harness.episode.world import World
from harness.schema.message import ToolMessage
from harness.schema.outcome import Outcome
from harness.schema.record import TurnCommitted, TurnOpened

__all__ = ["TURN", "run_turn"]


_TurnStep = Callable[[World, TurnInHand], Outcome | None]


def _cancelled(world: World, _: TurnInHand) -> Outcome | None:
    """T1: the latch never opens again."""
    return world.bounds.cancellation()


def _open_turn(world: World, turn: TurnInHand) -> Outcome | None:
    """T6: the turn is durable; then cancellation is looked at again."""
    turn.number = world.state.turn + 1
    world.record(TurnOpened(turn=turn.number))
    return world.bounds.cancellation()


def _run_calls(world: World, turn: TurnInHand) -> Outcome | None:
    """T22: calls in declared order; exactly one result each, those after an ending are answered as skipped."""
    ending: Outcome | None = None
    batch = open_batch(world, turn.answer.calls)
    for index, call in enumerate(turn.answer.calls, 1):
        hand = CallInHand(turn=turn.number, index=index, call=call, room=batch.room())
        if ending is not None:
            stop = CallStop(after_ending(ending), "not run")
            answer_call(world, hand, stop)
        elif index > turn.admitted:
            stop = over_cap(turn)
            answer_call(world, hand, stop)
        elif is_closing(world):
            stop = too_late()
            answer_call(world, hand, stop)
        else:
            stop = run_one(world, hand)
            ending = stop.ending
        turn.results.append(stop)
        world.values.shown.append(stop.text)
        batch.took(len(world.placeholders.hide(stop.text)))
        failed = stop.code != "succeeded"
        text = (notice(turn) if index == 1 else "") + stop.text
        world.messages.append(ToolMessage(call_id=call.id, name=call.name, text=text, failed=failed))
    return ending


def _commit(world: World, turn: TurnInHand) -> None:
    """T27: what the turn came to, and the state of the world after it."""
    reply = turn.reply
    if reply is None:
        return
    world.record(
        TurnCommitted(
            turn=turn.number,
            finish=reply.finish,
            said_text=bool((reply.text or "").strip()),
            calls=len(reply.calls),
            quirks=reply.quirks,
            prose=turn.prose,
            fingerprint=world.latest.digest,
        )
    )


#: The specification's order; a test compares the names with its list. T14 is part of T13's step, and T27 is done at
#: the end of every turn that had a reply, whatever ended it.
TURN: tuple[tuple[str, _TurnStep], ...] = (
    ("T1", _cancelled),
    ("T2", in_time),
    ("T3", completed_outside),
    ("T4", no_progress),
    ("T5", budget),
    ("T6", _open_turn),
    ("T10", project),
    ("T11", plan_model),
    ("T12", admit),
    ("T13", ask),
    ("T15", after_model),
    ("T17", valid_reply),
    ("T18", reply_end),
    ("T19", control_call),
    ("T20", no_call),
    ("T21", preflight),
    ("T22", _run_calls),
    ("T24", after_batch),
    ("T25", compare_prose),
)


#: What is asked of a turn that is over before its calls, too.
_AFTER = frozenset({"T25"})


def run_turn(world: World) -> Outcome | None:
    """Ask the steps in order; the first that answers ends the episode. None: another turn follows.

    A completion, or a wait, in the same turn as a cancellation is dropped (runner specification, precedence of
    endings).
    """
    turn = TurnInHand()
    ending = _asked(world, turn)
    if ending is not None and ending.status == "completed":
        ending = world.bounds.cancellation() or at_end(world, ending)
    _commit(world, turn)
    if ending is None or not (ending.status == "completed" or ending.reason in WAITS):
        return ending
    stopped = world.bounds.cancellation()
    if stopped is not None or ending.status == "completed":
        return stopped or ending
    return suspend(world, turn, ending)


def _asked(world: World, turn: TurnInHand) -> Outcome | None:
    """What the first step that ends something says; None where the turn is over and the episode is not."""
    for name, step in TURN:
        ending = None if turn.is_over and name not in _AFTER else step(world, turn)
        if ending is not None:
            return ending
    return None
