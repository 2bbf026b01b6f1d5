"""What a text tries to run, whether the grammar admits it or not: the names of its simple commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from harness.command.expansion import may_refuse, substitutes
from harness.command.lexer import Word, in_its_place, program_name
from harness.command.places import Places

__all__ = ["attempted"]

_JOINTS: Final = frozenset({";", "&&", "||", "|"})
#: Options by which programs that read do something else: they run, write or remove.
_ACTING: Final = {
    "find": re.compile(r"-(?:delete|exec|execdir|ok|okdir|fprint0?|fprintf|fls)"),
    "rg": re.compile(r"--(?:pre|hostname-bin)(?:=.*)?", re.DOTALL),
    "sed": re.compile(r"-[A-Za-z]*i.*|--in-place.*|-[A-Za-z]*f.*|--file.*", re.DOTALL),
    "sort": re.compile(r"-[A-Za-z]*o.*|--output.*|--compress-program.*", re.DOTALL),
    "git": re.compile(r"-c|--exec-path.*|--ext-diff|--output.*", re.DOTALL),
}
_ADDRESS = r"(?:[0-9]+|\$|/[^/\n]*/)"
#: One command of a script of ``sed`` that prints or leaves out lines, or replaces text in what is printed.
_PRINTING: Final = re.compile(rf"(?:{_ADDRESS}(?:,{_ADDRESS})?)?!?(?:[pPdDnNqQ=]|s/[^/\n]*/[^/\n]*/[gpIi0-9]*)")


def attempted(shell: Sequence[Word], places: Places) -> tuple[str, ...]:
    """The names of the simple commands in a text (``shell`` are its ``split_shell``), in order.

    Empty where one of them could do more than read and print: by a redirect that is not of standard error, a
    substitution, an option or script that acts, or a program that a bare name does not find.
    """
    commands: list[list[Word]] = [[]]
    skipped = -1
    for at, word in enumerate(shell):
        if at == skipped:
            continue
        if not word.operator:
            if word.continued or may_refuse(word) or substitutes(word, places.profile.harmless):
                return ()
            commands[-1].append(word)
        elif word.text in _JOINTS or not word.text.strip("\n"):
            commands.append([])
        elif _silences(word, commands[-1], shell[at + 1 : at + 2]):
            del commands[-1][-1]
            skipped = at + 1
        else:
            return ()
    found = [words for words in commands if words]
    if not all(_only_prints(words) for words in found):
        return ()
    return tuple(program_name(words[0].text) for words in found)


def _silences(word: Word, before: Sequence[Word], target: Sequence[Word]) -> bool:
    """Whether a redirect is one of standard error, to nowhere or to standard output."""
    if not (word.glued and before and before[-1].text == "2" and target):
        return False
    return (word.text, target[0].text) in {(">", "/dev/null"), (">&", "1")}


def _only_prints(words: Sequence[Word]) -> bool:
    name = program_name(words[0].text)
    if not in_its_place(words[0].text):
        return False
    acting = _ACTING.get(name)
    if acting is not None and any(acting.fullmatch(word.text) for word in words[1:]):
        return False
    if name != "sed":
        return True
    script = next((word.text for word in words[1:] if not word.text.startswith("-")), "")
    return all(_PRINTING.fullmatch(part.strip()) for part in re.split(r"[;\n]", script))
