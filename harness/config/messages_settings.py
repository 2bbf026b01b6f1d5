"""Generation settings as the messages API takes them."""

from __future__ import annotations

from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings

__all__ = ["effort_of", "problem_of_settings", "thinking_of", "tokens_of"]

#: The API demands a bound. Every model takes this one, and an answer of that length arrives in time without a stream.
TOKENS_DEFAULT = 4096
#: Fewest tokens that a model can be given to think with.
THINKING_MIN = 1024
_TOP_P_MIN = 0.95


def tokens_of(settings: GenerationSettings) -> int:
    """``max_tokens``: thoughts and answer together."""
    return settings.max_output_tokens or TOKENS_DEFAULT


def thinking_of(settings: GenerationSettings) -> dict[str, JsonValue] | None:
    """Whether the model thinks first: ``enabled`` gives half of all tokens for it, ``auto`` leaves it to the model."""
    if settings.thinking == "enabled":
        return {"type": "enabled", "budget_tokens": max(THINKING_MIN, tokens_of(settings) // 2)}
    if settings.thinking == "auto":
        return {"type": "adaptive"}
    if settings.thinking == "disabled" or settings.reasoning_effort == "none":
        return {"type": "disabled"}
    return None


def effort_of(settings: GenerationSettings) -> str | None:
    """How much a model takes pains, in the API's words; ``none`` is told as no thinking."""
    return None if settings.reasoning_effort == "none" else settings.reasoning_effort


def problem_of_settings(settings: GenerationSettings) -> str | None:
    """Why the API would refuse these settings, with what to do; None where it would not."""
    thinks = settings.thinking in {"enabled", "auto"}
    temperature, top_p = settings.temperature, settings.top_p
    problems = (
        (
            settings.reasoning_effort == "minimal",
            "knows no reasoning_effort 'minimal'; use 'none', 'low', 'medium' or 'high'",
        ),
        (
            settings.reasoning_effort == "none" and thinks,
            "cannot think with reasoning_effort 'none'; leave one of thinking and reasoning_effort out",
        ),
        (
            settings.thinking == "enabled" and tokens_of(settings) <= THINKING_MIN,
            f"needs more than {THINKING_MIN} max_output_tokens for thinking 'enabled'; raise it",
        ),
        (
            thinks and settings.tool_choice == "required",
            "does not think where tool_choice is 'required'; leave one of the two out",
        ),
        (temperature is not None and temperature > 1, "takes a temperature from 0 to 1; lower it"),
        (
            thinks and temperature is not None and temperature != 1,
            "thinks with its own temperature only; leave temperature out",
        ),
        (
            thinks and top_p is not None and top_p < _TOP_P_MIN,
            f"thinks with a top_p of {_TOP_P_MIN} or more only; leave it out",
        ),
    )
    return next((problem for wrong, problem in problems if wrong), None)
