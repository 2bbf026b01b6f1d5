"""T17, T18 and T20 of a turn: whether a reply can be used, how it ended, and what one without a call means."""

from __future__ import annotations

from harness import gate, meter
from harness.episode.closing import call_while_closing, is_closing
from harness.episode.endings import invalid_reply
from harness.episode.hands import TurnInHand
from harness.episode.world import World
from harness.schema.base import digest_bytes, digest_text
from harness.schema.message import AssistantMessage, Reply, UserMessage
from harness.schema.outcome import Outcome
from harness.schema.record import InputDelivered
from harness.schema.run import OutputRow

__all__ = ["no_call", "reply_end", "said", "valid_reply"]


def valid_reply(world: World, turn: TurnInHand) -> Outcome | None:
    """T17: calls exist where the finish says so and may be made; ids are there and unique.

    Where the scenario is strict, no id was used in an earlier turn, and names and arguments are looked at for the whole
    reply, before anything of it runs.
    """
    wrong = _wrong(world, turn)
    return call_while_closing(world, turn) if wrong is None else invalid_reply(wrong)


def _wrong(world: World, turn: TurnInHand) -> str | None:
    """What is wrong with a reply."""
    reply, strict = turn.answer, world.scenario.strict
    calls, says_calls = reply.calls, reply.finish == "tool_calls"
    if says_calls and not calls:
        return "finish_mismatch"
    if calls and strict.finish == "fail" and not (says_calls and "finish_stop_with_tool_calls" not in reply.quirks):
        return "finish_mismatch"
    ids = {digest_text(call.id) for call in calls if call.id}
    if len(ids) != len(calls) or (strict.ids == "fail" and ids & world.state.call_ids):
        return "ids"
    if calls and strict.unknown_tool == "fail" and any(gate.check_declared(call.name, world.tools) for call in calls):
        return "undeclared"
    if calls and strict.parse == "fail" and any(gate.check_decoded(call) for call in calls):
        return "arguments"
    return None


def reply_end(_: World, turn: TurnInHand) -> Outcome | None:
    """T18: cut off, refused, filtered, or nothing at all: never a quiet success."""
    reply = turn.answer
    finish = reply.finish
    if finish == "length":
        return Outcome(status="failed", reason="model_output_truncated")
    if finish == "refusal":
        return Outcome(status="failed", reason="model_refusal")
    if finish == "content_filter":
        return Outcome(status="failed", reason="content_filtered")
    if finish in {"stop", "tool_calls"} or reply.calls:
        return None
    return invalid_reply("empty")


def no_call(world: World, turn: TurnInHand) -> Outcome | None:
    """T20: a reply without calls is the final text, waits for a person, or is answered with one nudge.

    A reply that follows a nudge without a call is final, and so is that of the closing turn. Where no turn is left
    there is no nudge.
    """
    reply = turn.answer
    if reply.calls:
        return None
    policy = "finish" if is_closing(world) else world.scenario.control.no_call
    if policy == "wait_user":
        return Outcome(status="suspended", reason="needs_user_input", detail="no_tool_wait")
    if policy == "finish" or _was_nudged(world):
        return _final(world, turn)
    turn.is_over = True
    left = meter.before_turn(world.limits, meter.Used(model_turns=world.state.model_turns))
    if left is None:
        _nudge(world, turn)
    return None


def said(reply: Reply) -> tuple[AssistantMessage, ...]:
    """The reply as it joins the conversation; one that says nothing is left out, for providers refuse it."""
    if not reply.calls and not (reply.text or "").strip():
        return ()
    return (AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque),)


def _was_nudged(world: World) -> bool:
    """Whether the turn before this one was answered with a nudge: under this policy, every one without a call."""
    before = world.state.turns[-1:]
    return bool(before) and before[0].calls == 0


def _nudge(world: World, turn: TurnInHand) -> None:
    text = world.scenario.control.nudge
    world.record(InputDelivered(input=f"nudge.turn-{turn.number}", digest=digest_text(world.placeholders.hide(text))))
    world.messages.extend((*said(turn.answer), UserMessage(text=text)))


def _final(world: World, turn: TurnInHand) -> Outcome:
    """Measured with the workspace's paths as placeholders, so that it counts the same in every place."""
    data = world.placeholders.hide(turn.answer.text or "").encode("utf-8", "surrogatepass")
    limits = world.limits
    if len(data) > limits.output_bytes:
        return Outcome(
            status="limit_exceeded",
            reason="output_size",
            limit=limits.output_bytes,
            observed=len(data),
            overshoot=len(data) - limits.output_bytes,
        )
    world.final_text = turn.answer.text
    if len(data) <= limits.output_inline_bytes:
        return Outcome(status="completed", reason="final_response", detail="inline")
    keep = world.parts.keep_output
    world.output = OutputRow(bytes=len(data), sha256=digest_bytes(data), kept=None if keep is None else keep(data))
    return Outcome(status="completed", reason="final_response", detail="artifact")
