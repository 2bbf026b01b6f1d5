"""C19 of a call: a call that succeeds may end the episode by the scenario's word."""

from __future__ import annotations

from harness.episode.answer import result_code, shown_text
from harness.episode.hands import CallInHand, CallStop
from harness.episode.world import World
from harness.schema.outcome import Outcome
from harness.schema.tool import ResultCode

__all__ = ["after_ending", "stop_at_tool"]

_FINISHED = frozenset({"tool_finish", "stop_on_first_tool", "stop_at_tool_name"})


def stop_at_tool(world: World, hand: CallInHand) -> CallStop | None:
    """C19: only a call that succeeded ends it; one that failed is answered, and the episode goes on."""
    spec, seen = world.scenario.control, hand.observation
    if seen is None or result_code(seen) != "succeeded":
        return None
    name = hand.call.name
    if spec.stop_on_first_tool:
        ending = Outcome(status="completed", reason="stop_on_first_tool", detail=name)
    elif name in spec.stop_at_tools:
        ending = Outcome(status="completed", reason="stop_at_tool_name", detail=name)
    else:
        return None
    return CallStop("succeeded", shown_text(seen, limit=world.scenario.limits.tool_result_chars), ending)


def after_ending(ending: Outcome) -> ResultCode:
    """The code of the calls of a batch that come after its end."""
    if ending.status == "cancelled":
        return "cancelled_before_execution"
    return "skipped_due_to_finish" if ending.reason in _FINISHED else "skipped_due_to_stop"
