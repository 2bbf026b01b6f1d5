"""Values of other places that expectations are held against: of workspace files, and of what was answered before."""

from __future__ import annotations

import json

from harness.episode.world import World
from harness.rules import Known
from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING, Missing, pointer
from harness.schema.source import ValueSource

__all__ = ["known_values"]


def known_values(world: World) -> Known:
    """Looks a place up as it is now, and remembers for checks of the scenario what was there."""

    def known(source: ValueSource) -> JsonValue | Missing:
        found = _known(world, source)
        world.sources[source] = found
        return found

    return known


def _known(world: World, source: ValueSource) -> JsonValue | Missing:
    document: JsonValue = world.values.answers.get(source.answer or "")
    if source.file is not None:
        text = world.file_text(source.file)
        try:
            document = None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return MISSING
    return MISSING if document is None else pointer(document, source.at)
