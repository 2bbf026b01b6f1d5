"""What was said and what is, when an episode is over: the document that checks of the end look at."""

from __future__ import annotations

import json
import re
from typing import Final

from harness import rules
from harness.episode.closing import closing_findings
from harness.episode.world import World
from harness.schema.base import JsonValue
from harness.schema.finding import RawFinding

__all__ = ["end_findings", "ending_document"]

#: A text that is one fenced block and nothing else, as models like to write JSON.
_FENCED: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL)


def ending_document(world: World) -> dict[str, JsonValue]:
    """``answer``: the final answer, where one was given; ``state``: what the control plane holds, where it can tell."""
    document: dict[str, JsonValue] = {}
    if world.final_text is not None:
        document["answer"] = _read(world.final_text.strip())
    if world.plane_state is not None:
        document["state"] = world.plane_state
    return document


def end_findings(world: World) -> tuple[tuple[int | None, RawFinding], ...]:
    """Everything that is wrong with the closing text, and that checks of the end found; of no step."""
    found = list(closing_findings(world))
    if world.scenario.end.check:
        found += rules.ending_findings(world.scenario, ending_document(world))
    return tuple((None, finding) for finding in found)


def _read(text: str) -> JsonValue:
    """The JSON of a text, or the text where it is none."""
    fenced = _FENCED.fullmatch(text)
    try:
        value: JsonValue = json.loads(text if fenced is None else fenced[1], parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text
    return value


def _no_number(name: str) -> JsonValue:
    raise ValueError(name)
