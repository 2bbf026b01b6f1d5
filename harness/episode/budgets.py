"""The boundaries of an episode at which its limits are asked (runner specification 2.12), and what a stop leaves.

Where no limit asks for time at work, tokens or cost, several boundaries have nothing but the deadline to ask for.
"""

from __future__ import annotations

from harness import meter
from harness.episode.closing import is_closing
from harness.episode.hands import TurnInHand
from harness.episode.measuring import measure
from harness.episode.world import World
from harness.schema.base import digest_text
from harness.schema.message import AssistantMessage
from harness.schema.outcome import Outcome
from harness.schema.record import BudgetStop, OpPlanned

__all__ = ["after_batch", "after_model", "at_end", "at_start", "budget", "in_time", "preflight", "used"]


def used(world: World, *, after: bool = False) -> meter.Used:
    """What the journal says of the episode so far; ``after`` an operation the last moment is in time.

    Tokens are only added up where they are limited. The closing turn is beyond those that are.
    """
    state, limits = world.state, world.limits
    overdue = world.bounds.has_passed(after=after)
    turns = 0 if is_closing(world) else state.model_turns
    if not world.is_measured:
        return meter.Used(
            overdue=overdue,
            tool_calls=state.tool_calls,
            by_name=state.calls_by_name,
            model_turns=turns,
            is_measured=False,
        )
    return meter.Used(
        active_ms=state.active_ms,
        total_tokens=meter.NOTHING if limits.total_tokens is None else state.total_tokens,
        uncached_input_tokens=meter.NOTHING if limits.uncached_input_tokens is None else state.uncached_input_tokens,
        cost=state.cost,
        tool_calls=state.tool_calls,
        by_name=state.calls_by_name,
        model_turns=turns,
        overdue=overdue,
    )


def at_start(world: World) -> Outcome | None:
    """E12: cancellation, then what is limited before anything was asked."""
    stop = world.bounds.cancellation()
    if stop is not None:
        return stop
    measure(world)
    return _stop(world, meter.at_start(world.limits, used(world)))


def in_time(world: World, _: TurnInHand) -> Outcome | None:
    """T2: the absolute deadline, then the time at work."""
    if not world.is_measured:
        return _stop(world, world.bounds.passed())
    measure(world)
    return _stop(world, meter.in_time(world.limits, used(world)))


def budget(world: World, _: TurnInHand) -> Outcome | None:
    """T5: tokens, cost, turns; tool caps are not looked at, so the actor may answer after its last call."""
    return _stop(world, meter.before_turn(world.limits, used(world)))


def after_model(world: World, _: TurnInHand) -> Outcome | None:
    """T15: cancellation, then budget; a reply that crosses a limit keeps its usage and is not used."""
    stop = world.bounds.cancellation()
    if stop is not None:
        return stop
    if not world.is_measured:
        return _stop(world, world.bounds.passed(after=True))
    measure(world)
    return _stop(world, meter.after_model(world.limits, used(world, after=True)))


def preflight(world: World, turn: TurnInHand) -> Outcome | None:
    """T21: all calls of the reply or none; then the whole batch is reserved and the reply joins the conversation.

    Where the scenario answers the calls above its cap, those are declared and not reserved.
    """
    reply, limits = turn.answer, world.limits
    names = [call.name for call in reply.calls]
    measure(world)
    stop = _stop(world, meter.before_batch(limits, used(world), names))
    if stop is not None:
        return stop
    turn.admitted = len(meter.admitted(limits, names))
    for index, call in enumerate(reply.calls[: turn.admitted], 1):
        digest = digest_text(world.placeholders.hide(f"{call.name}\0{call.arguments_raw}"))
        operation = f"turn-{turn.number}/call-{index}"
        world.record(
            OpPlanned(
                operation=operation,
                purpose="tool",
                digest=digest,
                tool=call.name if world.declares(call.name) else None,
                call_id=digest_text(call.id),
            )
        )
    world.messages.append(AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque))
    return None


def after_batch(world: World, _: TurnInHand) -> Outcome | None:
    """T24: cancellation, then time and cost; where an operation failed the turn has ended by then."""
    stop = world.bounds.cancellation()
    if stop is not None:
        return stop
    if not world.is_measured:
        return _stop(world, world.bounds.passed(after=True))
    measure(world)
    return _stop(world, meter.after_batch(world.limits, used(world, after=True)))


def at_end(world: World, ending: Outcome) -> Outcome:
    """A completion counts where nothing is above its limit; what satisfies the scenario counts in any case."""
    if ending.reason == "scenario_satisfied":
        return ending
    measure(world)
    return _stop(world, meter.at_end(world.limits, used(world, after=True))) or ending


def _stop(world: World, stop: Outcome | None) -> Outcome | None:
    """The limit that was reached first stays the one that is told."""
    first = world.state.exhausted
    if first is not None or stop is None:
        return first
    world.record(BudgetStop(outcome=stop))
    return stop
