"""The read grammar: a text as a short sequence of rebuilt reads, or not at all.

Kept from the control plane's own grammar, since its verdicts depend on it: separators are single ``;``, ``&&``, ``||``
and newlines; any other run of operator characters (``;;``, ``>&``) is an operand; nothing is expanded; a
``python -m json.tool`` in the middle of a pipe is admitted and not run; a ``..`` after a file name is tidied away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.command.lexer import Word, program_name, split_plan, trim_lines
from harness.command.pipes import segment
from harness.command.places import Places
from harness.schema.command import ReadPlan, Segment, TargetRole

__all__ = ["read_plan"]

Operator = Literal[";", "&&", "||"]

_SEPARATORS: dict[str, Operator] = {";": ";", "\n": ";", "&&": "&&", "||": "||"}
_REFUSED = frozenset({"&", "<", "<<", "<<<", ">>"})
_MEANT = frozenset({*_SEPARATORS, *_REFUSED, "|", ">"})


def read_plan(text: str, shell: Sequence[Word], places: Places) -> ReadPlan | None:
    """The bounded reads that a text (without NUL; ``shell`` are its ``split_shell``) asks for, all of it or None."""
    for argv in places.profile.preflight:
        if text == " ".join(argv):
            return ReadPlan(segments=(Segment(operator=";", argv=argv, role="metadata"),), role="metadata")
    alone = _lone_listing(trim_lines(shell), places)
    if alone is not None:
        return ReadPlan(segments=(alone,), role="metadata")
    groups = _groups(split_plan(text) or ())
    if groups is None or len(groups) > places.profile.segments:
        return None
    segments: list[Segment] = []
    for operator, words in groups:
        one = segment(words, places)
        if one is None:
            return None
        segments.append(one.model_copy(update={"operator": operator}))
    return ReadPlan(segments=tuple(segments), role=_role(segments))


def _lone_listing(words: Sequence[Word], places: Places) -> Segment | None:
    """A text that is one ``find`` or ``rg`` and nothing else: there ``#`` is a character like others."""
    if not words or program_name(words[0].text) not in ("find", "rg") or any(word.operator for word in words):
        return None
    return segment(words, places)


def _role(segments: Sequence[Segment]) -> TargetRole:
    roles = {one.role for one in segments}
    return "other" if "other" in roles else "content" if "content" in roles else "metadata"


def _groups(words: Sequence[Word]) -> list[tuple[Operator, list[Word]]] | None:
    """Simple commands and pipes, each with the operator before it. None where a word is refused."""
    groups: list[tuple[Operator, list[Word]]] = [(";", [])]
    for word in words:
        if word.operator and word.text in _SEPARATORS:
            groups.append((_SEPARATORS[word.text], []))
        elif word.text in (_REFUSED if word.operator else _MEANT):
            return None  # where it was quoted, what it was meant to be cannot be told
        else:
            groups[-1][1].append(word)
    return groups
