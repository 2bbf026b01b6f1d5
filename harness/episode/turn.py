"""One turn: the order of checks (runner specification 2.3), as a tuple of steps."""

from __future__ import annotations

from collections.abc import Callable

from harness import meter
from harness.episode.answer import answer_call
from harness.episode.ask import ask
from harness.episode.call import run_one
from harness.episode.hands import CallInHand, CallStop, TurnInHand
from harness.episode.world import World
from harness.schema.base import digest_text
from harness.schema.message import AssistantMessage, ModelRequest, ToolMessage
from harness.schema.outcome import Outcome
from harness.schema.record import (
    BudgetStop,
    OpPlanned,
    OpStarted,
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
    turn.digest = world.digests.of(turn.request)
    world.record(Projection(turn=turn.number, request=turn.digest, messages=len(world.messages)))
    return None


def _plan_model(world: World, turn: TurnInHand) -> Outcome | None:
    """T11: the model operation is decided; its digest is that of the complete effective request."""
    world.record(OpPlanned(operation=turn.operation, purpose="main", digest=turn.digest))
    return None


def _admit(world: World, turn: TurnInHand) -> Outcome | None:
    """T12: the turn is reserved and the call is started in one record."""
    world.record(OpStarted(operation=turn.operation, attempt=1))
    return None


def _after_model(world: World, _: TurnInHand) -> Outcome | None:
    """T15: cancellation, then budget; a reply that crosses a limit keeps its usage and is not used."""
    state = world.state
    stop = world.bounds.cancellation()
    if stop is not None:
        return stop
    used = {"total_tokens": state.total_tokens, "uncached_input_tokens": state.uncached_input_tokens}
    return _budget_stop(world, meter.after_model(world.scenario.limits, **used))


def _validate(world: World, turn: TurnInHand) -> Outcome | None:
    """T17: calls exist where the finish says so; ids are unique and not used before."""
    reply = turn.answer
    if reply.finish == "tool_calls" and not reply.calls:
        return _invalid("finish_mismatch")
    ids = [digest_text(call.id) for call in reply.calls]
    if len(set(ids)) != len(ids) or any(name in world.state.call_ids for name in ids):
        return _invalid("ids")
    return None


def _finish(_: World, turn: TurnInHand) -> Outcome | None:
    """T18: cut off, refused, filtered, or nothing at all: never a quiet success."""
    reply = turn.answer
    if reply.finish == "length":
        return Outcome(status="failed", reason="model_output_truncated")
    if reply.finish == "refusal":
        return Outcome(status="failed", reason="model_refusal")
    if reply.finish == "content_filter":
        return Outcome(status="failed", reason="content_filtered")
    if reply.finish in {"stop", "tool_calls"} or reply.calls:
        return None
    return _invalid("empty")


def _no_call(world: World, turn: TurnInHand) -> Outcome | None:
    """T20: a reply without calls is the final text."""
    reply = turn.answer
    if reply.calls:
        return None
    size = len((reply.text or "").encode("utf-8", "surrogatepass"))
    limit = world.scenario.limits.output_bytes
    if size > limit:
        return Outcome(
            status="limit_exceeded", reason="output_size", limit=limit, observed=size, overshoot=size - limit
        )
    return Outcome(status="completed", reason="final_response", detail="inline")


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
            gone = ending.status == "cancelled"
            stop = CallStop("cancelled_before_execution" if gone else "skipped_due_to_stop", "not run")
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
    ("T5", _budget),
    ("T6", _open_turn),
    ("T10", _project),
    ("T11", _plan_model),
    ("T12", _admit),
    ("T13", ask),
    ("T15", _after_model),
    ("T17", _validate),
    ("T18", _finish),
    ("T20", _no_call),
    ("T21", _preflight),
    ("T22", _run_calls),
)


def run_turn(world: World) -> Outcome | None:
    """Ask the steps in order; the first that answers ends the episode. None: another turn follows.

    A completion in the same turn as a cancellation is dropped (runner specification, precedence of endings).
    """
    turn = TurnInHand()
    ending = next((found for _, step in TURN if (found := step(world, turn)) is not None), None)
    _commit(world, turn)
    if ending is not None and ending.status == "completed":
        return world.bounds.cancellation() or ending
    return ending


def _invalid(detail: str) -> Outcome:
    return Outcome(status="failed", reason="invalid_model_response", detail=detail)


def _budget_stop(world: World, stop: Outcome | None) -> Outcome | None:
    if stop is not None:
        world.record(BudgetStop(outcome=stop))
    return stop
