"""One turn: the order of checks (runner specification 2.3), as a tuple of steps."""

from __future__ import annotations

import json
from collections.abc import Callable

from harness import meter
from harness.episode.admission import admit
from harness.episode.answer import answer_call
from harness.episode.ask import ask
from harness.episode.call import run_one
from harness.episode.control import control_call
from harness.episode.directive import after_ending
from harness.episode.external import completed_outside
from harness.episode.hands import CallInHand, CallStop, TurnInHand
from harness.episode.replying import no_call, reply_end, valid_reply
from harness.episode.waiting import WAITS, suspend
from harness.episode.world import World
from harness.schema.base import JsonValue, digest_json, digest_text
from harness.schema.message import AssistantMessage, ModelRequest, ToolMessage
from harness.schema.outcome import Outcome
from harness.schema.record import (
    BudgetStop,
    OpPlanned,
    Projection,
    TurnCommitted,
    TurnOpened,
)

__all__ = ["TURN", "run_turn"]


_TurnStep = Callable[[World, TurnInHand], Outcome | None]


def _cancelled(world: World, _: TurnInHand) -> Outcome | None:
    """T1: the latch never opens again."""
    return world.bounds.cancellation()


def _deadline(world: World, _: TurnInHand) -> Outcome | None:
    """T2: the absolute deadline."""
    return world.bounds.passed()


def _budget(world: World, _: TurnInHand) -> Outcome | None:
    """T5: tokens, then turns; tool caps are not looked at, so the actor may answer after its last call."""
    state = world.state
    stop = meter.before_turn(
        world.scenario.limits,
        model_turns=state.model_turns,
        total_tokens=state.total_tokens,
        uncached_input_tokens=state.uncached_input_tokens,
    )
    return _budget_stop(world, stop)


def _open_turn(world: World, turn: TurnInHand) -> Outcome | None:
    """T6: the turn is durable; then cancellation is looked at again."""
    turn.number = world.state.turn + 1
    world.record(TurnOpened(turn=turn.number))
    return world.bounds.cancellation()


def _project(world: World, turn: TurnInHand) -> Outcome | None:
    """T10: what the actor is shown."""
    actor = world.parts.actor.identity
    turn.request = ModelRequest(
        model=actor.model or actor.ref,
        messages=tuple(world.messages),
        tools=world.tools,
        **({} if actor.settings is None else {"settings": actor.settings}),
    )
    world.requests.append(turn.request)
    digest = _digest(world, turn.request)
    world.record(Projection(turn=turn.number, request=digest, messages=len(world.messages)))
    return None


def _plan_model(world: World, turn: TurnInHand) -> Outcome | None:
    """T11: the model operation is decided; its digest is that of the complete effective request."""
    if turn.request is None:  # pragma: no cover  (T10 makes it)
        raise AssertionError(turn.operation)
    world.record(OpPlanned(operation=turn.operation, purpose="main", digest=_digest(world, turn.request)))
    return None


def _after_model(world: World, _: TurnInHand) -> Outcome | None:
    """T15: cancellation, then budget; a reply that crosses a limit keeps its usage and is not used."""
    state = world.state
    stop = world.bounds.cancellation()
    if stop is not None:
        return stop
    used = {"total_tokens": state.total_tokens, "uncached_input_tokens": state.uncached_input_tokens}
    return _budget_stop(world, meter.after_model(world.scenario.limits, **used))


def _preflight(world: World, turn: TurnInHand) -> Outcome | None:
    """T21: all calls of the reply or none; then the whole batch is reserved and the reply joins the conversation."""
    reply, state = turn.answer, world.state
    stop = meter.before_batch(
        world.scenario.limits,
        [call.name for call in reply.calls],
        model_turns=state.model_turns,
        tool_calls=state.tool_calls,
        by_name=state.calls_by_name,
    )
    if stop is not None:
        return _budget_stop(world, stop)
    for index, call in enumerate(reply.calls, 1):
        digest = digest_text(world.placeholders.hide(f"{call.name}\0{call.arguments_raw}"))
        operation = f"turn-{turn.number}/call-{index}"
        known = world.command_tool(call.name) is not None
        world.record(
            OpPlanned(
                operation=operation,
                purpose="tool",
                digest=digest,
                tool=call.name if known else None,
                call_id=digest_text(call.id),
            )
        )
    world.messages.append(AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque))
    return None


def _run_calls(world: World, turn: TurnInHand) -> Outcome | None:
    """T22: calls in declared order; exactly one result each, those after an ending are answered as skipped."""
    ending: Outcome | None = None
    for index, call in enumerate(turn.answer.calls, 1):
        hand = CallInHand(turn=turn.number, index=index, call=call)
        if ending is None:
            stop = run_one(world, hand)
            ending = stop.ending
        else:
            stop = CallStop(after_ending(ending), "not run")
            answer_call(world, hand, stop)
        turn.results.append(stop)
        failed = stop.code != "succeeded"
        world.messages.append(ToolMessage(call_id=call.id, name=call.name, text=stop.text, failed=failed))
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
            fingerprint=world.latest.digest,
        )
    )


#: The specification's order; a test compares the names with its list. T14 is part of T13's step, and T27 is done at
#: the end of every turn that had a reply, whatever ended it.
TURN: tuple[tuple[str, _TurnStep], ...] = (
    ("T1", _cancelled),
    ("T2", _deadline),
    ("T3", completed_outside),
    ("T5", _budget),
    ("T6", _open_turn),
    ("T10", _project),
    ("T11", _plan_model),
    ("T12", admit),
    ("T13", ask),
    ("T15", _after_model),
    ("T17", valid_reply),
    ("T18", reply_end),
    ("T19", control_call),
    ("T20", no_call),
    ("T21", _preflight),
    ("T22", _run_calls),
)


def run_turn(world: World) -> Outcome | None:
    """Ask the steps in order; the first that answers ends the episode. None: another turn follows.

    A completion, or a wait, in the same turn as a cancellation is dropped (runner specification, precedence of
    endings).
    """
    turn = TurnInHand()
    ending = _asked(world, turn)
    _commit(world, turn)
    if ending is None or not (ending.status == "completed" or ending.reason in WAITS):
        return ending
    stopped = world.bounds.cancellation()
    if stopped is not None or ending.status == "completed":
        return stopped or ending
    return suspend(world, turn, ending)


def _asked(world: World, turn: TurnInHand) -> Outcome | None:
    """What the first step that ends something says; None where the turn is over and the episode is not."""
    for _, step in TURN:
        ending = step(world, turn)
        if ending is not None or turn.is_over:
            return ending
    return None


def _digest(world: World, request: ModelRequest) -> str:
    """Of the complete effective request; json and not pydantic, for a text in it may hold half of a surrogate pair."""
    plain: JsonValue = json.loads(json.dumps(request.model_dump()))
    return digest_json(world.placeholders.hide_json(plain))


def _budget_stop(world: World, stop: Outcome | None) -> Outcome | None:
    if stop is not None:
        world.record(BudgetStop(outcome=stop))
    return stop
