"""A call of the control plane's program: found the way a reader finds it, rebuilt only where all of it is right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.command.expansion import expands, is_assigned, may_refuse
from harness.command.lexer import Word, in_its_place, program_name, trim_lines
from harness.command.options import RefusedError, rebuild
from harness.command.places import Places
from harness.schema.command import CallPlan, CallSpec

__all__ = ["read_call"]

_OPERATORS = frozenset({";", "&&", "||", "|"})
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")


def read_call(words: Sequence[Word], shell: Sequence[Word], spec: CallSpec, places: Places) -> CallPlan | None:
    """The call in a text: ``words`` are its ``split_words``, ``shell`` its ``split_shell``.

    A call is there if any word is the program by its last path part and none after it is exactly an operator. It is
    rebuilt only if nothing stands before the program but assignments, ``export NAME=value`` or ``cd`` to the working
    root (each closed by ``;``, ``&&`` or a line end), nothing after its own words, and every word is allowed.
    """
    start = next((at for at, word in enumerate(words) if program_name(word.text) == spec.program), None)
    if start is None:
        return None
    tokens = tuple(word.text for word in words[start + 1 :])
    if not _OPERATORS.isdisjoint(tokens):
        return None
    try:
        path, argv = rebuild(_own_words(shell, tokens, spec, places), spec, places)
    except RefusedError as refused:
        return CallPlan(tokens=tokens, path=_path_in(tokens, spec), refused=refused.reason)
    return CallPlan(tokens=tokens, path=path, argv=argv)


def _path_in(tokens: tuple[str, ...], spec: CallSpec) -> str | None:
    """The longest allowed call path whose words stand side by side."""
    joined = "\0".join(("", *tokens, ""))
    found = [path for path in spec.allow if "\0".join(("", *path.split(), "")) in joined]
    return max(found, key=len, default=None)


def _own_words(shell: Sequence[Word], tokens: tuple[str, ...], spec: CallSpec, places: Places) -> list[Word]:
    """The words that belong to the call and nothing else. Raises RefusedError."""
    if any(word.continued or "\0" in word.text for word in shell):
        raise RefusedError("unparseable")
    own = _after_prefix(trim_lines(shell), spec, places)
    for word in own:
        if word.operator:
            raise RefusedError("operator_in_value" if word.glued and "\n" not in word.text else "text_after")
    if tuple(word.text for word in own) != tokens:
        raise RefusedError("text_before")  # a reader would take something else for the program
    return own


def _after_prefix(words: list[Word], spec: CallSpec, places: Places) -> list[Word]:
    """What follows the program, where only what is admitted stands before it. Raises RefusedError."""
    rest = words
    while rest:
        assigned = _assignments(rest, places)
        if assigned < len(rest) and _is_program(rest[assigned], spec):
            if expands(rest[assigned]):
                raise RefusedError("expansion")
            if not in_its_place(rest[assigned].text):
                raise RefusedError("path_outside")
            return rest[assigned + 1 :]
        used = assigned or _preparation(rest, places)
        if used == 0 or used >= len(rest) or not _closes(rest[used]):
            break
        rest = rest[used + 1 :]
    raise RefusedError("text_before")


def _is_program(word: Word, spec: CallSpec) -> bool:
    return program_name(word.text) == spec.program


def _closes(word: Word) -> bool:
    return word.operator and word.text.rstrip("\n") in ("", ";", "&&")


def _preparation(words: Sequence[Word], places: Places) -> int:
    """Length of an ``export NAME=value ...`` or a ``cd`` to the working root; 0 for anything else."""
    if words[0].text == "export":
        assigned = _assignments(words[1:], places)
        return 1 + assigned if assigned else 0
    if words[0].text != "cd" or len(words) == 1 or places.tidied_into_being(words[1]):
        return 0
    return 2 if places.in_cwd(words[1].text) == places.here else 0


def _assignments(words: Sequence[Word], places: Places) -> int:
    """How many words at the start are assignments that may be left out."""
    count = 0
    for word in words:
        match = _ASSIGNMENT.match(word.lead)
        if match is None or places.profile.steer.fullmatch(match[1]):
            break
        if may_refuse(word) or not is_assigned(word, places.profile.harmless):
            break
        count += 1
    return count
