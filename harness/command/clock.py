"""``date`` in any form that only options and formats follow; it is answered, never run."""

from __future__ import annotations

from collections.abc import Sequence

from harness.command.lexer import Word, program_name
from harness.schema.command import ClockPlan

__all__ = ["read_clock"]

_MOST_WORDS = 4
_UTC = frozenset({"--utc", "--universal"})


def read_clock(words: Sequence[Word]) -> ClockPlan | None:
    """The question for the time that these words (of ``split_words``) are. ``date --set`` counts: it sets nothing."""
    texts = [word.text for word in words]
    if not 1 <= len(texts) <= _MOST_WORDS or program_name(texts[0]) != "date":
        return None
    if not all(text.startswith(("-", "+")) for text in texts[1:]):
        return None
    return ClockPlan(utc=any(text in _UTC or text.startswith("-u") for text in texts[1:]))
