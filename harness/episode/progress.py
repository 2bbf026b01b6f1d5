"""The loop detectors in the loop: what a call and a turn leave for them, and what they end (runner 2.10)."""

from __future__ import annotations

from dataclasses import replace

from harness import detectors
from harness.detectors import Streaks
from harness.episode.hands import CallInHand, CallStop, TurnInHand
from harness.episode.world import World
from harness.schema.base import Digest, JsonValue, digest_json, digest_text
from harness.schema.detectors import CallMarks
from harness.schema.message import AssistantMessage
from harness.schema.outcome import Outcome
from harness.schema.tool import ResultCode

__all__ = ["compare_prose", "end_loop", "marks", "no_progress"]

#: Refusals: each is a typed error by its own code, and the actor may go on.
_REFUSED: frozenset[ResultCode] = frozenset(
    (
        *("parse_error", "invalid_arguments", "unknown_tool", "denied_policy"),
        *("approval_denied", "approval_timeout", "approval_unresolved"),
    )
)
#: Results that the actor brought about; the rest was not run for a reason that is not its own.
_ITS_OWN: frozenset[ResultCode] = _REFUSED | {"succeeded", "timeout", "error_recoverable"}
#: How a call of a tool that there is not is named in an ending; its real name is the actor's text.
_UNDECLARED = "-"


def no_progress(world: World, _: TurnInHand) -> Outcome | None:
    """T4: the turns before brought nothing new."""
    kind = detectors.stuck(_streaks(world), world.scenario.detectors)
    return None if kind is None else Outcome(status="failed", reason="no_progress", detail=kind)


def compare_prose(world: World, turn: TurnInHand) -> Outcome | None:
    """T25: hold a long reply against the long one before it; it only marks, the next turn's T4 ends."""
    text = turn.answer.text or ""
    if detectors.is_long(text):
        said = [message.text or "" for message in world.messages if isinstance(message, AssistantMessage)]
        before = next((other for other in reversed(said[:-1]) if detectors.is_long(other)), None)
        turn.prose = "alike" if before is not None and detectors.alike(before, text) else "new"
    return None


def end_loop(world: World, hand: CallInHand, stop: CallStop) -> CallStop:
    """End the episode where the call, whose answer was just recorded, ended in the same error once too often.

    The detail is the tool, the code and the count; that last answer is kept, and nobody is shown it.
    """
    streaks = _streaks(world)
    if stop.ending is not None or not detectors.is_looping(streaks, world.scenario.detectors):
        return stop
    tool = hand.call.name if world.declares(hand.call.name) else _UNDECLARED
    detail = f"{tool}:{_code(hand, stop)}:{streaks.repeats}"
    return replace(stop, ending=Outcome(status="failed", reason="tool_loop_detected", detail=detail))


def marks(world: World, hand: CallInHand, stop: CallStop) -> CallMarks | None:
    """What the detectors need of a call and its answer, as digests; None where it was stopped by somebody else."""
    if stop.code not in _ITS_OWN:
        return None
    typed = stop.code in _REFUSED or (stop.code == "error_recoverable" and hand.error is not None)
    untyped = stop.code == "error_recoverable" and hand.error is None
    return CallMarks(
        action=digest_json([hand.call.name, _arguments(world, hand), _result(world, hand, stop)]),
        repeats=_key(world, hand, stop) if typed else None,
        error=detectors.error_digest(_text(world, hand, stop)) if untyped else None,
    )


def _streaks(world: World) -> Streaks:
    """Those of all records; only records that came since the last look are looked at."""
    said = world.journal.since(world.watched)
    world.streaks = detectors.streaks(said, world.streaks)
    world.watched += len(said)
    return world.streaks


def _key(world: World, hand: CallInHand, stop: CallStop) -> Digest:
    tool = world.scenario.tool.get(hand.call.name)
    identity: JsonValue = world.plane.identity.model_dump(mode="json")
    refused = hand.observation.refused if hand.observation is not None else None
    return detectors.repetition_key(
        tool=hand.call.name,
        implementation=identity,
        binding=None if tool is None else tool.model_dump(mode="json"),
        arguments=_arguments(world, hand),
        code=":".join((_code(hand, stop), stop.source or refused or "")),
    )


def _code(hand: CallInHand, stop: CallStop) -> str:
    return stop.code if hand.error is None else hand.error.code


def _arguments(world: World, hand: CallInHand) -> JsonValue:
    """As they took effect; the raw text where they are no object."""
    arguments = hand.call.arguments
    return (
        world.placeholders.hide(hand.call.arguments_raw)
        if arguments is None
        else world.placeholders.hide_json(arguments)
    )


def _result(world: World, hand: CallInHand, stop: CallStop) -> JsonValue:
    """What would move if anything did: a control plane's answer without what always moves, else the whole text."""
    return [stop.code, hand.answer or digest_text(_text(world, hand, stop))]


def _text(world: World, hand: CallInHand, stop: CallStop) -> str:
    seen = hand.observation
    return world.placeholders.hide(stop.text if seen is None or not seen.ran else seen.text)
