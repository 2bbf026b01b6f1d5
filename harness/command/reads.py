"""The read grammar: a text as a short sequence of rebuilt reads, or not at all.

What a text *is* follows the control plane's own grammar, since its verdicts depend on it: separators are single ``;``,
``&&``, ``||`` and newlines; any other run of operator characters (``;;``, ``>&``) is an operand; ``#`` starts a comment
anywhere and takes the line's end with it; nothing is expanded; a ``..`` after a file name is tidied away. What is *run*
is only what a shell would make of the same text: where the two differ the plan keeps its role and is refused. One
exception is kept: a fragment, letters and digits that ``#`` glues to the end of the text, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from harness.command.honesty import as_a_shell
from harness.command.lexer import Word, program_name, split_plan, split_strict, trim_lines
from harness.command.pipes import segment
from harness.command.places import Places
from harness.schema.command import ReadPlan, Segment, TargetRole

__all__ = ["read_plan"]

Operator = Literal[";", "&&", "||"]
Groups = list[tuple[Operator, list[Word]]]

_FRAGMENT = re.compile(r"""([^#'"\\]*[^#'"\\\s;&|<>])#[A-Za-z0-9_.-]*""")
_SEPARATORS: dict[str, Operator] = {";": ";", "\n": ";", "&&": "&&", "||": "||"}
_REFUSED = frozenset({"&", "<", "<<", "<<<", ">>"})
_MEANT = frozenset({*_SEPARATORS, *_REFUSED, "|", ">"})


def read_plan(text: str, shell: Sequence[Word], places: Places) -> ReadPlan | None:
    """The bounded reads that a text (without NUL; ``shell`` are its ``split_shell``) asks for, all of it or None."""
    for argv in places.profile.preflight:
        if text == " ".join(argv):
            return ReadPlan(segments=(Segment(operator=";", argv=argv, role="metadata"),), role="metadata")
    tolerant = _tolerant(text, shell, places)
    if tolerant is None:
        return None
    strict = _strict(text, shell, places)
    if strict is None or strict.role != tolerant.role:
        return replace(tolerant, refused="ambiguous")
    return strict


def _tolerant(text: str, shell: Sequence[Word], places: Places) -> ReadPlan | None:
    return _lone_listing(trim_lines(shell), places) or _plan(_groups(split_plan(text) or ()), places)


def _strict(text: str, shell: Sequence[Word], places: Places) -> ReadPlan | None:
    """The plan of the same text as a shell splits it, if a shell would also do with it what the plan does."""
    fragment = _FRAGMENT.fullmatch(text)
    text = text if fragment is None else fragment[1]
    words = trim_lines(shell)
    alone = _lone_listing(words, places)
    if alone is not None and as_a_shell(words, places):
        return alone
    groups = _groups(_joined_lines(split_strict(text) or ()))
    if groups is None or not all(as_a_shell(words, places) for _, words in groups):
        return None
    return _plan(groups, places)


def _plan(groups: Groups | None, places: Places) -> ReadPlan | None:
    if groups is None or len(groups) > places.profile.segments:
        return None
    segments: list[Segment] = []
    for operator, words in groups:
        one = segment(words, places)
        if one is None:
            return None
        segments.append(replace(one, operator=operator))
    return ReadPlan(segments=tuple(segments), role=_role(segments))


def _joined_lines(words: Sequence[Word]) -> list[Word]:
    """Words with the line ends left out that mean nothing to a shell: at the ends, doubled, or after an operator."""
    joined: list[Word] = []
    for word in trim_lines(words):
        if not (word.operator and "\n" in word.text):
            joined.append(word)
            continue
        before = word.text.rstrip("\n")
        if before:
            joined.append(Word(before, operator=True, glued=word.glued))
        elif not (joined and joined[-1].operator):
            joined.append(Word("\n", operator=True, glued=word.glued))
    return joined


def _lone_listing(words: Sequence[Word], places: Places) -> ReadPlan | None:
    """A text that is one ``find`` or ``rg`` and nothing else: there ``#`` is a character like others."""
    if not words or program_name(words[0].text) not in ("find", "rg") or any(word.operator for word in words):
        return None
    one = segment(words, places)
    return None if one is None else ReadPlan(segments=(one,), role="metadata")


def _role(segments: Sequence[Segment]) -> TargetRole:
    roles = {one.role for one in segments}
    return "other" if "other" in roles else "content" if "content" in roles else "metadata"


def _groups(words: Sequence[Word]) -> Groups | None:
    """Simple commands and pipes, each with the operator before it. None where a word is refused."""
    groups: Groups = [(";", [])]
    for word in words:
        if word.operator and word.text in _SEPARATORS:
            groups.append((_SEPARATORS[word.text], []))
        elif word.text in (_REFUSED if word.operator else _MEANT):
            return None  # where it was quoted, what it was meant to be cannot be told
        else:
            groups[-1][1].append(word)
    return groups
