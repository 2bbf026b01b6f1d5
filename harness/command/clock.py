"""``date`` in any form that only options and formats follow; it is answered, never run."""

from __future__ import annotations

from collections.abc import Sequence

from harness.command.lexer import Word, in_its_place, program_name
from harness.schema.command import ClockPlan

__all__ = ["read_clock"]

_MOST_WORDS = 4
#: Options that read a file: no question for the time.
_READING = ("-f", "-r", "--f", "--ref")
_UTC = frozenset({"--utc", "--universal"})


def read_clock(words: Sequence[Word]) -> ClockPlan | None:
    """The question for the time that these words (of ``split_shell``) are. ``date --set`` counts: it sets nothing."""
    texts = [word.text for word in words]
    if not 1 <= len(texts) <= _MOST_WORDS or program_name(texts[0]) != "date" or not in_its_place(texts[0]):
        return None
    if any(word.operator or word.continued for word in words):
        return None
    if not all(text.startswith(("-", "+")) and not text.startswith(_READING) for text in texts[1:]):
        return None
    return ClockPlan(utc=any(text in _UTC or text.startswith("-u") for text in texts[1:]))
