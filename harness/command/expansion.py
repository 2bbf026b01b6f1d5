"""What a shell would have replaced in a word before the program saw it."""

from __future__ import annotations

import re

from harness.command.clock import read_clock
from harness.command.lexer import Word, split_shell

__all__ = ["expands", "is_assigned", "is_one_word", "may_refuse", "substitutes", "uses_dollar"]

_DOLLAR = re.compile(r"\$[A-Za-z0-9_{(@*#?$!-]|`")
_SUBSTITUTION = re.compile(r"\$\(([^()`$\\]*)\)")
#: What stands between braces may be an expression that ends the shell (``${X:?}``), and so may ``$[...]``.
_EXPRESSION = re.compile(r"\$\{(?![A-Za-z_][A-Za-z0-9_]*\})|\$\[|\$\(\(")
_PATTERN = re.compile(r"[*?\[]|\{[^{}]*(?:,|\.\.)[^{}]*\}")


def uses_dollar(word: Word) -> bool:
    """Whether a variable, a substitution or an arithmetic expression stands in the word.

    Between double quotes a ``$`` before a blank is a dollar; unquoted it is never taken for one (``$'...'``).
    """
    return "$" in word.bare or _DOLLAR.search(word.active) is not None


def expands(word: Word) -> bool:
    """Whether a shell would give the program another word: variables, substitutions, ``~``, file name patterns."""
    return uses_dollar(word) or word.lead.startswith("~") or _PATTERN.search(word.bare) is not None


def substitutes(word: Word, harmless: tuple[str, ...]) -> bool:
    """Whether the word would run a command other than a question for the time or one of ``harmless``."""

    def judged(match: re.Match[str]) -> str:
        inner = match[1].strip()
        return "" if inner in harmless or read_clock(split_shell(inner) or ()) is not None else match[0]

    live = word.text if "$(" in word.active or "`" in word.active else ""
    rest = _SUBSTITUTION.sub(judged, live)
    return "$(" in rest or "`" in rest


def is_one_word(word: Word, harmless: tuple[str, ...]) -> bool:
    """Whether a shell makes one word of it, whatever its variables hold, without running anything.

    Variables must stand between double quotes, where one that is not set leaves an empty word.
    """
    bare = _SUBSTITUTION.sub("", word.bare)
    splits = "$" in bare or _PATTERN.search(bare) is not None or bare.startswith("~")
    return not splits and is_assigned(word, harmless)


def is_assigned(word: Word, harmless: tuple[str, ...]) -> bool:
    """Whether a shell takes it as a value to assign, which it does not split, without running anything."""
    bare = _SUBSTITUTION.sub("", word.bare)
    return not any(mark in bare for mark in "`()") and not substitutes(word, harmless)


def may_refuse(word: Word) -> bool:
    """Whether a shell may end with an error at it: an expression stands in it, as ``${X:?}`` or ``$[1/0]``."""
    return _EXPRESSION.search(word.active) is not None
