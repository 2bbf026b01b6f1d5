"""The tool ``read_more``: reads on in the full text of a result of which a part was left out."""

from __future__ import annotations

from harness.episode.hands import CallInHand
from harness.episode.values import json_object
from harness.episode.world import World
from harness.observation import PATH_MAX, ArtifactFolder, CursorFault, Measured, Room, issue, resolve
from harness.schema.base import Digest, JsonValue, digest_json, digest_text
from harness.schema.finding import Proposal
from harness.schema.observation import Observation
from harness.schema.pointer import without
from harness.schema.record import Classified
from harness.schema.tool import READ_MORE, ToolSpec

__all__ = ["READ_MORE_SPEC", "classify_reading_on", "content_digest", "read_on"]

READ_MORE_SPEC = ToolSpec(
    name=READ_MORE,
    description="Reads on in the full text of a tool result of which a part was left out.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "maxLength": PATH_MAX, "description": "The path that the result names."},
            "cursor": {"type": "string", "maxLength": 64, "description": "The cursor that the result names."},
        },
        "required": ["path", "cursor"],
        "additionalProperties": False,
    },
)

_FAULTS: dict[CursorFault, str] = {
    "stale_cursor": "the text is not there, or not what it was when the cursor was given",
    "cursor_path_mismatch": "the cursor was given for another path",
    "cursor_offset_invalid": "the cursor points nowhere in the text",
}


def content_digest(world: World, text: str) -> Digest:
    """What a kept text is named by: the same for two answers that differ only in what the scenario calls volatile."""
    spec = world.scenario.call
    answer = json_object(text.encode("utf-8", "surrogatepass")) if spec is not None and spec.volatile else None
    if spec is None or answer is None:
        return digest_text(world.placeholders.hide(text))
    return digest_json(world.placeholders.hide_json(without(answer, spec.volatile)))


def classify_reading_on(world: World, hand: CallInHand) -> None:
    """C2: a read of what was shown already in part; no rule can be broken by it."""
    arguments = hand.call.arguments
    if arguments is None or hand.call.fault is not None:
        return
    hand.proposal, hand.before = Proposal(kind=READ_MORE), world.rule_state
    hidden: JsonValue = world.placeholders.hide_json(arguments)
    world.record(
        Classified(
            turn=hand.turn,
            call=hand.index,
            point="proposal",
            kind_name=READ_MORE,
            code=None,
            arguments=digest_json(hidden),
        )
    )


def read_on(world: World, hand: CallInHand, room: Room) -> Observation:
    """The next part of a kept text that fits into ``room``, and the cursor for what follows it."""
    arguments = hand.call.arguments or {}
    path, cursor = str(arguments["path"]), str(arguments["cursor"])
    data = ArtifactFolder(world.workspace.root).read(path)
    text = "" if data is None else data.decode("utf-8", "replace")
    measured = Measured(text, world.placeholders.spans(text))
    content = None if data is None else content_digest(world, text)
    found = resolve(cursor, path, content, measured.length)
    if content is None or not isinstance(found, int):
        fault = "stale_cursor" if isinstance(found, int) else found
        return Observation(ran=True, ok=False, text=f"error: {fault}: {_FAULTS[fault]}\n")

    def mark(offset: int) -> str:
        left = measured.length - offset
        if not left:
            return f"\n[This is the end of the text, of {measured.length} characters.]\n"
        on = issue(path, content, offset)
        return f"\n[{left} of {measured.length} characters follow. Go on with the cursor {on}.]\n"

    widest = len(mark(found)) + len(str(measured.length))  # the next offset may have more digits than this one
    length = min(room.section, room.result) - widest
    start = measured.before(found)
    end = max(measured.before(found + max(length, 0)), measured.after(found + 1))
    return Observation(ran=True, ok=True, text=text[start:end] + mark(measured.offset(end)))
