"""C14 and T23: what the actor is shown of a result, and where the whole of it is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness import gate
from harness.episode.answer import result_code
from harness.episode.hands import CallInHand, CallStop
from harness.episode.reading_on import content_digest
from harness.episode.world import World
from harness.errors import OpeningRefusedError
from harness.observation import (
    ArtifactFolder,
    Batch,
    Measured,
    Refusal,
    Room,
    artifact_path,
    bound,
    bound_error,
    exceeds,
    issue,
)
from harness.schema.base import Digest
from harness.schema.observation import Channel
from harness.schema.outcome import Outcome
from harness.schema.record import Spilled
from harness.schema.tool import READ_MORE, ToolCall

__all__ = ["fitted", "observe", "open_batch", "result_room"]


def open_batch(world: World, calls: Sequence[ToolCall]) -> Batch:
    """The room that the answers to one reply have together."""
    limits = world.limits
    longest = max((_result_chars(world, call.name) for call in calls), default=0)
    return Batch(limits.batch_room(longest), [_notice(world, call) for call in calls])


def result_room(world: World, hand: CallInHand) -> Room:
    """How much of the result of a call is shown."""
    own = _result_chars(world, hand.call.name)
    return Room(section=world.limits.section_room(own), result=min(own, hand.room))


def observe(world: World, hand: CallInHand) -> CallStop | None:
    """C14: bound what is shown of the result; where the scenario wants it, keep the whole text beside it.

    Lengths are those of the text with its paths as names, so that a result is cut at one place everywhere.
    """
    seen = hand.observation
    if seen is None or not seen.ran:
        return None
    if seen.stdout is not None:
        world.report("stdout", seen.stdout)
    if seen.stderr is not None:
        world.report("stderr", seen.stderr)
    text, room = Measured(seen.text, world.placeholders.spans(seen.text)), result_room(world, hand)
    if not exceeds(text, seen.sections, room):
        hand.shown = seen.text
        world.report("result", Channel.counted(text.length, text.length, "chars"))
        return None
    spill = world.scenario.observe.spill
    refused = _kept(world, hand, text) if spill else None
    hand.spilled = spill and refused is None
    shown = bound(text, seen.sections, room, _note(world, text) if hand.spilled else _not_kept)
    hand.shown = shown.text
    world.report("result", shown.channel)
    if refused is None or not world.scenario.observe.require_artifact:
        return None
    ending = Outcome(status="failed", reason="artifact_persist_failed", detail=refused)
    return CallStop(result_code(seen), shown.text, ending)


def fitted(world: World, hand: CallInHand, stop: CallStop) -> CallStop:
    """The answer within the room of its batch: what is no result is an error or a notice of ours."""
    if hand.shown is not None and stop.text == hand.shown:
        return stop
    shown = bound_error(stop.text, hand.room)
    world.report("error", shown.channel)
    return CallStop(stop.code, shown.text, stop.ending, stop.source)


def _result_chars(world: World, tool: str) -> int:
    declared = world.command_tool(tool)
    own = None if declared is None else declared.result_chars
    return own or world.limits.tool_result_chars


def _notice(world: World, call: ToolCall) -> int | None:
    """The length of the answer to a call that cannot run, as far as its name and form tell."""
    stop = (
        gate.check_decoded(call)
        or gate.check_declared(call.name, world.tools)
        or gate.check_permitted(call.name, world.scenario.policy)
    )
    return None if stop is None else len(stop.text)


def _kept(world: World, hand: CallInHand, text: Measured) -> Refusal | None:
    """Keep the whole text; what came of it is recorded, for a driver that goes on cannot find it out again."""
    content, told = content_digest(world, text.text), world.journal.ahead
    known = told if isinstance(told, Spilled) and told.operation == hand.operation else None
    if known is not None and known.refused is not None:
        refused: Refusal | None = known.refused
    else:
        refused = _write(world, artifact_path("result", content), content, text.text)
        if known is not None and refused is not None:
            raise OpeningRefusedError("fixture_mismatch", "a text that was kept in the workspace cannot be kept again")
    world.record(Spilled(operation=hand.operation, content=content, chars=text.length, refused=refused))
    return refused


def _write(world: World, path: str, content: Digest, text: str) -> Refusal | None:
    folder = ArtifactFolder(world.workspace.root)
    refused = folder.write(path, text.encode("utf-8", "surrogatepass"))
    before = folder.read(path) if refused == "exists" else None
    if before is not None and content_digest(world, before.decode("utf-8", "replace")) == content:
        return None  # an answer that differs in volatile places only is there
    return refused


def _note(world: World, text: Measured) -> Callable[[int], str]:
    content = content_digest(world, text.text)
    path = artifact_path("result", content)

    def note(offset: int) -> str:
        return f"The full text is in {path}: {READ_MORE} goes on there with the cursor {issue(path, content, offset)}"

    return note


def _not_kept(_: int) -> str:
    return "The full text was not kept"
