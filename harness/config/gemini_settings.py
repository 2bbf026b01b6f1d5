"""Generation settings as Gemini takes them."""

from __future__ import annotations

import re
from typing import Final

from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings

__all__ = ["problem_of_settings", "thinking_of"]

#: Models that are given a budget of tokens to think with; later ones are given a level.
_BUDGETED = re.compile(r"(?:.*/)?gemini-[12](?:\.|-|$)")
#: Tokens for each effort, as Google's own compatible endpoint gives them.
_BUDGETS: Final = {"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
_DYNAMIC = -1


def thinking_of(model: str, settings: GenerationSettings) -> dict[str, JsonValue] | None:
    """``thinkingConfig``: how much a model thinks, and whether it tells its thoughts; None leaves that to it."""
    if settings.thinking == "disabled" or settings.reasoning_effort == "none":
        return {"thinkingBudget": 0}
    has_budget = _BUDGETED.match(model) is not None
    sent: dict[str, JsonValue] = {}
    if settings.reasoning_effort is not None:
        effort = settings.reasoning_effort
        sent = {"thinkingBudget": _BUDGETS[effort]} if has_budget else {"thinkingLevel": effort}
    elif settings.thinking is not None and has_budget:
        sent = {"thinkingBudget": _DYNAMIC}
    if settings.thinking is not None:
        sent["includeThoughts"] = True
    return sent or None


def problem_of_settings(settings: GenerationSettings) -> str | None:
    """Why these settings say two things, with what to do; None where they do not."""
    thinks, effort = settings.thinking, settings.reasoning_effort
    if effort == "none" and thinks in {"enabled", "auto"}:
        return "cannot think with reasoning_effort 'none'; leave one of thinking and reasoning_effort out"
    if thinks == "disabled" and effort not in {None, "none"}:
        return "takes no reasoning_effort where thinking is 'disabled'; leave one of the two out"
    return None
