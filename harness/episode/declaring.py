"""How a command tool is declared to the actor."""

from __future__ import annotations

from functools import lru_cache

from harness.schema.tool import ToolSpec

__all__ = ["tool_spec"]


@lru_cache(maxsize=128)
def tool_spec(name: str, about: str, argument: str) -> ToolSpec:
    """A tool that takes one text; one value for all episodes, so what follows from it is computed once."""
    return ToolSpec(
        name=name,
        description=about,
        parameters={
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
            "additionalProperties": False,
        },
    )
