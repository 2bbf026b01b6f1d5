"""The bounds of one episode: every dimension explicit, none unlimited where a default is known."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen

__all__ = ["COUNT_MAX", "Limits"]

#: What one section and one batch of results show where the scenario says nothing, in characters.
_RESULT, _SECTION, _BATCH = 20_000, 12_000, 60_000
#: Largest count that survives JSON in every language (2**53 - 1).
COUNT_MAX = 2**53 - 1
Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Limits(Frozen):
    """Counts are whole numbers 0..2**53-1, times are seconds, sizes are characters or bytes as named.

    Defaults are those of the runner specification 2.12. ``last_turn_tools`` says whether the calls of the last
    allowed turn run. ``model_attempts`` bounds how often a live model is asked for one turn where the request may be
    sent again, ``model_retry_s`` the time for all of these attempts. A final text above ``output_inline_bytes`` is
    kept beside the episode as an artifact, one above ``output_bytes`` is an exceeded limit. ``section_chars`` and
    ``batch_chars`` are 12,000 and 60,000, or as much as one result may have where the scenario lets it be longer than
    the default.
    """

    model_turns: Count = 12
    tool_calls: Count = 24
    tool_calls_per_turn: Count = 32
    tool_calls_by_name: dict[str, Count] = {}
    total_tokens: Count | None = None
    uncached_input_tokens: Count | None = None
    last_turn_tools: Literal["execute", "refuse"] = "execute"
    deadline_s: Seconds = 900.0
    model_call_s: Seconds = 120.0
    model_attempts: Annotated[int, Field(ge=1, le=10)] = 4
    model_retry_s: Seconds = 60.0
    tool_call_s: Seconds = 60.0
    tool_result_chars: Annotated[int, Field(ge=256, le=1_048_576)] = _RESULT
    section_chars: Annotated[int, Field(ge=256, le=1_048_576)] | None = None
    batch_chars: Annotated[int, Field(ge=256, le=16_777_216)] | None = None
    context_bytes: Annotated[int, Field(ge=1, le=COUNT_MAX)] = 2_097_152
    tool_result_bytes: Annotated[int, Field(ge=1_024, le=16_777_216)] = 1_048_576
    argument_bytes: Annotated[int, Field(ge=1, le=1_048_576)] = 65_536
    output_inline_bytes: Annotated[int, Field(ge=1, le=16_777_216)] = 65_536
    output_bytes: Annotated[int, Field(ge=1, le=16_777_216)] = 16_777_216

    def section_room(self, result: int) -> int:
        """Characters that are shown of one section of a result that may have ``result`` of them."""
        default = _SECTION if result <= _RESULT else result
        return default if self.section_chars is None else self.section_chars

    def batch_room(self, result: int) -> int:
        """Characters of all results of one reply together, the longest of which may have ``result`` of them."""
        return max(_BATCH, result) if self.batch_chars is None else self.batch_chars
