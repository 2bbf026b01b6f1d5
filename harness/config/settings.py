"""Generation settings as users write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import ValidationError

from harness.config.tables import word
from harness.errors import UsageError
from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings

__all__ = ["ALLOWED", "apply_settings", "read_settings"]

#: What each setting takes, in the words of error lines.
ALLOWED: Final[Mapping[str, str]] = {
    "temperature": "a number from 0 to 2",
    "top_p": "a number above 0, at most 1",
    "max_output_tokens": "a whole number from 1",
    "reasoning_effort": "none, minimal, low, medium, high",
    "thinking": "enabled, disabled, auto",
    "seed": "a whole number",
    "tool_choice": "auto, required, none",
    "parallel_tool_calls": "true, false",
    "stream": "true, false",
}


def read_settings(given: Mapping[str, JsonValue]) -> tuple[GenerationSettings, str | None]:
    """The settings, and the name of one whose value cannot be used (then the settings are the defaults)."""
    try:
        return GenerationSettings.model_validate(dict(given)), None
    except ValidationError as error:
        return GenerationSettings(), str(error.errors()[0]["loc"][0])


def apply_settings(settings: GenerationSettings, assignments: Iterable[str]) -> GenerationSettings:
    """``NAME=VALUE`` texts over settings; of a name given twice the last counts.

    Raises:
        UsageError: names the setting and what is allowed.
    """
    given: dict[str, JsonValue] = settings.model_dump()
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals:
            raise UsageError(f"--set takes NAME=VALUE; names: {', '.join(ALLOWED)}")
        if name not in ALLOWED:
            named = word(name, "")
            told = f" as {named}" if named else ""
            raise UsageError(f"--set: there is no such setting{told}; names: {', '.join(ALLOWED)}")
        given[name] = _value(text.strip())
        if given[name] is None or read_settings(given)[1] is not None:
            raise UsageError(f"--set {name}: this value cannot be used; allowed: {ALLOWED[name]}")
    return read_settings(given)[0]


def _value(text: str) -> JsonValue:
    """A number or true/false where it is written like one, else the text."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float) else text
