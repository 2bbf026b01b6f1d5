"""The bounds of one episode: every dimension explicit, none unlimited where a default is known."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen

__all__ = ["COUNT_MAX", "Limits"]

#: Largest count that survives JSON in every language (2**53 - 1).
COUNT_MAX = 2**53 - 1
Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Limits(Frozen):
    """Counts are whole numbers 0..2**53-1, times are seconds, sizes are characters or bytes as named.

    Defaults are those of the runner specification 2.12. ``last_turn_tools`` says whether the calls of the last
    allowed turn run. ``model_attempts`` bounds how often a live model is asked for one turn where the request may be
    sent again, ``model_retry_s`` the time for all of these attempts. A final text above ``output_inline_bytes`` is
    kept beside the episode as an artifact, one above ``output_bytes`` is an exceeded limit.
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
    tool_result_chars: Annotated[int, Field(ge=256, le=1_048_576)] = 20_000
    tool_result_bytes: Annotated[int, Field(ge=1_024, le=16_777_216)] = 1_048_576
    argument_bytes: Annotated[int, Field(ge=1, le=1_048_576)] = 65_536
    output_inline_bytes: Annotated[int, Field(ge=1, le=16_777_216)] = 65_536
    output_bytes: Annotated[int, Field(ge=1, le=16_777_216)] = 16_777_216
