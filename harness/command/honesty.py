"""Whether a shell would do with the words of a plan what the plan does: run these programs on these operands."""

from __future__ import annotations

from collections.abc import Sequence

from harness.command.expansion import expands, is_assigned, may_refuse, substitutes
from harness.command.lexer import Word, in_its_place, program_name
from harness.command.places import Places

__all__ = ["as_a_shell"]

#: Programs whose operands are taken literally, where a shell's expansion would do, print or refuse something else.
_LITERAL = frozenset({"ls", "rg", "echo"})


def as_a_shell(words: Sequence[Word], places: Places) -> bool:
    """Whether one segment (pipes included) holds nothing that a shell reads differently from the grammar.

    That is: no command substitution but a harmless one, no backslash before a line end, no operators but pipes and
    redirects that the grammar itself judges, programs where a bare name finds them, names and words to print as they
    stand, values that are one word, and no path that exists only after it was tidied (``none/../file``, ``file/``).
    """
    program = ""
    for before, word in zip((None, *words), words, strict=False):
        if word.operator:
            if word.text not in ("|", ">"):
                return False
            continue
        if word.continued or may_refuse(word) or substitutes(word, places.profile.harmless):
            return False
        if places.tidied_into_being(word):
            return False
        if before is None or (before.operator and before.text == "|"):
            program = program_name(word.text)
            if expands(word) or not in_its_place(word.text):
                return False
        elif not _operand_is_literal(program, word, places):
            return False
    return not _expands_root(words, places)


def _operand_is_literal(program: str, word: Word, places: Places) -> bool:
    if program == "export":
        return is_assigned(word, places.profile.harmless)
    return program not in _LITERAL or not expands(word) or places.names_home(word)


def _expands_root(words: Sequence[Word], places: Places) -> bool:
    """Whether the directory that ``find`` starts at is a pattern or a variable."""
    match words:
        case [program, root, *_] if program_name(program.text) == "find":
            return expands(root) and not places.names_home(root)
        case _:
            return False
