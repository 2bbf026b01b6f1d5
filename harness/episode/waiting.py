"""T27 of a turn that waits for a person: suspended, and gone on with as soon as there is an answer."""

from __future__ import annotations

from harness.episode.control import answer_control
from harness.episode.hands import TurnInHand
from harness.episode.replying import said
from harness.episode.world import World
from harness.errors import OpeningRefusedError
from harness.schema.base import digest_text
from harness.schema.message import UserMessage
from harness.schema.outcome import Outcome
from harness.schema.record import ANSWER, InputDelivered, Suspended

__all__ = ["WAITS", "answer_name", "suspend"]

#: Endings in which the actor waits for somebody: a durable episode stays open there.
WAITS = frozenset({"needs_user_input", "blocked"})


def answer_name(turn: int) -> str:
    """The name of the input that answers what the actor waits for in a turn."""
    return f"{ANSWER}turn-{turn}"


def suspend(world: World, turn: TurnInHand, ending: Outcome) -> Outcome | None:
    """Record that it waits. None where an answer is there: it was delivered, and another turn follows.

    Raises OpeningRefusedError where the journal tells of an answer that is not kept.
    """
    world.record(Suspended(outcome=ending))
    text = _answer(world, turn, ending)
    if text is None:
        return ending
    name = answer_name(turn.number)
    world.spool.put(text.encode("utf-8", "surrogatepass"))
    world.record(InputDelivered(input=name, digest=digest_text(text)))
    if turn.waits_for is not None:
        answer_control(world, turn, "succeeded", text)
    else:
        world.messages.extend((*said(turn.answer), UserMessage(text=text)))
    return None


def _answer(world: World, turn: TurnInHand, ending: Outcome) -> str | None:
    """What a person answered before this driver; else the scenario's next answer, if it was asked for one."""
    ahead = world.journal.ahead
    if isinstance(ahead, InputDelivered) and ahead.input == answer_name(turn.number):
        try:
            return world.spool.get(ahead.digest).decode("utf-8", "surrogatepass")
        except KeyError as error:
            problem = "an answer that it tells of is not kept"
            raise OpeningRefusedError("journal_integrity_mismatch", problem) from error
    if ahead is not None or ending.reason != "needs_user_input":
        return None
    given = world.scenario.control.answers[world.state.answers :]
    return given[0] if given else None
