"""The control tools as they are declared to the actor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.control.claims import SCHEMAS
from harness.schema.control import ControlName
from harness.schema.tool import ToolSpec

__all__ = ["control_tools"]

_ABOUT: Final[dict[ControlName, str]] = {
    "blocked": "Say that the task cannot go on for a reason outside of your reach. Must be the only call of a reply.",
    "request_user_input": "Ask the user for a decision or for information. Must be the only call of a reply.",
    "finalize": "Say that the task is over, and what was done. Must be the only call of a reply.",
}


def control_tools(offered: Iterable[ControlName]) -> tuple[ToolSpec, ...]:
    """The declarations of the offered control tools, in this order."""
    return tuple(
        ToolSpec(name=name, description=_ABOUT[name], parameters=SCHEMAS[name].model_json_schema()) for name in offered
    )
