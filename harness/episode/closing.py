"""The closing turn: nothing is left to be called, and the actor says what it has to say.

Whether it has come is told by the facts alone, so that an episode that is gone on with comes to it again.
"""

from __future__ import annotations

from dataclasses import replace

from harness import rules
from harness.episode.endings import violation
from harness.episode.hands import CallStop, TurnInHand
from harness.episode.world import World
from harness.schema.base import digest_text
from harness.schema.finding import RawFinding
from harness.schema.message import ModelRequest, UserMessage
from harness.schema.outcome import Outcome
from harness.schema.record import InputDelivered

__all__ = ["ask_to_close", "call_while_closing", "closing_findings", "is_closing", "too_late", "without_calls"]


def is_closing(world: World) -> bool:
    """Whether the facts of the end are there, and the scenario wants to hear of it."""
    return world.scenario.closing is not None and rules.closes(world.scenario, frozenset(world.state.facts))


def ask_to_close(world: World, turn: TurnInHand) -> None:
    """Tell the actor that this turn is the closing one."""
    spec = world.scenario.closing
    if spec is None or not is_closing(world):
        return
    digest = digest_text(world.placeholders.hide(spec.ask))
    world.record(InputDelivered(input=f"closing.turn-{turn.number}", digest=digest))
    world.messages.append(UserMessage(text=spec.ask))


def without_calls(world: World, request: ModelRequest) -> ModelRequest:
    """The request of the closing turn: no tool may be chosen.

    They stay declared, for a conversation with calls in it is refused by some providers where no tool is.
    """
    if not is_closing(world):
        return request
    return replace(request, settings=request.settings.model_copy(update={"tool_choice": "none"}))


def call_while_closing(world: World, turn: TurnInHand) -> Outcome | None:
    """A call all the same breaks the rule of the closing turn; none of the reply runs."""
    spec = world.scenario.closing
    if spec is None or not turn.answer.calls or not is_closing(world):
        return None
    world.findings.append((None, RawFinding(code=spec.called, check="order")))
    return violation(spec.called)


def too_late() -> CallStop:
    """The answer to a call of a reply in which an earlier one came to the end of what is to be done."""
    return CallStop("skipped_due_to_finish", "not run: nothing is left to be done")


def closing_findings(world: World) -> tuple[RawFinding, ...]:
    """A closing text that is blank or too long; its length, which is told, is that with paths as placeholders."""
    spec = world.scenario.closing
    if spec is None:
        return ()
    text = world.placeholders.hide(world.final_text or "")
    size = len(text.encode("utf-8", "surrogatepass"))
    if not text.strip():
        return (RawFinding(code=spec.failed, check="end", pointer="/answer", expected=spec.wanted, missing=True),)
    if size <= spec.text_bytes:
        return ()
    # without a pointer: what is told is our count, and nothing of the answer
    return (RawFinding(code=spec.failed, check="end", expected=spec.wanted, got=size),)
