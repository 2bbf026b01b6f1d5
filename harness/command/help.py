"""A question for the help of the control plane's program: all of it, or its first lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.command.lexer import Word, in_its_place, program_name, trim_lines, whole_number
from harness.command.places import Places
from harness.schema.command import CallSpec, HelpPlan

__all__ = ["read_help"]

#: Most lines of help that are shown.
LINES: Final = 200


def read_help(shell: Sequence[Word], spec: CallSpec, places: Places) -> HelpPlan | None:
    """``PROGRAM PATH --help`` of a path whose help may be asked for; ``2>&1`` and ``| head -N`` may follow."""
    words = trim_lines(shell)
    texts = [word.text for word in words]
    if not texts or not in_its_place(texts[0]) or program_name(texts[0]) != spec.program:
        return None
    for path in spec.help:
        own = [*path.split(), "--help"]
        end = len(own) + 1
        if texts[1:end] == own and not any(word.operator for word in words[:end]):
            lines = _lines(words[end:], places)
            return None if lines is None else HelpPlan(path=path, lines=lines)
    return None


def _lines(words: Sequence[Word], places: Places) -> int | None:
    """How many lines are wanted by what follows the question."""
    texts = [word.text for word in words]
    if texts[:3] == ["2", ">&", "1"] and words[1].operator and words[1].glued:
        words, texts = words[3:], texts[3:]
    if not texts:
        return LINES
    if not words[0].operator or any(word.operator for word in words[1:]):
        return None
    most = min(LINES, places.profile.pipe_lines)
    match texts:
        case ["|", "head"]:
            return 10
        case ["|", "head", "-n", number]:
            return whole_number(number, 1, most)
        case ["|", "head", option] if option.startswith("-"):
            return whole_number(option[1:], 1, most)
        case _:
            return None
