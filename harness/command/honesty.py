"""Whether a shell would do with the words of a plan what the plan does: run these programs on these operands."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import dirname

from harness.command.expansion import expands, substitutes
from harness.command.lexer import Word, program_name
from harness.command.places import Places

__all__ = ["as_a_shell"]

#: Directories whose programs are those that a bare name finds.
_PROGRAM_FOLDERS = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin"})
#: Programs whose operands are taken literally and may fail for it, where a shell's expansion would succeed.
_LISTINGS = frozenset({"ls", "rg"})


def as_a_shell(words: Sequence[Word], places: Places) -> bool:
    """Whether one segment (pipes included) holds nothing that a shell reads differently from the grammar.

    That is: no command substitution but a harmless one, no backslash before a line end, no operators but pipes and
    redirects that the grammar itself judges, programs where a bare name finds them, listings of names as they stand,
    and no path that exists only after it was tidied (``none/../file``, ``file/``).
    """
    first = True
    program = ""
    for word in words:
        if word.operator:
            if word.text not in ("|", ">"):
                return False
            first = word.text == "|"
            continue
        if word.continued or substitutes(word, places.profile.harmless) or places.tidied_into_being(word):
            return False
        if first:
            if expands(word) or dirname(word.text) not in _PROGRAM_FOLDERS:
                return False
            program, first = program_name(word.text), False
        elif expands(word) and not places.names_home(word) and program in _LISTINGS:
            return False
    return not _expands_root(words, places)


def _expands_root(words: Sequence[Word], places: Places) -> bool:
    """Whether the directory that ``find`` starts at is a pattern or a variable."""
    match words:
        case [program, root, *_] if program_name(program.text) == "find":
            return expands(root) and not places.names_home(root)
        case _:
            return False
